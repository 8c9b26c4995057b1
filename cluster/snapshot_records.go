package cluster

import "github.com/hammr/hammr/dag"

// The records below are the content of a snapshot. Each is written as a map whose keys are
// the numbers in the tags. Zero values are left out. A number is never reused; a new field
// gets a new one.
//
// A new field of the state goes into its struct, into its record here, into the function of
// snapshot.go that copies it, and into snapshot_restore.go. It also needs a cluster version
// (version.go), and is zero while the cluster has a lower one. A count or an index gets no record:
// it is computed on restoring and checked in invariants.go. TestReplicasAreEqual finds a field
// that is missing, and one that its random lives do not use. JobSpec is stored whole. If
// policies depend on the field, its command adds to Delta (state.go).

// clusterRecord is the first item of a snapshot: everything but the jobs.
type clusterRecord struct {
	ID       string          `cbor:"1,keyasint"`
	Policy   string          `cbor:"2,keyasint"`
	Machines []machineRecord `cbor:"3,keyasint,omitempty"`
	Sessions []sessionRecord `cbor:"4,keyasint,omitempty"`
	Jobs     int             `cbor:"5,keyasint"` // number of jobs that follow
	Pools    []string        `cbor:"6,keyasint,omitempty"`

	PolicyConf []Setting `cbor:"7,keyasint,omitempty"`
	Submitted  int       `cbor:"8,keyasint,omitempty"` // number of jobs that were ever submitted
	Limits     *Limits   `cbor:"9,keyasint,omitempty"` // nil for DefaultLimits
	Forgotten  int64     `cbor:"10,keyasint,omitempty"`
	SweptAt    int64     `cbor:"11,keyasint,omitempty"`
	Version    int       `cbor:"12,keyasint"`           // cluster version
	Restores   int       `cbor:"13,keyasint,omitempty"` // absent in a cluster that was never restored
}

// machineRecord is a Machine. Slots and what is used are computed on restoring.
type machineRecord struct {
	Name     string      `cbor:"1,keyasint"`
	Address  string      `cbor:"2,keyasint,omitempty"`
	Hosts    []string    `cbor:"3,keyasint,omitempty"`
	Offered  Slots       `cbor:"4,keyasint"`
	Epoch    int         `cbor:"5,keyasint"`
	Attempts []AttemptID `cbor:"6,keyasint,omitempty"` // in order of start
	Instance string      `cbor:"7,keyasint,omitempty"`
	HTTP     string      `cbor:"8,keyasint,omitempty"`
	Rack     string      `cbor:"9,keyasint,omitempty"`
	Lost     bool        `cbor:"10,keyasint,omitempty"`

	FreeSince [slotKinds]int64 `cbor:"11,keyasint,omitzero"`
	Excluded  bool             `cbor:"12,keyasint,omitempty"`
	LostAt    int64            `cbor:"13,keyasint,omitempty"`
	Draining  bool             `cbor:"14,keyasint,omitempty"`
	MemoryMB  int64            `cbor:"15,keyasint,omitempty"`
	Unhealthy string           `cbor:"18,keyasint,omitempty"`

	UntilRestart  bool  `cbor:"19,keyasint,omitempty"`
	DrainDeadline int64 `cbor:"20,keyasint,omitempty"`

	Unreached   []unreached  `cbor:"16,keyasint,omitempty"`
	FailedTasks []failedTask `cbor:"17,keyasint,omitempty"`
}

// sessionRecord contains the remembered requests of a client.
type sessionRecord struct {
	Client  string         `cbor:"1,keyasint"`
	Newest  uint64         `cbor:"2,keyasint"`
	Results []resultRecord `cbor:"3,keyasint,omitempty"` // by sequence
	At      int64          `cbor:"4,keyasint,omitempty"`
}

// resultRecord is the effect of one request.
type resultRecord struct {
	Sequence uint64 `cbor:"1,keyasint"`
	Job      JobID  `cbor:"2,keyasint,omitzero"`
}

// jobRecord is a Job, without its tasks, which follow it.
type jobRecord struct {
	Spec    JobSpec  `cbor:"1,keyasint,omitzero"`
	State   JobState `cbor:"2,keyasint,omitempty"`
	Outcome JobState `cbor:"3,keyasint,omitempty"`
	Cause   string   `cbor:"4,keyasint,omitempty"`

	SubmittedAt int64 `cbor:"5,keyasint,omitempty"`
	StartedAt   int64 `cbor:"6,keyasint,omitempty"`
	CommitAt    int64 `cbor:"7,keyasint,omitempty"`
	FinishedAt  int64 `cbor:"8,keyasint,omitempty"`

	Failures []Failure     `cbor:"9,keyasint,omitempty"`
	Counters []CounterName `cbor:"10,keyasint,omitempty"`
	Stages   []stageRecord `cbor:"11,keyasint,omitempty"`

	MachineFailures []machineFailures `cbor:"12,keyasint,omitempty"`

	BundleStarts [][]int `cbor:"14,keyasint,omitempty"` // by class of bundles and number; empty for classes that StartBundle has not started
	Suspended    bool    `cbor:"15,keyasint,omitempty"`
	Outage       Outage  `cbor:"16,keyasint,omitzero"`

	Number   int    `cbor:"17,keyasint,omitempty"`
	Archived bool   `cbor:"18,keyasint,omitempty"` // the job has no stages
	Summary  []byte `cbor:"19,keyasint,omitempty"`

	tasks [][]taskRecord // by stage; each is written after the job as an item of its own
}

