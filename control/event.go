package control

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// Event is something that the controller hears of.
type Event interface{ event() }

// Applied says that a batch has been applied to the state, entry by entry.
type Applied struct{ Results []Result }

// Result is what became of one entry.
type Result struct {
	Entry cluster.Entry
	Delta cluster.Delta
	Err   error // why it was refused; nil when it was applied
}

// Requested asks for a command as it is: a client wants it, or the body knows
// it to be due.
type Requested struct {
	Client   string // with Sequence: what makes the request one of a kind; "" for none
	Sequence uint64
	Command  cluster.Command
}

// Leading says that the body leads from now on. It comes first, and makes what
// every job needs follow from the state.
type Leading struct{}

// SplitsLoaded says that the splits of a job that runs already are known here.
type SplitsLoaded struct{ Job cluster.JobID }

// SplitsLocated says that it is known of more splits where they lie.
type SplitsLocated struct{ Job cluster.JobID }

// PolicyChanged says which policy gives out slots from now on.
type PolicyChanged struct{ Policy sched.Policy }

// MachineConnected says that a machine listens to orders, and may have missed
// earlier ones.
type MachineConnected struct{ Name string }

// AttemptProgressed says that a running attempt is alive. Mark changes when it has come
// further.
type AttemptProgressed struct {
	Attempt  cluster.AttemptID
	Mark     uint64
	Fraction float64 // of its work done, 0 to 1; negative when unknown

	Memory    int64 // bytes that it holds in memory; 0 when unknown
	Unwritten int64 // bytes of them that it would write if it were to end early

	Fetched []EdgeFetched // of the edges of which it has fetched more, or has to begin anew
}

// MachineMeasured says how much memory a machine has for more.
type MachineMeasured struct {
	Name     string
	Headroom preempt.MemHeadroom
}

// AttemptFinished says that an attempt has processed Range and is gone.
type AttemptFinished struct {
	Attempt  cluster.AttemptID
	Range    dag.Range
	Output   cluster.Manifest
	Counters []cluster.Counter
}

// AttemptFailed says that an attempt has failed and is gone. LostOutput is the
// attempt whose output it could not read, zero when that is not the cause.
type AttemptFailed struct {
	Attempt    cluster.AttemptID
	Failure    cluster.Failure
	LostOutput cluster.AttemptID

	BadCheckpoint bool // it could not go on from its task's checkpoint
}

// AttemptCheckpointed says that an attempt has written a checkpoint and is gone.
type AttemptCheckpointed struct {
	Attempt    cluster.AttemptID
	Checkpoint cluster.Checkpoint
}

// PreemptionDeclined says that an attempt goes on as if it had not been asked to keep
// its work and end. CanSuspend says that it may be suspended instead.
type PreemptionDeclined struct {
	Attempt    cluster.AttemptID
	Cause      string
	CanSuspend bool
}

// AttemptExited says that an attempt is gone because it was told to, or for a
// Cause that is not its own. StuckStack is not empty when it is not gone but
// ignores the order.
type AttemptExited struct {
	Attempt    cluster.AttemptID
	Cause      string // "" when it was told to
	StuckStack string
}

// OutputCopied answers OrderCopyOutput: a machine has a copy of an attempt's output now, or
// of its checkpoint, or has not, for a Fault.
type OutputCopied struct {
	Attempt  cluster.AttemptID
	Machine  string
	Segments []cluster.Segments // as they lie there
	Problem  string             // "" for none
	Useless  bool               // the fault is one of the checkpoint, or of what it names

	Checkpoint *cluster.Checkpoint // as it lies there; nil when it is output
}

func (OutputCopied) event()        {}
func (Applied) event()             {}
func (Leading) event()             {}
func (SplitsLoaded) event()        {}
func (SplitsLocated) event()       {}
func (PolicyChanged) event()       {}
func (Requested) event()           {}
func (MachineConnected) event()    {}
func (MachineMeasured) event()     {}
func (AttemptProgressed) event()   {}
func (AttemptFinished) event()     {}
func (AttemptFailed) event()       {}
func (AttemptCheckpointed) event() {}
func (PreemptionDeclined) event()  {}
func (AttemptExited) event()       {}
