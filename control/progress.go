package control

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// softFacts is what machines tell that no log keeps: a new leader hears of it anew.
// It implements sched.Facts, sched.Rooms and Fetches.
type softFacts struct {
	progress
	fetches
	rooms rooms
}

func newSoftFacts() softFacts {
	return softFacts{make(progress), make(fetches), make(rooms)}
}

// Room implements sched.Rooms.
func (s softFacts) Room(machine string) (preempt.Room, bool) {
	r, ok := s.rooms[machine]
	return r, ok
}

// rooms is the memory that machines have for more, by name.
type rooms map[string]preempt.Room

// progress is how far running attempts are.
type progress map[cluster.AttemptID]sched.Progress

// told takes over what an attempt with a slot says; a negative fraction is none. One that has
// come nowhere yet is known all the same: a task of a single long record is so to
// its end, and may be preempted.
func (p progress) told(now int64, kind cluster.Slot, ev AttemptProgressed) {
	if !(ev.Fraction >= 0) {
		return
	}
	since := p[ev.Attempt].Reducing
	if since == 0 && kind == cluster.ReduceSlot && ev.Fraction > sched.ReducesFrom {
		since = now
	}
	p[ev.Attempt] = sched.Progress{
		At: now, Fraction: min(ev.Fraction, 1), Reducing: since, Memory: max(ev.Memory, 0), Unwritten: max(ev.Unwritten, 0),
	}
}

func (p progress) forget(id cluster.AttemptID) { delete(p, id) }

// Progress implements sched.Facts.
func (p progress) Progress(id cluster.AttemptID) (sched.Progress, bool) {
	known, ok := p[id]
	return known, ok
}
