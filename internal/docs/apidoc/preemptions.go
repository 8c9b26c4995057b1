package apidoc

// PreemptionLedger has the preemptions of a cluster that one master has seen, or those from and for one
// pool. Times are ms.
type PreemptionLedger struct {
	Since  int64            `json:"since"`  // time of the first log entry that the master has applied, ms since the epoch; 0 for none
	Pool   string           `json:"pool"`   // "" for all
	Modes  []PreemptionMode `json:"modes"`  // in the order of cost
	Matrix []PoolPreemption `json:"matrix"` // most slots first
	PreemptionSums
}

// PreemptionSums are sums over preemptions.
type PreemptionSums struct {
	Asked            int   `json:"asked"`      // orders to give up a slot
	Granted          int   `json:"granted"`    // slots given up, with the work kept or lost
	Declined         int   `json:"declined"`   // orders that the attempt could not obey
	KeptMillis       int64 `json:"keptMillis"` // slot time of attempts that were split, checkpointed or suspended
	LostMillis       int64 `json:"lostMillis"` // slot time of attempts that were preempted by kill
	Checkpoints      int   `json:"checkpoints"`
	CheckpointBytes  int64 `json:"checkpointBytes"`
	CheckpointMillis int64 `json:"checkpointMillis"` // sum of the times from the order to the checkpoint
	CopiedBytes      int64 `json:"copiedBytes"`      // of checkpoints from which attempts resumed on another tasknode
}

// Add adds other sums.
func (s *PreemptionSums) Add(o PreemptionSums) {
	s.Asked, s.Granted, s.Declined = s.Asked+o.Asked, s.Granted+o.Granted, s.Declined+o.Declined
	s.KeptMillis, s.LostMillis, s.CopiedBytes = s.KeptMillis+o.KeptMillis, s.LostMillis+o.LostMillis, s.CopiedBytes+o.CopiedBytes
	s.Checkpoints, s.CheckpointBytes, s.CheckpointMillis = s.Checkpoints+o.Checkpoints, s.CheckpointBytes+o.CheckpointBytes, s.CheckpointMillis+o.CheckpointMillis
}

// PreemptionMode has the preemptions by one mode. An order is counted by its own mode and a slot by
// the mode in which it was given up: a task that cannot be split writes a checkpoint.
type PreemptionMode struct {
	Mode      string `json:"mode"`
	P50Millis int64  `json:"p50Millis"` // median of the time from the order to the free slot, by interpolation in a histogram
	P95Millis int64  `json:"p95Millis"` // likewise
	PreemptionSums
}

// PoolPreemption has the preemptions of tasks of one pool for another.
type PoolPreemption struct {
	Pool  string         `json:"pool"`  // whose slots were taken
	For   string         `json:"for"`   // that gets them; "" if a user gave the orders, or it is unknown
	Modes map[string]int `json:"modes"` // slots given up, by mode
	PreemptionSums
}
