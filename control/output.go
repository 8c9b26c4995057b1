package control

import (
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// Output lists what the body must do after a step, in any order. If a part is lost, for
// instance with a leader, the next leader derives it again from the state.
type Output struct {
	Commands  []cluster.Entry  // to be proposed as one batch; nil while a batch is in the log
	Orders    []Order          // for machines, in the order in which each machine has to get them
	Work      []Work           // for jobs
	Decisions []sched.Decision // decisions of this step, if Trace is on; the state may still refuse some of them

	Wake int64 // when to step at the latest, ms since the epoch; 0 for "when something happens"
}

// Order is a message to a machine.
type Order struct {
	Kind     OrderKind
	Machine  string
	Attempt  cluster.AttemptID // attempt of the order; not set for OrderRemoveJob
	Job      cluster.JobID
	Cause    string       // cause of OrderKill
	Position dag.Position // for OrderTruncate: the new end of the attempt's range
	Mode     preempt.Mode // for OrderPreempt: Split or Checkpoint
}

// OrderKind says what a machine must do.
type OrderKind int

const (
	// OrderStart starts an attempt that has a slot.
	OrderStart OrderKind = iota + 1
	// OrderKill kills the process of an attempt that has ended in the state but still
	// occupies its slot.
	OrderKill
	// OrderTruncate moves the end of an attempt's range: its task was split.
	OrderTruncate
	// OrderPreempt orders an attempt to save its work and exit, by Split or Checkpoint.
	OrderPreempt
	// OrderSuspend stops an attempt's process.
	OrderSuspend
	// OrderResume continues a suspended process.
	OrderResume
	// OrderCopyOutput makes a machine copy the output of a finished attempt, or the
	// checkpoint of a checkpointed one, from the machine where it lies.
	OrderCopyOutput
	// OrderDropCopy makes a machine remove a copy that is not needed.
	OrderDropCopy
	// OrderRemoveJob makes a machine remove all files of a job.
	OrderRemoveJob
)

func (k OrderKind) String() string {
	names := [...]string{"none", "start", "kill", "truncate", "preempt", "suspend", "resume", "copy-output", "drop-copy", "remove-job"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("OrderKind(%d)", int(k))
	}
	return names[k]
}

func (o Order) String() string {
	switch o.Kind {
	case OrderRemoveJob:
		return fmt.Sprintf("%s: %v %v", o.Machine, o.Kind, o.Job)
	case OrderKill:
		return fmt.Sprintf("%s: %v %v (%s)", o.Machine, o.Kind, o.Attempt, o.Cause)
	case OrderTruncate:
		return fmt.Sprintf("%s: %v %v at %v", o.Machine, o.Kind, o.Attempt, o.Position)
	}
	return fmt.Sprintf("%s: %v %v", o.Machine, o.Kind, o.Attempt)
}

// Work is something that the body does for a job, away from the loop. It reports the result
// by a Requested event.
type Work struct {
	Kind WorkKind
	Job  cluster.JobID
}

// WorkKind says what the body must do.
type WorkKind int

const (
	// WorkSetUp loads the splits and sets up the output; StartJob or FailJob follows. If an
	// earlier leader started the job, it only loads the splits; SplitsLoaded follows.
	WorkSetUp WorkKind = iota + 1
	// WorkCommit gives the output its final names: CommitJob or FailJob
	// follows.
	WorkCommit
	// WorkCleanUp removes what the job wrote: CloseJob follows.
	WorkCleanUp
)

func (k WorkKind) String() string {
	names := [...]string{"none", "set-up", "commit", "clean-up"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("WorkKind(%d)", int(k))
	}
	return names[k]
}

func (w Work) String() string { return fmt.Sprintf("%v %v", w.Kind, w.Job) }
