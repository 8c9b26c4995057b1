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
