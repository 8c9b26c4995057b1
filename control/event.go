package control

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// Event is an input of Step. The types of this file implement it. An event that is late
// or comes twice does no harm: commands are checked again when they are applied.
type Event interface{ event() }

// reportEvent is a tasknode's report on an attempt. If the attempt is unknown, its job is
// retired, and the event is ignored.
type reportEvent interface {
	Event
	attempt() cluster.AttemptID
}

// Applied reports that a batch was applied to the state, entry by entry.
type Applied struct{ Results []Result }

// Result is the result of one entry.
type Result struct {
	Entry cluster.Entry
	Delta cluster.Delta
	Err   error // why it was refused; nil if it was applied
}

// Requested asks for a command: a client requests it, the body has finished some work, or a tasknode's report
// needs no decision.
type Requested struct {
	Client   string // Client and Sequence identify the request; "" for none
	Sequence uint64
	Command  cluster.Command
	By       string // user who asked for it; "" for none
}

// Leading reports that the body leads the cluster. It is the first event of a leader. The
// controller derives the orders and work that jobs need from the state.
type Leading struct{}

// SplitsLoaded reports that the splits of a running job are known on this master.
type SplitsLoaded struct{ Job cluster.JobID }

// SplitsLocated reports that the hosts of more splits are known.
type SplitsLocated struct{ Job cluster.JobID }

// PolicyChanged replaces the scheduling policy.
type PolicyChanged struct{ Policy sched.Policy }

// Stalled reports that the body was suspended and received no reports for some time, so that
// attempts could not show their progress.
type Stalled struct{ Millis int64 }

// MachineConnected reports that a machine receives orders, and may have missed earlier ones.
type MachineConnected struct{ Name string }

// AttemptProgressed reports that a running attempt is alive. Mark changes when it makes
// progress.
type AttemptProgressed struct {
	Attempt  cluster.AttemptID
	Mark     uint64
	Fraction float64 // fraction of its work that is done, 0 to 1; negative if unknown

	Memory    int64 // bytes in memory; 0 if unknown
	Unwritten int64 // bytes in memory that it would write if it ended early

	Fetched []EdgeFetched // for edges whose fetched output has changed: it has fetched more, or has to start over
}

// MachineMeasured reports the free memory of a machine.
type MachineMeasured struct {
	Name     string
	Headroom preempt.MemHeadroom
}

// AttemptFinished reports that an attempt has processed Range and exited.
type AttemptFinished struct {
	Attempt  cluster.AttemptID
	Range    dag.Range
	Output   cluster.Manifest
	Counters []cluster.Counter
}

// AttemptFailed reports that an attempt has failed and exited. LostOutput is the attempt
// whose output it could not read, zero if that is not the cause.
type AttemptFailed struct {
	Attempt    cluster.AttemptID
	Failure    cluster.Failure
	LostOutput cluster.AttemptID // attempt whose output it could not read
	Unreached  bool              // the machine with that output did not answer

	BadCheckpoint bool // it could not resume from its task's checkpoint
	StorageDown   bool // the storage was not available
}

// PreemptionDeclined reports that an attempt could not obey an order to split, checkpoint or
// suspend, and runs on. CanSuspend says that it can be suspended instead.
type PreemptionDeclined struct {
	Attempt    cluster.AttemptID
	Cause      string // shown to users
	CanSuspend bool
}

// AttemptExited reports that an attempt exited, by order or for a cause outside the attempt.
// If StuckStack is not empty, the attempt has not exited but ignores the order.
type AttemptExited struct {
	Attempt    cluster.AttemptID
	Cause      string // "" if it exited by order
	StuckStack string
}

// OutputCopied answers OrderCopyOutput: a machine has copied an attempt's output or
// checkpoint, or has failed to, because of Problem.
type OutputCopied struct {
	Attempt  cluster.AttemptID
	Machine  string
	Segments []cluster.Segments // as they lie on the machine
	Problem  string             // "" for none
	Useless  bool               // the original is damaged: trying again cannot help

	Checkpoint *cluster.Checkpoint // as it lies on the machine; nil for output
}

func (OutputCopied) event()       {}
func (Applied) event()            {}
func (Leading) event()            {}
func (Stalled) event()            {}
func (SplitsLoaded) event()       {}
func (SplitsLocated) event()      {}
func (PolicyChanged) event()      {}
func (Requested) event()          {}
func (MachineConnected) event()   {}
func (MachineMeasured) event()    {}
func (AttemptProgressed) event()  {}
func (AttemptFinished) event()    {}
func (AttemptFailed) event()      {}
func (PreemptionDeclined) event() {}
func (AttemptExited) event()      {}

func (e AttemptProgressed) attempt() cluster.AttemptID  { return e.Attempt }
func (e AttemptFinished) attempt() cluster.AttemptID    { return e.Attempt }
func (e AttemptFailed) attempt() cluster.AttemptID      { return e.Attempt }
func (e PreemptionDeclined) attempt() cluster.AttemptID { return e.Attempt }
func (e AttemptExited) attempt() cluster.AttemptID      { return e.Attempt }
