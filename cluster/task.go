package cluster

import (
	"fmt"
	"iter"

	"github.com/hammr/hammr/dag"
)

// TaskState is the state of a task; see the package comment for the transitions.
type TaskState int

const (
	// TaskPending is entered when the task is made and when an attempt ends without success.
	TaskPending TaskState = iota + 1
	// TaskRunning is entered by StartAttempt.
	TaskRunning
	// TaskCheckpointed is entered by CheckpointAttempt. The task starts like a pending one,
	// from its checkpoint.
	TaskCheckpointed
	// TaskSucceeded is entered by FinishAttempt. Pending follows only if the output is lost
	// while a task needs it.
	TaskSucceeded
	// TaskFailed is entered when no try is left. It is final.
	TaskFailed
	// TaskKilled is entered when the job ends before the task. It is final.
	TaskKilled
)

func (s TaskState) String() string {
	names := [...]string{"NEW", "PENDING", "RUNNING", "CHECKPOINTED", "SUCCEEDED", "FAILED", "KILLED"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("TaskState(%d)", int(s))
	}
	return names[s]
}

// Task is the unit that is scheduled: one NodeGroup of a stage. It has an attempt for
// each try. A map that is split stays one task with a shorter Range; the rest becomes a
// new task.
type Task struct {
	ID        TaskID         `cbor:"-"`
	State     TaskState      `cbor:"1,keyasint"`
	Split     int            `cbor:"2,keyasint"`           // index of the split that it reads; -1 for none
	Part      int            `cbor:"3,keyasint,omitempty"` // number in the names of its output files: its own number, or the number of the task from which it was split
	Range     dag.Range      `cbor:"4,keyasint,omitzero"`  // range that it reads, if Ranged is set
	Ranged    bool           `cbor:"5,keyasint,omitempty"` // Range counts; otherwise the task reads the whole split
	Skip      []dag.Position `cbor:"6,keyasint,omitempty"` // records to skip, ascending; at most JobSpec.SkipRecords
	Attempts  []*Attempt     `cbor:"7,keyasint,omitempty"` // ascending by number; a number is not always the place, see nextAttempt
	Charged   int            `cbor:"8,keyasint,omitempty"` // failed tries that count; at most MaxAttempts
	Unreached int            `cbor:"9,keyasint,omitempty"` // attempts that failed because a machine with their input did not answer; at most maxUnreached
	Winner    *Attempt       `cbor:"-"`                    // attempt whose output counts; nil unless Succeeded

	Output  *Manifest  `cbor:"10,keyasint,omitempty"` // nil unless Succeeded
	Earlier []Segments `cbor:"11,keyasint,omitempty"` // what readers may have of the output that was revoked last, without paths; nil if Succeeded

	Checkpoint           *Checkpoint `cbor:"12,keyasint,omitempty"` // where to resume; nil: at the beginning
	ConsistentCheckpoint *Checkpoint `cbor:"13,keyasint,omitempty"` // while a gang writes its next checkpoint: the previous one, for a rollback

	// Counts has the counters of the winner, parallel to Job.CounterNames; nil while the task has
	// not finished. Values at the end that are missing are 0. A list does not change.
	Counts []int64 `cbor:"14,keyasint,omitempty"`
}

// HasFailed reports whether an attempt has failed on a machine that the task is to avoid.
func (t *Task) HasFailed() bool { return t.Charged > 0 || t.Unreached > 0 }

// ActiveAttempts yields the active attempts of the task, the oldest first. There are at most
// two; the second is a second attempt at a slow task.
func (t *Task) ActiveAttempts() iter.Seq[*Attempt] {
	return func(yield func(*Attempt) bool) {
		for _, a := range t.Attempts {
			if a.Active() && !yield(a) {
				return
			}
		}
	}
}

// attemptsOf yields the attempts of tasks, with the tasks.
func attemptsOf(tasks []*Task) iter.Seq2[*Task, *Attempt] {
	return func(yield func(*Task, *Attempt) bool) {
		for _, t := range tasks {
			for _, a := range t.Attempts {
				if !yield(t, a) {
					return
				}
			}
		}
	}
}

// Manifest lists the output of a finished attempt.
type Manifest struct {
	Pieces   []Piece    `cbor:"Pieces"`
	Segments []Segments `cbor:"Segments"`
	Bytes    int64      `cbor:"Bytes"` // bytes in all partitions or pieces
	Records  int64      `cbor:"Records"`
}

// Segments are the segments that one Node of the task wrote for one file edge.
type Segments struct {
	Edge          int    `cbor:"Edge"`          // place in the graph's edges
	Node          int    `cbor:"Node"`          // number of the Node in its stage; the number of its task if that was split from another
	Path          string `cbor:"Path"`          // data file with the sorted runs
	IndexChecksum uint64 `cbor:"IndexChecksum"` // xxhash64 of its index

	// Emitted and Cuts are shuffle.Sums, 0 if they are not known.
	Emitted uint64 `cbor:"Emitted,omitempty"`
	Cuts    uint64 `cbor:"Cuts,omitempty"`
}

// Piece is one immutable file of a task's output.
type Piece struct {
	Output   string `cbor:"Output"`   // named output, "part" for the main one
	Path     string `cbor:"Path"`     // full name of the file while it is staged
	Length   int64  `cbor:"Length"`   // length in bytes
	Checksum uint64 `cbor:"Checksum"` // xxhash64 over the bytes
	Records  int64  `cbor:"Records"`
	Suffix   string `cbor:"Suffix"` // file name suffix of the joined file, with the dot
	Stage    int    `cbor:"Stage"`  // place in the graph's stages of the stage that wrote it
	Part     int    `cbor:"Part"`   // number in the name of the joined file
}

// Checkpoint names the file from which a task resumes.
type Checkpoint struct {
	Attempt  AttemptID `cbor:"Attempt"` // attempt that wrote it
	Machine  string    `cbor:"Machine"` // where it lies; "" if only the copy is left
	Path     string    `cbor:"Path"`
	Bytes    int64     `cbor:"Bytes"`
	Checksum uint64    `cbor:"Checksum"` // xxhash64 over the file

	Copy *CheckpointCopy `cbor:"Copy,omitempty"` // nil if there is none

	// MayMissInput says that the checkpoint may lack output that is now lost. An attempt
	// that has resumed from the checkpoint either has that output or has to read it again.
	MayMissInput bool `cbor:"MayMissInput,omitempty"`
}
