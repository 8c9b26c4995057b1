package sim

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hammr/hammr/cluster"
)

// ErrStuck ends a run in which nothing more happens although jobs are left.
var ErrStuck = errors.New("nothing more happens")

// stuckError describes the jobs that cannot finish. It is the first thing to read when a
// policy has a bug: what waits, and which jobs have the slots.
func (b *body) stuckError() error {
	var text strings.Builder
	for _, j := range b.submitted {
		if s := b.view.Job(j.id); s != nil && !s.State.Final() {
			b.describe(&text, j)
		}
	}
	text.WriteString("\nslots are occupied by")
	b.describeHolders(&text)
	return fmt.Errorf("sim: at %d ms %w, %d jobs have not finished:%s", b.time(), ErrStuck, b.unfinished, text.String())
}

// maxDescribed limits the attempts that an error lists.
const maxDescribed = 10

// describe writes what a job waits for.
func (b *body) describe(text *strings.Builder, j *job) {
	s := b.view.Job(j.id)
	fmt.Fprintf(text, "\n%s: %v", j.in.ID, s.State)
	for _, stage := range s.Stages {
		fmt.Fprintf(text, ", %s: %d waiting, %d running, %d of %d finished", stage.Name, stage.Waiting(), stage.Running-len(stage.Suspended()), stage.Finished, len(stage.Tasks))
		switch {
		case stage.Waiting() == 0:
		case !s.Ready(stage):
			text.WriteString(" (not ready: too few of its inputs have finished)")
		default:
			fmt.Fprintf(text, " (%d %v slots are free)", b.freeSlots(stage.Slot), stage.Slot)
		}
		for i, a := range stage.Suspended() {
			if i == maxDescribed {
				fmt.Fprintf(text, ", and %d more", len(stage.Suspended())-i)
				break
			}
			m := b.view.Machine(a.Machine)
			fmt.Fprintf(text, ", %v is suspended since %d ms and waits for one of the %d %v slots of %s (%d free)",
				a.ID, a.SuspendedAt-epoch, m.Slots[a.Slot], a.Slot, m.Name, m.Free(a.Slot))
		}
	}
}

// freeSlots returns the number of free slots of a kind.
func (b *body) freeSlots(kind cluster.Slot) (n int) {
	for m := range b.view.Machines() {
		n += max(m.Free(kind), 0)
	}
	return n
}

// describeHolders writes the slots that each job occupies.
func (b *body) describeHolders(text *strings.Builder) {
	none := true
	for _, j := range b.submitted {
		s := b.view.Job(j.id)
		if s == nil || s.Occupied == 0 {
			continue
		}
		var used cluster.Slots
		for m := range b.view.Machines() {
			for _, a := range m.Attempts {
				if a.ID.Task.Job == j.id && a.OccupiesSlot() {
					used[a.Slot]++
				}
			}
		}
		if !used.IsZero() {
			none = false
			fmt.Fprintf(text, " %s (%d map, %d reduce)", j.in.ID, used[0], used[1])
		}
	}
	if none {
		text.WriteString(" no job")
	}
}
