package control

import (
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// Output is what a step wants done.
type Output struct {
	Commands  []cluster.Entry // to be proposed as one batch; nil while a batch is on its way
	Orders    []Order
	Work      []Work
	Decisions []sched.Decision // that were made, when they are traced; those about a plan may still be refused in part

	Wake int64 // when to step at the latest, ms since the epoch; 0 for "when something happens"
}

// Order is something to tell a machine.
type Order struct {
	Kind     OrderKind
	Machine  string
	Attempt  cluster.AttemptID // of all kinds but OrderRemoveJob
	Job      cluster.JobID
	Cause    string       // of OrderKill
	Position dag.Position // of OrderTruncate: where the attempt's range ends now
	Mode     preempt.Mode // of OrderPreempt: Split or Checkpoint
}

// OrderKind is the verb of an order.
type OrderKind int

const (
	// OrderStart starts an attempt that has a slot.
	OrderStart OrderKind = iota + 1
	// OrderKill ends an attempt that has a verdict and still holds its slot.
	OrderKill
	// OrderTruncate tells an attempt where its range ends since it was split.
	OrderTruncate
	// OrderPreempt orders an attempt to save its work and exit, by Split or Checkpoint.
	OrderPreempt
	// OrderSuspend has an attempt stand still.
	OrderSuspend
	// OrderResume has an attempt go on that stands still.
	OrderResume
	// OrderCopyOutput has a machine copy the output of a finished attempt, or the
	// checkpoint of one that was paused, from where it lies.
	OrderCopyOutput
	// OrderDropCopy has a machine remove such a copy, which nobody needs.
	OrderDropCopy
	// OrderRemoveJob says that nothing of a job is needed any more.
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

// Work is something that the body is to do for a job, away from the loop. It
// reports back by a Requested event.
type Work struct {
	Kind WorkKind
	Job  cluster.JobID
}

// WorkKind is the verb of work.
type WorkKind int

const (
	// WorkSetUp loads the splits and sets up the output: StartJob or FailJob
	// follows. Of a job that was started under an earlier leader it only loads
	// the splits: SplitsLoaded follows.
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
