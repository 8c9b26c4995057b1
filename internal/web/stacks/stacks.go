// Package stacks groups the stacks of goroutines that a process has printed.
package stacks

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/internal/kit/clean"
	"github.com/hammr/hammr/internal/kit/pattern"
)

// Group is goroutines with the same stack in the same state.
type Group struct {
	Count   int
	State   string // as the runtime says: running, chan receive
	Minutes int    // how long the one that has waited longest has been in the state; 0 if it is less than one
	Stack   string // without arguments
	first   int
}

// Bounds of grouped stacks.
const (
	maxGroups     = 200
	maxStackBytes = 16 << 10 // of one stack; Go prints at most 100 frames
	maxState      = 200      // bytes of a state
)

// goroutineHead matches the first line of a stack: goroutine 7 [chan receive, 5 minutes, locked to thread]:
var goroutineHead = pattern.New(`^goroutine \d+ [^\[]*\[([^\]]*)\]`)

// Grouped groups the stacks in a text as runtime.Stack writes it: the goroutines that have waited
// longest first, then large groups. It returns how many goroutines there are, and how many groups are
// left out.
func Grouped(text []byte) (groups []Group, goroutines, leftOut int) {
	index := make(map[[2]string]int)
	for block := range bytes.SplitSeq(text, []byte("\n\n")) {
		head, rest, _ := bytes.Cut(bytes.TrimLeft(block, "\n"), []byte("\n"))
		found := goroutineHead().FindSubmatch(head)
		if found == nil {
			continue
		}
		goroutines++
		state, minutes := stateOf(string(found[1]))
		key := [2]string{state, withoutArguments(string(rest[:min(len(rest), maxStackBytes)]))}
		at, known := index[key]
		if !known {
			at = len(groups)
			index[key] = at
			groups = append(groups, Group{State: key[0], Stack: key[1], first: at})
		}
		groups[at].Count++
		groups[at].Minutes = max(groups[at].Minutes, minutes)
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Minutes, a.Minutes), cmp.Compare(b.Count, a.Count), cmp.Compare(a.first, b.first))
	})
	shown := min(len(groups), maxGroups)
	return groups[:shown], goroutines, len(groups) - shown
}

// stateOf returns the state in the head of a stack without the waiting time, and that time.
func stateOf(text string) (state string, minutes int) {
	var parts []string
	for part := range strings.SplitSeq(text, ", ") {
		if number, isTime := strings.CutSuffix(part, " minutes"); isTime {
			minutes, _ = strconv.Atoi(number) // the runtime writes numbers
			continue
		}
		parts = append(parts, part)
	}
	return clean.Line(strings.Join(parts, ", "), maxState), minutes
}

// What differs between goroutines that do the same.
var (
	arguments = pattern.New(`(?m)^(\S.*)\((?:\.\.\.|\{|0x|_|\)).*$`)
	offset    = pattern.New(`(?m) \+0x[0-9a-f]+$`)
	creator   = pattern.New(`(?m) in goroutine \d+$`)
)

// withoutArguments returns a stack without what differs between goroutines that do the same.
func withoutArguments(stack string) string {
	stack = arguments().ReplaceAllString(stack, "$1")
	stack = offset().ReplaceAllString(stack, "")
	return clean.Text(strings.TrimSpace(creator().ReplaceAllString(stack, "")))
}
