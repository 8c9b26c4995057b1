package tasknode

import (
	"context"
	"slices"
	"strings"
)

// Attempt is an attempt on this machine that has not ended.
type Attempt struct {
	ID, User string
	MemoryMB int64 // its limit, in MiB
}

// Running returns the slots that the machine offers, and the attempts that have not ended, sorted by
// id. It waits for the loop.
func (d *Daemon) Running(ctx context.Context) (slots int32, attempts []Attempt, err error) {
	answered := make(chan struct{})
	d.inbox.Put(func() {
		defer close(answered)
		offered := d.slots()
		slots = offered[0] + offered[1]
		for id, a := range d.attempts {
			attempts = append(attempts, Attempt{id, a.start.User, a.limits.MemoryMB})
		}
	})
	select {
	case <-answered:
		slices.SortFunc(attempts, func(a, b Attempt) int { return strings.Compare(a.ID, b.ID) })
		return slots, attempts, nil
	case <-ctx.Done():
		return 0, nil, context.Cause(ctx)
	}
}
