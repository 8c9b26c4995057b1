package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/preempt"
)

// Role is the class of a target.
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

// Target is what a fault hits.
//
// The Name of a tasknode, machine or DataNode is its number from 1, or "any" for the machine
// that runs most attempts. The Name of a jobmaster is leader, follower, all, or its id. The
// Name of a running task is map, reduce or any. A NameNode has no Name.
type Target struct {
	Role Role
	Name string
}

// String returns the target as a plan has it, such as "tasknode 2" or "namenode".
func (t Target) String() string { return strings.TrimSpace(string(t.Role) + " " + t.Name) }

// Fault is one event of a plan.
type Fault struct {
	Kind    Kind
	Target  Target
	Trigger Trigger
	For     time.Duration // how long it lasts; 0 is to the end of the drill
	By      time.Duration // SlowDisk and Clock: how much; a clock may jump back
	Point   string        // Failpoint: a name of internal/failpoint
	Action  string        // Failpoint: such as crash@3
	Mode    preempt.Mode  // Preempt

	Line int // of the plan's file, 0 for none
}

// String returns the fault as a plan has it.
func (f Fault) String() string {
	text := fmt.Sprintf("fault %v do %s %v", f.Trigger, f.Kind, f.Target)
	if f.Point != "" {
		text += " at " + f.Point
	}
	for _, by := range []string{string(f.Mode), f.Action} {
		if by != "" {
			text += " by " + by
		}
	}
	if f.By != 0 {
		text += fmt.Sprintf(" by %v", f.By)
	}
	if f.For != 0 {
		text += fmt.Sprintf(" for %v", f.For)
	}
	return text
}

// check reports what is wrong with a fault, without regard to the other faults of its plan. It
// checks the kind first, then the target, then the options: an unknown kind has no targets to
// compare with, and the options of a kind depend on its target.
func (f Fault) check() error {
	kind := SpecOf(f.Kind)
	if kind.Targets == nil {
		return fmt.Errorf("unknown kind of fault %q: expected one of %s", f.Kind, join(Kinds()))
	}
	if !slices.Contains(kind.Targets, f.Target.Role) {
		return fmt.Errorf("%s of a %q: its targets are %s", f.Kind, f.Target.Role, join(kind.Targets))
	}
	if err := f.Target.check(); err != nil {
		return err
	}
	if f.For < 0 || f.For > 0 && !kind.Lasts {
		return fmt.Errorf("%s for %v: this kind has no duration, or the time is negative", f.Kind, f.For)
	}
	if err := f.checkOptions(kind); err != nil || kind.check == nil {
		return err
	}
	return kind.check(f)
}

// checkOptions refuses options of other kinds. Parse refuses most of them as a syntax
// error; this check is for plans that a Go program makes.
func (f Fault) checkOptions(kind *KindSpec) error {
	switch {
	case f.Point != "" && kind.by != byAction:
		return fmt.Errorf("%s at %s: only a failpoint has a point", f.Kind, f.Point)
	case f.Mode != "" && kind.by != byMode:
		return fmt.Errorf("%s by %q: only preempt has a mode", f.Kind, f.Mode)
	case f.Action != "" && kind.by != byAction:
		return fmt.Errorf("%s by %q: only a failpoint has an action", f.Kind, f.Action)
	case f.By != 0 && kind.by != byDuration:
		return fmt.Errorf("%s by %v: it has no amount", f.Kind, f.By)
	}
	return nil
}
