package sim

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hammr/hammr/cluster"
)

// watch looks whether a job wants slots and has none, and for how long.
func (b *body) watch(j *job) {
	if b.cfg.Starve == 0 || j.id == (cluster.JobID{}) {
		return
	}
	hungry := b.hungry(b.view.Job(j.id))
	if hungry == (j.hungry > 0) {
		return
	}
	if j.hungry = 0; !hungry {
		return
	}
	j.hungry = b.now
	b.queue.plan(b.now+b.cfg.Starve+1, func() {
		if j.hungry > 0 && b.now-j.hungry > b.cfg.Starve && b.fault == nil {
			b.fault = b.starved(j)
		}
	})
}

// hungry reports whether tasks of a job could go on, and none of them has a slot.
func (b *body) hungry(j *cluster.Job) bool {
	wants, standing := false, 0
	for _, stage := range j.Stages {
		wants = wants || stage.Waiting() > 0 && j.Ready(stage) || len(stage.Suspended()) > 0
		standing += len(stage.Suspended())
	}
	return wants && j.Occupied == standing
}

// starved tells of a job that gets no slots.
func (b *body) starved(j *job) error {
	var text strings.Builder
	fmt.Fprintf(&text, "sim: at %d ms job %s has had no slot since %d ms, and wants some", b.time(), j.in.ID, j.hungry-epoch)
	b.describe(&text, j)
	text.WriteString("\nthe slots are held by")
	b.describeHolders(&text)
	return fmt.Errorf("%s", text.String())
}

// ErrStuck is why a run ends whose jobs will never be over.
var ErrStuck = errors.New("nothing more happens")

// stuck tells of jobs that will never end.
func (b *body) stuck() error {
	var text strings.Builder
	for _, j := range b.order {
		if s := b.view.Job(j.id); s != nil && !s.State.Final() {
			b.describe(&text, j)
		}
	}
	text.WriteString("\nthe slots are held by")
	b.describeHolders(&text)
	return fmt.Errorf("sim: at %d ms %w, and %d jobs are not over:%s", b.time(), ErrStuck, b.left, text.String())
}

// maxTold is how many attempts or machines are told of one by one.
const maxTold = 10

// describe tells what a job waits for.
func (b *body) describe(text *strings.Builder, j *job) {
	s := b.view.Job(j.id)
	fmt.Fprintf(text, "\n%s: %v", j.in.ID, s.State)
	for _, stage := range s.Stages {
		fmt.Fprintf(text, ", %s: %d wait, %d run, %d of %d finished", stage.Name, stage.Waiting(), stage.Running-len(stage.Suspended()), stage.Finished, len(stage.Tasks))
		switch {
		case stage.Waiting() == 0:
		case !s.Ready(stage):
			text.WriteString(" (not ready: too few of what it reads have finished)")
		default:
			fmt.Fprintf(text, " (%d %v slots are free)", b.free(stage.Slot), stage.Slot)
		}
		for i, a := range stage.Suspended() {
			if i == maxTold {
				fmt.Fprintf(text, ", and %d more", len(stage.Suspended())-i)
				break
			}
			m := b.view.Machine(a.Machine)
			fmt.Fprintf(text, ", %v stands since %d ms and waits for one of the %d %v slots of %s (%d free)",
				a.ID, a.SuspendedAt-epoch, m.Slots[a.Slot], a.Slot, m.Name, m.Free(a.Slot))
		}
	}
}

// free is how many slots of a kind could be given out.
func (b *body) free(kind cluster.Slot) (n int) {
	for m := range b.view.Machines() {
		n += max(m.Free(kind), 0)
	}
	return n
}

// describeHolders tells which jobs have how many slots, those with the most first.
func (b *body) describeHolders(text *strings.Builder) {
	none := true
	for _, j := range b.order {
		s := b.view.Job(j.id)
		if s == nil || s.Occupied == 0 {
			continue
		}
		var held [2]int
		for m := range b.view.Machines() {
			for _, a := range m.Attempts {
				if a.ID.Task.Job == j.id && a.HoldsSlot() {
					held[a.Slot]++
				}
			}
		}
		if held != [2]int{} {
			none = false
			fmt.Fprintf(text, " %s (%d map, %d reduce)", j.in.ID, held[0], held[1])
		}
	}
	if none {
		text.WriteString(" nobody")
	}
}
