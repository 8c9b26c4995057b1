package apidoc

// Samples is the use of slots over time, as one master has seen it.
type Samples struct {
	From   int64    `json:"from"`   // first interval that was asked for, ms since the epoch
	To     int64    `json:"to"`     // end of the last one
	Step   int64    `json:"step"`   // ms between the starts of two intervals
	Series []Series `json:"series"` // the cluster first, then pools by name
}

// Series are the samples of a pool or of the cluster, the oldest first. Intervals in which the master
// did not run are missing.
type Series struct {
	Pool   string   `json:"pool"` // "" for the whole cluster; board.OtherPools for pools without a series of their own
	Points []Sample `json:"points"`
}

// Sample is the use of slots over an interval.
type Sample struct {
	At       int64    `json:"at"`       // start of the interval, ms since the epoch
	Running  Share    `json:"running"`  // mean number of slots in use
	Waiting  Share    `json:"waiting"`  // mean number of slots that tasks wait for
	Share    Share    `json:"share"`    // mean fair share in slots, 0 if the master does not know it; of the cluster, slots of tasknodes that accept tasks
	Kept     float64  `json:"kept"`     // slot-seconds of attempts that were preempted and kept their work
	Lost     float64  `json:"lost"`     // slot-seconds of attempts that were preempted by kill
	Launches Launches `json:"launches"` // attempts started
}

// Add adds the numbers of another sample.
func (s *Sample) Add(o *Sample) {
	s.Running, s.Waiting, s.Share, s.Kept, s.Lost = s.Running.Plus(o.Running), s.Waiting.Plus(o.Waiting), s.Share.Plus(o.Share), s.Kept+o.Kept, s.Lost+o.Lost
	a, b := s.Launches, o.Launches
	s.Launches = Launches{a.Node + b.Node, a.Rack + b.Rack, a.Other + b.Other, a.Any + b.Any}
}

// Launches counts attempts by the place where they were started, relative to the split of their task.
type Launches struct {
	Node  uint32 `json:"node"`
	Rack  uint32 `json:"rack"`
	Other uint32 `json:"other"`
	Any   uint32 `json:"any"` // the task reads no split
}

// Starving reports whether a pool had fewer map or reduce slots than its share while it waited for
// more of them.
func (s *Sample) Starving() (maps, reduces bool) {
	starves := func(share, running, waiting float64) bool {
		return share > running+starvingSlots && waiting > starvingSlots
	}
	return starves(s.Share.Map, s.Running.Map, s.Waiting.Map), starves(s.Share.Reduce, s.Running.Reduce, s.Waiting.Reduce)
}

// starvingSlots is the difference from which on Starving counts it: shares are fractions of slots.
const starvingSlots = 0.5