// stageRecord is a Stage without the counts of its tasks by state, which are computed.
type stageRecord struct {
	Tasks       int  `cbor:"1,keyasint"` // number of tasks that follow the job
	WritesFiles bool `cbor:"2,keyasint,omitempty"`

	StartedAt  int64 `cbor:"3,keyasint,omitempty"`
	FinishedAt int64 `cbor:"4,keyasint,omitempty"`

	Launched    int   `cbor:"5,keyasint,omitempty"`
	LocalStarts int   `cbor:"6,keyasint,omitempty"`
	Failed      int   `cbor:"7,keyasint,omitempty"`
	Killed      int   `cbor:"8,keyasint,omitempty"`
	SlotMillis  int64 `cbor:"9,keyasint,omitempty"`
	RackStarts  int   `cbor:"10,keyasint,omitempty"`

	CombineSets []combineSet    `cbor:"11,keyasint,omitempty"`
	Preemption  PreemptionStats `cbor:"12,keyasint,omitzero"`
}

// taskRecord is a Task, with its attempts. Its id follows from its place.
type taskRecord struct {
	State    TaskState       `cbor:"1,keyasint"`
	Split    int             `cbor:"2,keyasint"`
	Part     int             `cbor:"3,keyasint"`
	Range    rangeRecord     `cbor:"4,keyasint,omitzero"`
	Ranged   bool            `cbor:"5,keyasint,omitempty"`
	Skip     []dag.Position  `cbor:"6,keyasint,omitempty"`
	Attempts []attemptRecord `cbor:"7,keyasint,omitempty"`
	Charged  int             `cbor:"8,keyasint,omitempty"`

	Output               *Manifest   `cbor:"9,keyasint,omitempty"`
	Checkpoint           *Checkpoint `cbor:"10,keyasint,omitempty"`
	Counts               []int64     `cbor:"11,keyasint,omitempty"` // parallel to jobRecord.Counters
	ConsistentCheckpoint *Checkpoint `cbor:"12,keyasint,omitempty"`
	Unreached            int         `cbor:"13,keyasint,omitempty"`
	Earlier              []Segments  `cbor:"14,keyasint,omitempty"`
}

// attemptRecord is an Attempt, with the columns of its state (attemptStateInfo) instead of
// the state.
type attemptRecord struct {
	Machine    string        `cbor:"1,keyasint"`
	Status     AttemptStatus `cbor:"2,keyasint"`
	OnMachine  bool          `cbor:"3,keyasint,omitempty"`
	Range      rangeRecord   `cbor:"4,keyasint,omitzero"`
	Preempting bool          `cbor:"5,keyasint,omitempty"`
	StartedAt  int64         `cbor:"6,keyasint,omitempty"`
	EndedAt    int64         `cbor:"7,keyasint,omitempty"`
	Cause      string        `cbor:"8,keyasint,omitempty"`
	Lost       bool          `cbor:"9,keyasint,omitempty"`

	Splitting          bool  `cbor:"10,keyasint,omitempty"`
	Suspended          bool  `cbor:"11,keyasint,omitempty"`
	SuspendedAt        int64 `cbor:"12,keyasint,omitempty"`
	SuspendedMillis    int64 `cbor:"13,keyasint,omitempty"`
	PreemptRequestedAt int64 `cbor:"14,keyasint,omitempty"`
	ResumedAt          int64 `cbor:"15,keyasint,omitempty"`
	WorkLost           bool  `cbor:"16,keyasint,omitempty"`
	DeclinedAt         int64 `cbor:"18,keyasint,omitempty"`
	From               int   `cbor:"19,keyasint,omitempty"`

	MovedTo string `cbor:"17,keyasint,omitempty"`
	Revoked bool   `cbor:"20,keyasint,omitempty"`

	CheckpointMoved bool `cbor:"21,keyasint,omitempty"`

	Number int `cbor:"22,keyasint,omitempty"` // absent if it is the place of the attempt among those of its task
}

// rangeRecord is a dag.Range: offset and skip of its start, then of its end.
type rangeRecord [4]int64

func (r rangeRecord) asRange() dag.Range {
	return dag.Range{
		Start: dag.Position{Offset: r[0], Skip: r[1]},
		End:   dag.Position{Offset: r[2], Skip: r[3]},
	}
}
