package chaos

import (
	"context"
	"errors"
	"time"
)

// Kind is what a fault does to its target.
type Kind string

// Kinds of faults. A fault that lasts ends after Fault.For, or with the drill.
const (
	Kill      Kind = "kill"       // SIGKILL; started again after For
	Restart   Kind = "restart"    // SIGKILL, and started again at once
	Stop      Kind = "stop"       // SIGSTOP; SIGCONT after For
	Partition Kind = "partition"  // no network until For has passed
	OneWay    Kind = "one-way"    // nothing arrives, or nothing is sent, as Direction says
	Loss      Kind = "loss"       // Amount per cent of the packets are lost
	Delay     Kind = "delay"      // each packet that is sent takes By longer
	Bandwidth Kind = "bandwidth"  // at most Amount Mbit/s are sent
	Corrupt   Kind = "corrupt"    // one byte of a segment on disk changes
	FullDisk  Kind = "full-disk"  // no disk space until For has passed
	SlowDisk  Kind = "slow-disk"  // each operation takes By longer
	IOError   Kind = "io-error"   // one of ioErrorOneOf operations fails
	Clock     Kind = "clock"      // the daemon's clock jumps by By
	Preempt   Kind = "preempt"    // a task is preempted with Mode
	Failpoint Kind = "failpoint"  // at Point, Action happens
	PowerLoss Kind = "power-loss" // SIGKILL, and what was not synced is gone; started again after For
)

// KindSpec is one kind of fault: what it hits, how it is injected into processes and
// undone, and how it is simulated. The table kinds has all of them. Functions are nil, and
// flags false, for what a kind does not have.
type KindSpec struct {
	Kind    Kind
	Targets []Role // never empty
	Lasts   bool   // it ends after Fault.For; other kinds are undone at once, if at all

	// The line of a plan.

	by    byOption
	check func(Fault) error     // reports what is wrong with its own options
	draw  func(*random, *Fault) // draws its own options

	// unprivileged kinds need signals and files only, so any user may inject them.
	unprivileged bool
	// survivable kinds may last until the end of a drill on one tasknode: its work
	// moves to others. A tasknode that is alive but useless would keep it.
	survivable bool
	longest    time.Duration // the longest duration in a random plan; 0 for longestRandom

	// endsDaemon reports whether a daemon may be gone after the fault. The end of such a
	// fault starts the daemon again, after Undo.
	endsDaemon func(Fault) bool

	// In a cluster of processes, see Lab.

	// Inject injects the fault into one daemon, and Undo ends it.
	Inject, Undo func(ctx context.Context, lab Lab, f Fault, daemon string) error
	// InjectTask acts on a running task of the target's kind. It returns the name of the
	// target that it has hit, and a function that ends the fault. The function is nil if the
	// fault needs no end.
	InjectTask func(ctx context.Context, lab Lab, f Fault) (target string, undo func() error, err error)
	// Missed is called before Inject. The function that it returns is called before Undo. It
	// returns why the fault has had no effect, or "" if it has had an effect. Missed is nil
	// for kinds whose effect is immediate.
	Missed func(ctx context.Context, lab Lab, f Fault, daemons []string) func(context.Context) string

	InDaemon     bool // a call to the daemon sets the fault; the daemon forgets it when it ends
	NeedsRunning bool // it hits only daemons that run
	Silences     bool // attempts of a tasknode make no progress while it lasts

	// Link returns what it does to the packets of its target; nil for kinds that leave them alone.
	Link func(Fault) Link
	// OnMachine kinds are injected by the guard of a machine, too (package chaos/guard).
	OnMachine bool

	NeedsNetwork bool   // it needs a network of the daemon's own, except for a DataNode
	NeedsDisk    bool   // it needs a disk of the tasknode's own
	NeedsShell   bool   // it needs a shell on the machine of a hostfile
	RemoteTasks  bool   // its effect on tasks needs no access to their processes
	NotOnHosts   string // why it cannot be injected into a cluster of a hostfile; "" if it can

	// In virtual time, see Simulation. A kind without function and Effect has no effect
	// on such a target.

	// SimulateTask acts on a running task and returns its name.
	SimulateTask func(s Simulation, f Fault) (target string, err error)
	// SimulateMachine acts on a machine or its tasknode, and SimulateMaster on a master.
	SimulateMachine, SimulateMaster func(s Simulation, f Fault, number int) error
	// Effect is what happens to an attempt or a master that the fault disturbs. If it is
	// set, the fault is active inside its target until it ends, unless SimulateMachine or
	// SimulateMaster says what happens. It hits its Point, or each write of an attempt
	// and each append to the log of a master.
	Effect func(f Fault, hit Hit) Effect
}

// byOption is the meaning of "by VALUE" in a plan.
type byOption int

const (
	byNothing   byOption = iota
	byDuration           // Fault.By
	byMode               // Fault.Mode
	byAction             // Fault.Action; such a kind has 'at POINT' too
	byDirection          // Fault.Direction
	byPercent            // Fault.Amount
	byMbits              // Fault.Amount
)

// amountUnits are the units of Fault.Amount as plans have them.
var amountUnits = map[byOption]string{byPercent: "%", byMbits: "mbit"}

// ErrNoTarget is the error of a fault that has nothing to hit. It stays due and is tried
// again.
var ErrNoTarget = errors.New("the cluster has no such target now")

// SpecOf returns the declaration of a kind. For an unknown kind it has no Targets.
func SpecOf(kind Kind) *KindSpec {
	for _, s := range kinds {
		if s.Kind == kind {
			return s
		}
	}
	return new(KindSpec)
}

// Kinds returns the names of all kinds.
func Kinds() []Kind { return kindsWhere(func(*KindSpec) bool { return true }) }

// UnprivilegedKinds returns the kinds that any user may inject on any machine.
func UnprivilegedKinds() []Kind {
	return kindsWhere(func(s *KindSpec) bool { return s.unprivileged })
}

func kindsWhere(wanted func(*KindSpec) bool) (list []Kind) {
	for _, s := range kinds {
		if wanted(s) {
			list = append(list, s.Kind)
		}
	}
	return list
}

// EndsDaemon reports whether a daemon may be gone after the fault. The end of the fault
// starts it again.
func (f Fault) EndsDaemon() bool {
	s := SpecOf(f.Kind)
	return s.endsDaemon != nil && s.endsDaemon(f)
}
