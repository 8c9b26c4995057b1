package apidoc

// Losses are the latest tasknodes that were lost, as one master has seen them.
type Losses struct {
	Since  int64  `json:"since"`  // earlier losses are not known; 0 if all are
	Losses []Loss `json:"losses"` // the latest first
}

// Loss is a tasknode that was lost. Its cause is
//
//	lost       it was silent for too long, or its machine refused connections
//	restarted  it has started again, without what it ran before
//	drained    it ended after a user had drained it, and before the drain was over
//	removed    it ended after a user had removed it
//
// With another cause than lost, it is a Loss only if tasks were lost with it.
//
// The tasks are those that the loss has made wait for a slot: their attempt ran there, or a task needs their
// output, which lay there. Other tasks of their gangs are not counted, nor is output that a task needs only later.
type Loss struct {
	Node  string `json:"node"`
	Time  int64  `json:"time"` // when it was declared lost
	Cause string `json:"cause"`
	Back  int64  `json:"back,omitempty"` // when it joined again; absent if it has not

	Running int `json:"running"` // tasks whose attempt ran or was suspended there
	Outputs int `json:"outputs"` // finished tasks whose output is written again

	// The sum of these and of the tasks that still wait is Running + Outputs.
	Started  int `json:"started"`  // tasks whose recovery attempt has started
	Restored int `json:"restored"` // tasks whose output the tasknode has brought back
	Dropped  int `json:"dropped"`  // tasks that their job did not need any more

	Maps       int   `json:"maps"`       // of Started, those whose task reads a split
	Local      int   `json:"local"`      // of Maps, those that started on a machine that has the split
	WaitMillis int64 `json:"waitMillis"` // sum, over Started, of the times from the loss to the start
	// CorrectMillis is the time from the loss until no task waited any more; absent while one does.
	CorrectMillis *int64     `json:"correctMillis,omitempty"`
	Tasks         []LostTask `json:"tasks"` // the first 200
}

// Waiting returns the number of tasks that wait.
func (l *Loss) Waiting() int { return l.Running + l.Outputs - l.Started - l.Restored - l.Dropped }

// MeanWaitMillis returns the mean time from the loss to the start of a recovery attempt; 0 if none has started.
func (l *Loss) MeanWaitMillis() int64 { return l.WaitMillis / int64(max(l.Started, 1)) }

// LostTask is a task of a Loss.
type LostTask struct {
	Attempt    string `json:"attempt"` // that was lost, or whose output was
	Output     bool   `json:"output"`  // the attempt had finished
	State      string `json:"state"`   // WAITING, STARTED, RESTORED or DROPPED
	WaitMillis int64  `json:"waitMillis,omitempty"`
	// These are of the recovery attempt, and absent unless the state is STARTED.
	Recovery string `json:"recovery,omitempty"`
	Node     string `json:"node,omitempty"`
	Place    string `json:"place,omitempty"` // as of events: node if it is local
}
