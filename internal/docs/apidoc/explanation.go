package apidoc

import "github.com/hammr/hammr/internal/rpc/wire"

// Explanation says why a job, or one of its tasks, has or lacks slots. For a finished job it
// says which slots the job had.
type Explanation struct {
	JobID    string             `json:"jobId"`
	State    string             `json:"state"`
	Queue    string             `json:"queue"`
	Priority string             `json:"priority"`
	Policy   string             `json:"policy,omitempty"` // absent if the job is finished
	Submit   int64              `json:"submitTime,omitempty"`
	Finish   int64              `json:"finishTime,omitempty"` // present if the job is finished
	AsOf     int64              `json:"asOf,omitempty"`       // when it was true; absent if the job is finished
	Index    uint64             `json:"index,omitempty"`      // of the latest log entry that the leader had applied then
	Cause    string             `json:"cause,omitempty"`
	Reasons  []string           `json:"reasons,omitempty"` // why no task of the job gets a slot
	Classes  []string           `json:"classes,omitempty"` // class of each of the reasons; "" if it has none
	Details  []Detail           `json:"facts,omitempty"`
	Stages   []Stage            `json:"stages"`
	Taken    []ExplainedAttempt `json:"taken,omitempty"` // the latest attempts that were preempted
	Task     *ExplainedTask     `json:"task,omitempty"`

	Waits      []WaitTime `json:"waits,omitempty"`      // times in which the job waited, by class
	WaitsSince int64      `json:"waitsSince,omitempty"` // waits before this time are not known; absent if all are known
}

// WaitTime is a part of the time in which a job waited, or at least one task of a stage.
type WaitTime struct {
	Class  string `json:"class"` // why
	Millis int64  `json:"millis"`
}

// WaitTimesOf converts times that were waited.
func WaitTimesOf(waits []*wire.WaitTime) (out []WaitTime) {
	for _, w := range waits {
		out = append(out, WaitTime{w.Class, w.Millis})
	}
	return out
}

// Detail is a name and a value that the policy knows about the job, such as its rank.
type Detail struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Stage is a stage of the job's graph.
type Stage struct {
	Name      string   `json:"name"`
	Code      string   `json:"code,omitempty"`  // as in ids of tasks
	Reads     []string `json:"reads,omitempty"` // names of the stages whose output it reads
	Slot      string   `json:"slot"`            // slot kind of its tasks: map or reduce
	Tasks     int32    `json:"tasks"`
	Finished  int32    `json:"finished"`
	Running   int32    `json:"running"` // without suspended tasks
	Suspended int32    `json:"suspended"`
	Waiting   int32    `json:"waiting"`
	Free      int32    `json:"freeSlots"`
	Slots     int32    `json:"slots"`
	Reasons   []string `json:"reasons,omitempty"`
	Classes   []string `json:"classes,omitempty"` // class of each of the reasons; "" if it has none
	Until     int64    `json:"until,omitempty"`   // when the policy considers the tasks again even if nothing changes
	Avoids    []string `json:"avoids,omitempty"`  // tasknodes that the tasks avoid

	Waits []WaitTime `json:"waits,omitempty"` // times in which at least one task waited, by class

	Past *StageUsage `json:"past,omitempty"` // present if the job is finished
}

// StageUsage describes the slots that the tasks of a stage used.
type StageUsage struct {
	MapSlots          int32           `json:"mapSlots"` // that each attempt used
	ReduceSlots       int32           `json:"reduceSlots"`
	Attempts          int32           `json:"attempts"`
	Preempted         int32           `json:"preempted"`
	WaitedMillis      int64           `json:"waitedMillis"` // sum over all tasks
	LongestWaitMillis int64           `json:"longestWaitMillis"`
	LongestWaitTask   string          `json:"longestWaitTask,omitempty"`
	Tasknodes         []TasknodeUsage `json:"nodes,omitempty"`
}

// TasknodeUsage is the part of a StageUsage on one tasknode.
type TasknodeUsage struct {
	Name       string `json:"name"`
	Attempts   int32  `json:"attempts"`
	SlotMillis int64  `json:"slotMillis"` // slots times ms
}

// ExplainedAttempt is an attempt that runs or that was preempted.
type ExplainedAttempt struct {
	ID       string `json:"id"`
	Tasknode string `json:"node"` // tasknode
	State    string `json:"state"`
	Since    int64  `json:"since"` // when the state began
	Cause    string `json:"cause,omitempty"`

	Start  int64 `json:"startTime,omitempty"`
	Waited int64 `json:"waitedMillis,omitempty"`
}

// ExplainedTask is the task that the request names.
type ExplainedTask struct {
	ID         string             `json:"id"`
	Stage      string             `json:"stage"`
	State      string             `json:"state"`
	Reasons    []string           `json:"reasons,omitempty"`
	Classes    []string           `json:"classes,omitempty"`  // class of each of the reasons; "" if it has none
	FailedOn   []string           `json:"failedOn,omitempty"` // tasknodes on which an attempt failed
	Attempts   []ExplainedAttempt `json:"attempts,omitempty"`
	Candidates []Candidate        `json:"spots,omitempty"`
}

// Candidate is a tasknode with a free slot for the task. The cost of running the task there
// is the bytes to move times their distance.
type Candidate struct {
	Tasknode    string `json:"node"`
	Place       string `json:"place"` // checkpoint; or the place of most of the input: node, rack or remote
	LocalBytes  int64  `json:"localBytes"`
	RackBytes   int64  `json:"rackBytes"`
	RemoteBytes int64  `json:"remoteBytes"`
	Cost        int64  `json:"cost"`
	Avoided     bool   `json:"avoided"`
}
