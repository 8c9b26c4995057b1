package apidoc

import "strings"

// Policy is the scheduling policy.
type Policy struct {
	Policy      string            `json:"policy"`
	Problem     string            `json:"problem,omitempty"` // why another policy decides, and what to do; absent if this one does
	Conf        map[string]string `json:"conf,omitempty"`
	Allocations *AllocationFile   `json:"allocations,omitempty"` // absent if the masters watch no allocation file
	Fingerprint string            `json:"fingerprint,omitempty"` // of the policy and conf: a change can expect it
	LastChange  *PolicyChange     `json:"lastChange,omitempty"`  // absent if no user has changed the policy while the present leader leads
}

// AllocationFile is the file of pools that the leader watches.
type AllocationFile struct {
	File     string   `json:"file"`
	Taken    int64    `json:"taken"` // when it was last loaded; 0 if it was never loaded
	Problems []string `json:"faults,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// Queue is a queue of jobs, also called a pool.
type Queue struct {
	Name    string    `json:"name"`
	Parent  string    `json:"parent,omitempty"` // pool whose name is that of this one without what follows a dot; "" for none
	State   string    `json:"state"`            // RUNNING, or DRAINING if it accepts no more jobs
	Jobs    QueueJobs `json:"jobs"`
	Running Slots     `json:"running"` // slots that its jobs use
	Waiting Slots     `json:"waiting"` // slots that its tasks wait for

	Allotment *Allotment `json:"allotment,omitempty"` // present if the policy divides the cluster among queues
}

// QueueJobs describes the jobs of a queue.
type QueueJobs struct {
	Running int32 `json:"running"`
	Waiting int32 `json:"waiting"`
	List    []Job `json:"list,omitempty"` // the caller sets it
}

// Slots are numbers of slots of each kind; -1 means no limit.
type Slots struct {
	Map    int32 `json:"map"`
	Reduce int32 `json:"reduce"`
}

// Allotment describes the slots that a queue is configured to get, and its present fair
// share.
type Allotment struct {
	Order    string  `json:"order"` // order in which its jobs get slots
	Weight   float64 `json:"weight"`
	Min      Slots   `json:"min"`
	Max      Slots   `json:"max"`
	MaxJobs  int32   `json:"maxJobs"`  // that may run at the same time; -1 means no limit
	WaitJobs int32   `json:"heldJobs"` // jobs that wait because of MaxJobs
	Share    Share   `json:"share"`
}

// Share is a fair share in slots.
type Share struct {
	Map    float64 `json:"map"`
	Reduce float64 `json:"reduce"`
}

// Plus returns the sum of two shares.
func (s Share) Plus(o Share) Share { return Share{s.Map + o.Map, s.Reduce + o.Reduce} }

// SetParents sets the parents of queues: root.a is the parent of root.a.b and, if there is no
// root.a.b, of root.a.b.c.
func SetParents(queues []Queue) {
	known := make(map[string]bool)
	for _, q := range queues {
		known[q.Name] = true
	}
	for i := range queues {
		parent := queues[i].Name
		for dot := 0; dot >= 0 && (parent == queues[i].Name || !known[parent]); {
			if dot = strings.LastIndexByte(parent, '.'); dot >= 0 {
				parent = parent[:dot]
			}
		}
		if parent != queues[i].Name && known[parent] {
			queues[i].Parent = parent
		}
	}
}
