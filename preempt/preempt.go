// Package preempt is how a slot is taken from a running task.
package preempt

import (
	"fmt"
	"slices"
	"strings"
)

// How is a way to take its slot from a running attempt. Which of them keep its
// work: docs/DESIGN.md, section Preemption, after the papers on HFSP (section 4)
// and Chronos (section 4).
type How string

const (
	// Wait lets it end by itself.
	Wait How = "wait"
	// Checkpoint has it write its state to the disk of its machine and end.
	Checkpoint How = "checkpoint"
	// Kill ends it at once; its work is lost.
	Kill How = "kill"
)

var all = []How{Wait, Checkpoint, Kill}

// Parse reads the name of a way.
func Parse(name string) (How, error) {
	if h := How(name); slices.Contains(all, h) {
		return h, nil
	}
	names := make([]string, len(all))
	for i, h := range all {
		names[i] = string(h)
	}
	return "", fmt.Errorf("preempt: %q is unknown; choose one of %s", name, strings.Join(names, ", "))
}
