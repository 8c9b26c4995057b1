package chaos

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Names of targets that are chosen when the fault is due.
const (
	Any      = "any"
	Leader   = "leader"
	Follower = "follower"
	All      = "all" // jobmasters at once
)

// ways are those of a preemption.
var ways = []string{"split", "checkpoint", "suspend", "kill"}

// targets are what each kind can be done to.
var targets = map[Kind][]Role{
	Kill:      {Task, Tasknode, Jobmaster, DataNode, NameNode, Machine},
	Restart:   {Tasknode, Jobmaster, DataNode, NameNode, Machine},
	Stop:      {Task, Tasknode, Jobmaster, DataNode, NameNode, Machine},
	Partition: {Tasknode, Jobmaster, DataNode, Machine},
	Corrupt:   {Tasknode},
	FullDisk:  {Tasknode},
	SlowDisk:  {Tasknode, Jobmaster},
	IOError:   {Tasknode, Jobmaster},
	Clock:     {Tasknode, Jobmaster},
	Preempt:   {Task},
	Failpoint: {Tasknode, Jobmaster},
}

// lasting are the kinds that may have an end.
var lasting = map[Kind]bool{Kill: true, Stop: true, Partition: true, FullDisk: true, SlowDisk: true, IOError: true, Failpoint: true}

// check tells what is wrong with a target.
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

// Number is that of a tasknode, machine or DataNode, or of a jobmaster that is
// named, from 1; 0 for one that is chosen when the fault is due.
func (t Target) Number() int {
	n, err := number(strings.TrimPrefix(t.Name, "m"))
	if err != nil {
		return 0
	}
	return n
}

// number reads a number from 1, written in one way only.
func number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1000 || strconv.Itoa(n) != text {
		return 0, fmt.Errorf("%q: expected a number from 1 to 1000", text)
	}
	return n, nil
}

func contains[T comparable](list []T, x T) bool { return slices.Contains(list, x) }

// join lists words for people.
func join[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = string(w)
	}
	return strings.Join(words, ", ")
}
