package apidoc

// Audit is what users have asked for.
type Audit struct {
	Since   int64        `json:"since"`   // earlier actions are not known; 0 if all are
	Actions []UserAction `json:"actions"` // the latest first
}

// UserAction is a change of the cluster that a user has asked for.
type UserAction struct {
	Time int64  `json:"time"`
	User string `json:"user"` // the name that the caller claims, with the address of a browser; nothing proves it
	Do   string `json:"do"`   // object and verb, as job.kill
	ID   string `json:"id"`   // of the job, attempt or tasknode; "" for the policy
	To   string `json:"to,omitempty"`
}

// Priorities are Hadoop's names of priorities, highest first.
var Priorities = []string{"VERY_HIGH", "HIGH", "NORMAL", "LOW", "VERY_LOW"}

// PriorityName returns the name of a priority from -2 to 2; others count as the nearest of these.
func PriorityName(priority int) string { return Priorities[2-min(max(priority, -2), 2)] }

// actionTexts say in words what users did.
var actionTexts = map[string]string{
	"job.kill": "killed the job", "job.suspend": "suspended the job", "job.resume": "resumed the job",
	"job.move": "moved the job to pool", "job.priority": "set the priority to",
	"attempt.kill": "killed", "attempt.fail": "failed", "attempt.resume": "resumed", "attempt.preempt": "preempted",
	"node.drain": "drained the node", "node.admit": "admitted the node", "node.exclude": "excluded the node from new tasks", "node.set": "set the slots to",
	"policy.set": "set the policy to",
}

// Text says in words what the user did, without the object.
func (a *UserAction) Text() string {
	text := actionTexts[a.Do]
	switch {
	case text == "":
		text = a.Do
	case a.Do == "attempt.preempt":
		return text + " by " + a.To
	}
	if a.To != "" {
		text += " " + a.To
	}
	return text
}
