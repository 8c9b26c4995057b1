package cluster

import (
	"cmp"
	"fmt"

	"github.com/hammr/hammr/dag"
)

// TaskState tells where a task is in its life.
type TaskState int

const (
	// TaskPending is entered at birth and when a try has come to nothing.
	TaskPending TaskState = iota + 1
	// TaskRunning is entered by StartAttempt.
	TaskRunning
	// TaskCheckpointed is entered by CheckpointAttempt. It starts like a pending
	// task, from its checkpoint.
	TaskCheckpointed
	// TaskSucceeded is entered by FinishAttempt; Pending follows only when
	// the output is lost while somebody needs it.
	TaskSucceeded
	// TaskFailed is entered when tries have run out and is final.
	TaskFailed
	// TaskKilled is entered when the job ends without it and is final.
	TaskKilled
)

func (s TaskState) String() string {
	names := [...]string{"NEW", "PENDING", "RUNNING", "PAUSED", "SUCCEEDED", "FAILED", "KILLED"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("TaskState(%d)", int(s))
	}
	return names[s]
}

// Task is the unit that is scheduled: one Node of a stage.
type Task struct {
	ID       TaskID
	State    TaskState
	Split    int            // index of the split it reads, -1 for none
	Part     int            // number in the names of its output files: its own, or that of the task it was cut from
	Range    dag.Range      // what it reads, when Ranged
	Ranged   bool           // false: the whole split
	Skip     []dag.Position // records to pass over, ascending; at most JobSpec.SkipRecords
	Attempts []*Attempt     // by number
	Charged  int            // failed tries that count; at most MaxAttempts
	Winner   *Attempt       // whose output is the task's; nil unless Succeeded
	Output   *Manifest      // nil unless Succeeded

	Checkpoint           *Checkpoint // where to go on, nil at the beginning
	ConsistentCheckpoint *Checkpoint // of a gang that is being paused again: where to go on if that comes to nothing

	counts []int64 // of the winner, beside Job.names
}

// Manifest is what a finished attempt left behind.
type Manifest struct {
	Pieces   []Piece    `cbor:"Pieces"`
	Segments []Segments `cbor:"Segments"`
	Bytes    int64      `cbor:"Bytes"` // in all partitions or pieces
	Records  int64      `cbor:"Records"`
}

// Segments is what one Node of the task wrote for one edge that is a file.
type Segments struct {
	Edge          int    `cbor:"Edge"`          // place in the graph's edges
	Node          int    `cbor:"Node"`          // number of the Node in its stage; of one cut from another, of its task
	Path          string `cbor:"Path"`          // data file with the sorted runs
	IndexChecksum uint64 `cbor:"IndexChecksum"` // xxhash64 of its index
}

// Piece is one immutable file of a task's output.
type Piece struct {
	Output   string `cbor:"Output"`   // named output, "part" for the main one
	Path     string `cbor:"Path"`     // full name of the file while it is staged
	Length   int64  `cbor:"Length"`   // bytes
	Checksum uint64 `cbor:"Checksum"` // xxhash64 over the bytes
	Records  int64  `cbor:"Records"`
	Suffix   string `cbor:"Suffix"` // file name suffix of the joined file, with the dot
	Stage    int    `cbor:"Stage"`  // place in the graph's stages of the stage that wrote it
	Part     int    `cbor:"Part"`   // number in the name of the joined file
}

// Checkpoint names the file from which a paused task goes on.
type Checkpoint struct {
	Attempt  AttemptID `cbor:"Attempt"` // that wrote it
	Machine  string    `cbor:"Machine"` // where it lies; "" when only the copy is left
	Path     string    `cbor:"Path"`
	Bytes    int64     `cbor:"Bytes"`
	Checksum uint64    `cbor:"Checksum"` // xxhash64 over the file

	Copy *CheckpointCopy `cbor:"Copy,omitempty"` // nil where there is none

	// MayMissInput says that it may lack output that is gone: an attempt that has gone on
	// from it has that, or is to read it again.
	MayMissInput bool `cbor:"Short,omitempty"`
}

// AttemptState is the verdict over an attempt.
type AttemptState int

const (
	// AttemptRunning is entered by StartAttempt; any other state follows.
	AttemptRunning AttemptState = iota + 1
	// AttemptSucceeded is final; Killed follows only when the output is lost.
	AttemptSucceeded
	// AttemptFailed is final.
	AttemptFailed
	// AttemptKilled is final for one that was told to end. One that was lost
	// with its machine may be made Succeeded by RestoreOutput.
	AttemptKilled
	// AttemptPreempted is final: its slot was taken for somebody else. Its work is
	// kept in a checkpoint, or Wasted.
	AttemptPreempted
)

func (s AttemptState) String() string {
	names := [...]string{"NEW", "RUNNING", "SUCCEEDED", "FAILED", "KILLED", "PREEMPTED"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("AttemptState(%d)", int(s))
	}
	return names[s]
}

// Attempt is one try at a task.
type Attempt struct {
	ID        AttemptID
	Machine   string
	From      int // number, counted from 1, of the attempt whose checkpoint it went on from; 0: it began anew
	Slot      Slot
	State     AttemptState
	OnMachine bool      // holds its slot; true while Running, and until its machine says that it is gone
	Range     dag.Range // what it was started with; its task's range may have shrunk since
	Pausing   bool      // it is asked to keep its work and end: in a checkpoint, or as Splitting says
	Splitting bool      // it is asked to finish what it has read, and to leave the rest to another task
	Suspended bool      // it stands still and holds memory instead of its slot
	Lost      bool      // its machine was lost, which may come back with its output: it is Killed or, while nobody needs the output, Succeeded
	Revoked   bool      // it has succeeded once, and its output, which others may have read, counted no more
	MovedTo   string    // the machine to which its output or its checkpoint was moved, "" while that lies on Machine
	Outdated  bool      // the checkpoint from which it went on was moved since
	StartedAt int64
	EndedAt   int64  // of the verdict, 0 while Running
	Cause     string // why it was killed or failed, or what it makes room for

	DeclinedAt int64 // when it went on last instead of keeping its work and ending as it was asked to; 0 if never

	SuspendedAt     int64 // when it was suspended last; 0 if never
	SuspendedMillis int64 // for how long it was, but for the time since SuspendedAt while it is

	PreemptRequestedAt int64 // when it was asked to keep its work and end; 0 if never
	ResumedAt          int64 // when it went on last: after it stood still, or with what another attempt had left; 0 if never
	Wasted             bool  // it is Preempted, and its work lost
}

// WorkKept reports whether the attempt is preempted and its work is kept.
func (a *Attempt) WorkKept() bool { return a.State == AttemptPreempted && !a.Wasted }

// DataMachine is the machine on which the attempt's output or checkpoint lies, if it has any.
func (a *Attempt) DataMachine() string { return cmp.Or(a.MovedTo, a.Machine) }

// HoldsSlot reports whether the attempt keeps others from its slot.
func (a *Attempt) HoldsSlot() bool { return a.OnMachine && !a.Suspended }

// SlotTime is for how long the attempt has held its slot until a time at which it is
// there, in ms. It is never below 0, also where masters' clocks have differed.
func (a *Attempt) SlotTime(at int64) int64 {
	if a.Suspended {
		at = a.SuspendedAt
	}
	return max(at-a.StartedAt-a.SuspendedMillis, 0)
}
