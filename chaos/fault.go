package chaos

import (
	"fmt"
	"slices"
	"strconv"
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
	By      time.Duration // SlowDisk, Clock and Delay: how much; a clock may jump back
	Amount  int           // Loss: per cent; Bandwidth: Mbit/s
	Point   string        // Failpoint: a name of internal/kit/failpoint
	Action  string        // Failpoint: such as crash@3
	Mode    preempt.Mode  // Preempt

	Direction string // OneWay: In or Out
	Line      int    // of the plan's file, 0 for none
}

// Directions of OneWay.
const (
	In  = "in"  // the target receives nothing
	Out = "out" // it sends nothing
)

// MachineFault returns a fault of what runs on one machine, for a guard. by is the amount as in a
// plan, "" for none.
func MachineFault(kind Kind, role Role, by string, lasts time.Duration) (Fault, error) {
	f := Fault{Kind: kind, Target: Target{Role: role, Name: Any}, For: lasts}
	switch role {
	case Jobmaster:
		f.Target.Name = All
	case NameNode:
		f.Target.Name = ""
	}
	if by != "" {
		if err := f.set("by", by); err != nil {
			return f, err
		}
	}
	return f, f.check()
}

// Amounts returns what follows "by" in a plan, "" for nothing.
func (f Fault) Amounts() string {
	text := string(f.Mode) + f.Action + f.Direction
	if f.By != 0 {
		text += f.By.String()
	}
	if f.Amount != 0 {
		text += fmt.Sprint(f.Amount, amountUnits[SpecOf(f.Kind).by])
	}
	return text
}

// String returns the fault as a plan has it.
func (f Fault) String() string {
	text := fmt.Sprintf("fault %v do %s %v", f.Trigger, f.Kind, f.Target)
	if f.Point != "" {
		text += " at " + f.Point
	}
	if by := f.Amounts(); by != "" {
		text += " by " + by
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
	case f.Direction != "" && kind.by != byDirection:
		return fmt.Errorf("%s by %q: only one-way has a direction", f.Kind, f.Direction)
	case f.By != 0 && kind.by != byDuration:
		return fmt.Errorf("%s by %v: it has no amount", f.Kind, f.By)
	case f.Amount != 0 && amountUnits[kind.by] == "":
		return fmt.Errorf("%s by %d: it has no amount", f.Kind, f.Amount)
	}
	return nil
}

// checkAmount reports an amount out of bounds.
func (f Fault) checkAmount(least, most int, unit string) error {
	if f.Amount < least || f.Amount > most {
		return fmt.Errorf("%s by %d%s: expected %d%[3]s to %[5]d%[3]s", f.Kind, f.Amount, unit, least, most)
	}
	return nil
}

// Names of targets that are chosen when the fault is due.
const (
	Any      = "any"
	Leader   = "leader"
	Follower = "follower"
	All      = "all" // jobmasters at once
)

// check reports what is wrong with a target. It does not know the plan: Plan.checkTarget
// checks whether the plan has a tasknode of that number.
func (t Target) check() error {
	switch t.Role {
	case NameNode:
		if t.Name != "" {
			return fmt.Errorf("namenode %q: there is only one", t.Name)
		}
	case Task:
		if !slices.Contains([]string{"map", "reduce", Any}, t.Name) {
			return fmt.Errorf("task %q: expected map, reduce or any", t.Name)
		}
	case Jobmaster:
		if _, err := number(strings.TrimPrefix(t.Name, "m")); err != nil && !slices.Contains([]string{Leader, Follower, All}, t.Name) {
			return fmt.Errorf("jobmaster %q: expected leader, follower, all, or an id such as m1", t.Name)
		}
	case Tasknode, Machine, DataNode:
		if _, err := number(t.Name); err != nil && t.Name != Any {
			return fmt.Errorf("%s %q: expected its number from 1, or any", t.Role, t.Name)
		}
	}
	return nil
}

// Number returns the number of a tasknode, machine, DataNode or named jobmaster, from 1. It
// returns 0 for a target that is chosen when the fault is due.
func (t Target) Number() int {
	n, err := number(strings.TrimPrefix(t.Name, "m"))
	if err != nil {
		return 0
	}
	return n
}

// number reads a number from 1 without leading zeros.
func number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1000 || strconv.Itoa(n) != text {
		return 0, fmt.Errorf("%q: expected a number from 1 to 1000", text)
	}
	return n, nil
}

// join lists words for messages.
func join[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = string(w)
	}
	return strings.Join(words, ", ")
}

// Event is what a trigger waits for.
type Event string

// Events. Numbers of spills and of files count over all of a job.
const (
	AtTime           Event = "at"     // a time after the submission of the first job
	AtMapProgress    Event = "map"    // this percentage of a job's map work is done
	AtReduceProgress Event = "reduce" // the same for reduces; 0 is when the first reduce runs
	AtSpill          Event = "spill"  // the job has spilled the given number of sorted files
	AtCommit         Event = "commit" // so many files have their final names; 0 is when the commit begins
)

// Trigger says when a fault is due. A job that never reaches the condition triggers nothing.
//
// Triggers are level-triggered: a fault stays due until there is something to hit, and a
// condition that holds for a moment only, such as a running reduce, may be missed between
// two polls of a status.
type Trigger struct {
	Event Event
	At    time.Duration // AtTime
	Job   string        // the others: name of the plan's job
	N     int           // percent, spill or file
}

// String returns the trigger as a plan has it.
func (t Trigger) String() string {
	switch t.Event {
	case AtTime:
		return fmt.Sprintf("at %v", t.At)
	case AtMapProgress, AtReduceProgress:
		return fmt.Sprintf("when %s %s %d%%", t.Job, t.Event, t.N)
	}
	return fmt.Sprintf("when %s %s %d", t.Job, t.Event, t.N)
}

// check reports what is wrong with a trigger, without regard to its plan.
func (t Trigger) check() error {
	switch {
	case t.Event == AtTime && (t.At < 0 || t.At > maxLimit):
		return fmt.Errorf("at %v: expected 0s to %v", t.At, maxLimit)
	case (t.Event == AtMapProgress || t.Event == AtReduceProgress) && (t.N < 0 || t.N > 100):
		return fmt.Errorf("%s %d%%: expected 0%% to 100%%", t.Event, t.N)
	case (t.Event == AtSpill || t.Event == AtCommit) && (t.N < 0 || t.N > 1_000_000):
		return fmt.Errorf("%s %d: expected 0 to 1000000", t.Event, t.N)
	}
	return nil
}
