// Package preempt is how a slot is taken from a running task, and at which price.
package preempt

import (
	"fmt"
	"slices"
	"strings"
)

// Mode is a way to take its slot from a running attempt, after the papers on HFSP
// (section 4) and Chronos (section 4).
type Mode string

const (
	// Auto is the cheapest way by Costs.
	Auto Mode = "auto"
	// Wait leaves the slot to the attempt until it has finished.
	Wait Mode = "wait"
	// Split has a map finish what it has read; the rest becomes a new task
	// (earlyEnd: Chronos, section 4).
	Split Mode = "split"
	// Checkpoint has an attempt write its state to the disk of its machine and
	// end.
	Checkpoint Mode = "checkpoint"
	// Suspend has it stand still; its memory stays, and it goes on where it is.
	Suspend Mode = "suspend"
	// Kill ends it at once; its work is lost.
	Kill Mode = "kill"
)

// Modes are those that a user may name.
var Modes = []Mode{Auto, Wait, Split, Checkpoint, Suspend, Kill}

// Parse reads the name of a way.
func Parse(name string) (Mode, error) {
	if h := Mode(name); slices.Contains(Modes, h) {
		return h, nil
	}
	names := make([]string, len(Modes))
	for i, h := range Modes {
		names[i] = string(h)
	}
	return "", fmt.Errorf("preempt: %q is no way to take a slot; choose one of %s", name, strings.Join(names, ", "))
}
