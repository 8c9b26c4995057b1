package cluster

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestAttemptDiagram compares the diagram at AttemptState with the table of
// transitions.
func TestAttemptDiagram(t *testing.T) {
	source, err := os.ReadFile("attempt.go")
	must.Do(t, err)
	drawn := make(map[string]bool)
	arrow := regexp.MustCompile(`^([\w, ]+) ──([\w, ]+)──► (\w+)`)
	for line := range strings.Lines(string(source)) {
		rest, _ := strings.CutPrefix(strings.TrimSpace(line), "//\t")
		for m := arrow.FindStringSubmatch(rest); m != nil; m = arrow.FindStringSubmatch(rest) {
			for _, from := range strings.Split(m[1], ", ") {
				for _, event := range strings.Split(m[2], ", ") {
					drawn[fmt.Sprintf("%s ──%s──► %s", from, event, m[3])] = true
				}
			}
			rest = rest[len(m[0])-len(m[3]):]
		}
	}
	table := make(map[string]bool)
	for from, events := range attemptTransitions {
		for event, to := range events {
			table[fmt.Sprintf("%v ──%v──► %v", AttemptState(from), event, to)] = true
		}
	}
	if !maps.Equal(drawn, table) {
		t.Errorf("drawn:\n%s\nin the table:\n%s", strings.Join(slices.Sorted(maps.Keys(drawn)), "\n"), strings.Join(slices.Sorted(maps.Keys(table)), "\n"))
	}
}

// TestAttemptTransitions checks what must hold of every transition: a status never returns
// to RUNNING, and a process never comes back.
func TestAttemptTransitions(t *testing.T) {
	for from := AttemptRunning; int(from) < len(attemptStates); from++ {
		for event, to := range attemptTransitions[from] {
			was, is := from.info(), to.info()
			if is.status == StatusRunning && was.status != StatusRunning || was.place == gone && is.place != gone {
				t.Errorf("%v ──%v──► %v brings an attempt back", from, event, to)
			}
			if was.status != StatusRunning && was.place != gone && (is.status != was.status || is.place != gone) {
				t.Errorf("%v ──%v──► %v: an attempt that exits changes more than its place", from, event, to)
			}
		}
	}
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "attempt in state Failed: unexpected event: kill") {
			t.Errorf("a failed attempt is killed: %v", p)
		}
	}()
	AttemptFailed.after(eventKill)
}
