package apidoc

// Events is what has happened to the attempts of a job.
type Events struct {
	Since  int64   `json:"since"` // events before this time are unknown, ms since the epoch; 0 if none are missing
	Events []Event `json:"events"`
}

// Event is a change of an attempt. Times never decrease from one event to the next.
type Event struct {
	At      int64  `json:"at"`              // ms since the epoch
	Kind    string `json:"kind"`            // one of board.EventKind: start, continue, speculate, order, split, suspend, …
	Attempt string `json:"attempt"`         // id
	Node    string `json:"node,omitempty"`  // tasknode of the attempt; of a move: where its data lies now
	Place   string `json:"place,omitempty"` // of the events that start an attempt: node, rack, other, any or unknown
	Mode    string `json:"mode,omitempty"`  // of an order: the preemption mode
	Bytes   int64  `json:"bytes,omitempty"`
	Source  string `json:"source,omitempty"`  // of a continue: attempt that wrote the checkpoint
	Rest    string `json:"rest,omitempty"`    // of a split: task that has the rest of the range
	For     string `json:"for,omitempty"`     // of an order, a suspend or a preempt: job that gets the slot, if it is known
	ForPool string `json:"forPool,omitempty"` // likewise: pool that gets it; both are absent if a user gave the order
}

// TaskColumns are numbers of all tasks of a job, in the order of their ids. All lists have the same
// length, except the lists of names. Times are ms since the epoch; 0 is "not yet".
type TaskColumns struct {
	Stages []string `json:"stages"` // codes of the stages, as in ids
	Types  []string `json:"types"`  // MAP or REDUCE, by stage
	Nodes  []string `json:"nodes"`  // names of tasknodes; the first is ""
	States []string `json:"states"` // names of states
	Places []string `json:"places"` // names of places: node, rack, other, any or unknown

	Stage    []int32 `json:"stage"`    // place in Stages
	Number   []int32 `json:"number"`   // of the task in its stage
	State    []int32 `json:"state"`    // place in States
	Start    []int64 `json:"start"`    // of the first attempt
	End      []int64 `json:"end"`      // of the winner
	Duration []int64 `json:"duration"` // time for which the winner or, without one, the last attempt has had its slot, ms
	Bytes    []int64 `json:"bytes"`    // output of the winner
	Records  []int64 `json:"records"`  // output of the winner
	In       []int64 `json:"in"`       // records that the winner has read
	Spilled  []int64 `json:"spilled"`  // records that the winner has spilled
	Read     []int64 `json:"read"`     // bytes of its splits that the winner has read
	Node     []int32 `json:"node"`     // of the winner or, without one, of the last attempt: place in Nodes
	Place    []int32 `json:"place"`    // likewise: place in Places
	Attempts []int32 `json:"attempts"` // number of attempts

	numbers map[string]int32 // places in Nodes
}
