package apidoc

// WhatIf compares how long jobs of a real cluster took with how long they take in simulations, as
// `hammr sim whatif --json` prints it. Times are in ms.
type WhatIf struct {
	History  string         `json:"history"`            // name of the file or directory of histories
	Notes    []string       `json:"notes"`              // what the histories lack
	Observed WhatIfCluster  `json:"observed"`           // the least cluster on which the attempts could run
	Cluster  WhatIfCluster  `json:"cluster"`            // that is simulated
	Recorded WhatIfTimes    `json:"recorded"`           // on the real cluster
	Baseline *WhatIfPolicy  `json:"baseline,omitempty"` // policy under which the jobs ran, on the observed cluster
	Policies []WhatIfPolicy `json:"policies"`
	Jobs     []WhatIfJob    `json:"jobs"` // by submission
}

// WhatIfCluster is a cluster of equal machines.
type WhatIfCluster struct {
	Machines    int `json:"machines"`
	MapSlots    int `json:"mapSlots"` // of a machine
	ReduceSlots int `json:"reduceSlots"`
}

// WhatIfTimes describes how long jobs took from their submission to their end.
type WhatIfTimes struct {
	Jobs     int   `json:"jobs"` // whose real time is known; others are left out
	Mean     int64 `json:"meanMillis"`
	P50      int64 `json:"p50Millis"`
	P95      int64 `json:"p95Millis"`
	Max      int64 `json:"maxMillis"`
	Makespan int64 `json:"makespanMillis"` // from the first submission to the last end
}

// WhatIfPolicy is the outcome of a simulation.
type WhatIfPolicy struct {
	Policy      string      `json:"policy"`
	Times       WhatIfTimes `json:"times"`
	Preemptions int         `json:"preemptions"`
	WorkLost    int64       `json:"workLostMillis"` // slot time that preemption threw away
	WorkKept    int64       `json:"workKeptMillis"` // slot time that preempted attempts kept
	Difference  float64     `json:"difference"`     // mean over jobs of the absolute difference from the recorded time, as a part of it
}

// WhatIfJob is a job. A recorded time of 0 is unknown.
type WhatIfJob struct {
	ID        string  `json:"jobId"`
	Name      string  `json:"name"`
	Pool      string  `json:"pool"`
	Submit    int64   `json:"submitMillis"` // after the first submission
	Recorded  int64   `json:"recordedMillis"`
	Predicted []int64 `json:"predictedMillis"` // in the order of the policies
}

// States of a what-if simulation.
const (
	WhatIfRunning   = "running"
	WhatIfDone      = "done"
	WhatIfFailed    = "failed" // Problem says why
	WhatIfCancelled = "cancelled"
)

// WhatIfRun is a what-if simulation that a web server has started. The server keeps the latest ones.
type WhatIfRun struct {
	ID         string            `json:"id"`
	State      string            `json:"state"`
	User       string            `json:"user"`       // who started it
	Command    string            `json:"command"`    // that does the same
	Parameters map[string]string `json:"parameters"` // that start the same again
	Started    int64             `json:"startTime"`  // ms since the epoch
	Elapsed    int64             `json:"elapsedMillis"`
	Problem    string            `json:"problem,omitempty"` // why it has no result
	Result     *WhatIf           `json:"result,omitempty"`  // absent from lists
}
