package chaos

import (
	"fmt"
	"slices"
	"time"

	"github.com/hammr/hammr/preempt"
)

// Kind is what a fault does to its target.
type Kind string

// Kinds of faults. Those that last end after Fault.For, or with the drill.
const (
	Kill      Kind = "kill"      // SIGKILL; started again after For
	Restart   Kind = "restart"   // SIGKILL, and started again at once
	Stop      Kind = "stop"      // SIGSTOP; SIGCONT after For
	Partition Kind = "partition" // no network until For has passed
	Corrupt   Kind = "corrupt"   // one byte of a segment on disk changes
	FullDisk  Kind = "full-disk" // no disk space until For has passed
	SlowDisk  Kind = "slow-disk" // each operation takes By longer
	IOError   Kind = "io-error"  // one of IOErrorOneOf operations fails
	Clock     Kind = "clock"     // the daemon's clock jumps by By
	Preempt   Kind = "preempt"   // a task is preempted with Mode
	Failpoint Kind = "failpoint" // at Point, Action happens
)

// IOErrorOneOf says of how many operations one fails, for IOError.
const IOErrorOneOf = 20

// kindSpec is what a plan knows of a kind. A kind has two more places: a file of its
// name in chaos/drill, which injects it into processes, and one in chaos/simulate.
type kindSpec struct {
	kind    Kind
	targets []Role
	lasts   bool // it may have an end
	by      byOption

	// unprivileged kinds need signals and files only, so any user may inject them.
	unprivileged bool
	// survivable kinds may last until the end of a drill on one tasknode: its work
	// moves to others. A tasknode that is alive but useless would keep it.
	survivable bool

	check      func(Fault) error     // of its own options; nil for none
	draw       func(*random, *Fault) // its own options at random; nil for none
	endsDaemon func(Fault) bool      // a daemon may be gone after it; nil for never
	longest    time.Duration         // For at random; 0 for longestRandom
}

// byOption is what 'by VALUE' of a plan means.
type byOption int

const (
	byNothing byOption = iota
	byDuration
	byMode
	byAction
)

var daemons = []Role{Tasknode, Jobmaster}

// kindSpecs are all kinds, in the order in which help lists them.
var kindSpecs = []kindSpec{
	{
		kind: Kill, targets: []Role{Task, Tasknode, Jobmaster, DataNode, NameNode, Machine}, lasts: true, unprivileged: true, survivable: true,
		endsDaemon: notOfTask,
	},
	{
		kind: Restart, targets: []Role{Tasknode, Jobmaster, DataNode, NameNode, Machine}, unprivileged: true,
		endsDaemon: notOfTask,
	},
	{kind: Stop, targets: []Role{Task, Tasknode, Jobmaster, DataNode, NameNode, Machine}, lasts: true, unprivileged: true, survivable: true},
	{kind: Partition, targets: []Role{Tasknode, Jobmaster, DataNode, Machine}, lasts: true},
	{kind: Corrupt, targets: []Role{Tasknode}, unprivileged: true},
	{kind: FullDisk, targets: []Role{Tasknode}, lasts: true},
	{kind: SlowDisk, targets: daemons, lasts: true, by: byDuration, check: checkSlowDisk, draw: drawSlowDisk},
	{kind: IOError, targets: daemons, lasts: true, endsDaemon: func(f Fault) bool { return f.Target.Role == Jobmaster }},
	{kind: Clock, targets: daemons, by: byDuration, check: checkClock, draw: drawClock},
	{kind: Preempt, targets: []Role{Task}, by: byMode, check: checkPreempt, draw: drawPreempt},
	{
		kind: Failpoint, targets: daemons, lasts: true, by: byAction, survivable: true,
		check: Fault.checkFailpoint, draw: (*random).drawFailpoint, endsDaemon: Fault.failpointEndsDaemon, longest: randomLimit,
	},
}

// specOf finds a kind. The zero spec stands for an unknown one, which has no targets.
func specOf(kind Kind) kindSpec {
	i := slices.IndexFunc(kindSpecs, func(s kindSpec) bool { return s.kind == kind })
	if i < 0 {
		return kindSpec{by: byDuration}
	}
	return kindSpecs[i]
}

// Kinds are all kinds.
func Kinds() []Kind { return kindsWhere(func(kindSpec) bool { return true }) }

// UnprivilegedKinds are those that any user may inject on any machine.
func UnprivilegedKinds() []Kind {
	return kindsWhere(func(s kindSpec) bool { return s.unprivileged })
}

func kindsWhere(wanted func(kindSpec) bool) (list []Kind) {
	for _, s := range kindSpecs {
		if wanted(s) {
			list = append(list, s.kind)
		}
	}
	return list
}

// EndsDaemon reports whether a daemon may be gone after the fault. The end of the fault
// starts it again.
func (f Fault) EndsDaemon() bool {
	s := specOf(f.Kind)
	return s.endsDaemon != nil && s.endsDaemon(f)
}

func notOfTask(f Fault) bool { return f.Target.Role != Task }

func checkSlowDisk(f Fault) error {
	if f.By <= 0 {
		return fmt.Errorf("slow-disk by %v: expected how much longer each operation takes, such as 20ms", f.By)
	}
	return nil
}

func drawSlowDisk(r *random, f *Fault) {
	f.By = r.drawDuration(5*time.Millisecond, 100*time.Millisecond)
}

func checkClock(f Fault) error {
	if f.By == 0 {
		return fmt.Errorf("clock: 'by TIME' is missing, such as 5s or -5s")
	}
	return nil
}

func drawClock(r *random, f *Fault) {
	if f.By = r.drawDuration(time.Second, time.Minute); r.IntN(2) == 0 {
		f.By = -f.By
	}
}

// preemptModes are those that a user may preempt a task with.
var preemptModes = []preempt.Mode{preempt.Split, preempt.Checkpoint, preempt.Suspend, preempt.Kill}

func checkPreempt(f Fault) error {
	if !slices.Contains(preemptModes, f.Mode) {
		return fmt.Errorf("preempt by %q; there are %s", f.Mode, join(preemptModes))
	}
	return nil
}

func drawPreempt(r *random, f *Fault) { f.Mode = preemptModes[r.IntN(len(preemptModes))] }
