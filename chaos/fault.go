package chaos

import (
	"fmt"
	"strings"
	"time"
)

// Kind is what is done to a target.
type Kind string

// Kinds of faults. Of those that last, a fault without For lasts until the drill
// ends.
const (
	Kill      Kind = "kill"      // SIGKILL; with For, started again after that
	Restart   Kind = "restart"   // SIGKILL, and started again at once
	Stop      Kind = "stop"      // SIGSTOP; with For, SIGCONT after that
	Partition Kind = "partition" // no network; with For, back after that
	Corrupt   Kind = "corrupt"   // a byte of one segment on disk is another one
	FullDisk  Kind = "full-disk" // nothing more can be written; with For, until then
	SlowDisk  Kind = "slow-disk" // each operation takes By longer
	IOError   Kind = "io-error"  // every so many operations fail
	Clock     Kind = "clock"     // the daemon's clock jumps by By
	Preempt   Kind = "preempt"   // a task makes room, in the way How
	Failpoint Kind = "failpoint" // at Point, How happens; with For, until then
)

// IOErrorOneOf is of how many operations one fails, of an IOError.
const IOErrorOneOf = 20

// kinds are all, in the order in which people are told of them.
var kinds = []Kind{Kill, Restart, Stop, Partition, Corrupt, FullDisk, SlowDisk, IOError, Clock, Preempt, Failpoint}

// Kinds are all kinds.
func Kinds() []Kind { return append([]Kind(nil), kinds...) }

// UnprivilegedKinds are those that need signals and files only, so that any user may
// inject them on any machine.
func UnprivilegedKinds() []Kind { return []Kind{Kill, Restart, Stop, Corrupt} }

// Role is what a target is.
type Role string

// Roles of targets.
const (
	Task      Role = "task"
	Tasknode  Role = "tasknode"
	Jobmaster Role = "jobmaster"
	DataNode  Role = "datanode"
	NameNode  Role = "namenode"
	Machine   Role = "machine" // a tasknode with its tasks and, on HDFS, its DataNode
)

// Target is what a fault is done to.
//
// Name is, of a tasknode, a machine or a DataNode its number from 1, or "any",
// one that has work to do; of a jobmaster leader, follower, all, or its id; of a
// task map, reduce or any, one of those that run. A NameNode has none.
type Target struct {
	Role Role
	Name string
}

func (t Target) String() string { return strings.TrimSpace(string(t.Role) + " " + t.Name) }

// Fault is one thing that goes wrong, once.
type Fault struct {
	Kind    Kind
	Target  Target
	Trigger Trigger
	For     time.Duration // how long it lasts; 0 is to the end of the drill
	By      time.Duration // SlowDisk and Clock: how much; a clock may go back
	Point   string        // Failpoint: where, a name of internal/failpoint
	How     string        // Preempt: split, checkpoint, suspend or kill; Failpoint: an action such as crash@3

	Line int // of the plan's file, 0 for none
}

// String is the fault as a plan has it.
func (f Fault) String() string {
	text := fmt.Sprintf("fault %v do %s %v", f.Trigger, f.Kind, f.Target)
	if f.Point != "" {
		text += " at " + f.Point
	}
	if f.How != "" {
		text += " by " + f.How
	}
	if f.By != 0 {
		text += fmt.Sprintf(" by %v", f.By)
	}
	if f.For != 0 {
		text += fmt.Sprintf(" for %v", f.For)
	}
	return text
}

// check tells what is wrong with a fault by itself.
func (f Fault) check() error {
	roles, known := targets[f.Kind]
	if !known {
		return fmt.Errorf("%q is no kind of fault; there are %s", f.Kind, join(kinds))
	}
	if !contains(roles, f.Target.Role) {
		return fmt.Errorf("%s of a %q; it can be done to %s", f.Kind, f.Target.Role, join(roles))
	}
	if err := f.Target.check(); err != nil {
		return err
	}
	if f.For < 0 || f.For > 0 && !lasting[f.Kind] {
		return fmt.Errorf("%s for %v: it does not last, or a time below 0", f.Kind, f.For)
	}
	return f.checkAmount()
}

func (f Fault) checkAmount() error {
	switch {
	case f.Kind == Failpoint:
		return f.checkPoint()
	case f.Point != "":
		return fmt.Errorf("%s at %s: a failpoint alone is at a point", f.Kind, f.Point)
	case f.Kind == Preempt && !contains(ways, f.How):
		return fmt.Errorf("preempt by %q; there are %s", f.How, join(ways))
	case f.Kind != Preempt && f.How != "":
		return fmt.Errorf("%s by %q: expected a time", f.Kind, f.How)
	case f.Kind == SlowDisk && f.By <= 0:
		return fmt.Errorf("slow-disk by %v: expected how much longer each operation takes, such as 20ms", f.By)
	case f.Kind == Clock && f.By == 0:
		return fmt.Errorf("clock: by how much is missing, such as 5s or -5s")
	case f.Kind != SlowDisk && f.Kind != Clock && f.By != 0:
		return fmt.Errorf("%s by %v: it has no amount", f.Kind, f.By)
	}
	return nil
}
