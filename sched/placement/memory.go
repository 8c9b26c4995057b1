package placement

import (
	"fmt"
	"math"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// memory is the memory of the machines that a round can still give out. Tasks of both kinds
// of slots and of all jobs share it.
//
// A flow knows slots only. So as long as the free slots of every machine run out before its
// memory (isTight), the round places tasks by their slots, several stages together. The tasks
// of a stage for which memory is tight are placed by themselves: the slots of a machine for
// which it has no memory are hidden meanwhile, and the placement stays exact.
type memory struct {
	view    cluster.View
	takenMB map[string]int64 // by machine: memory of what the round has planned, MiB
	early   map[string]early // by machine: the part of takenMB that starts early
	running map[string]early // by machine: cluster.View.EarlyMemory, computed when it is needed
	blocked map[string]int   // by machine: reservations that keep its memory
	ample   map[int64]bool   // by need in MiB: memory is not tight for it; nil after something changed
}

// early describes tasks that wait in their slots for unfinished tasks.
type early struct {
	waitingMB int64 // memory that they take, MiB
	writerMB  int64 // most memory of a task that they wait for, MiB
}

// freeMB returns the memory that is left on a machine, in MiB.
func (k *memory) freeMB(m *cluster.Machine) int64 {
	if k.blocked[m.Name] > 0 {
		return 0
	}
	return k.view.FreeMemoryMB(m) - k.takenMB[m.Name]
}

// freeFor returns the memory of a machine that tasks of a stage may take, in MiB. Tasks that
// start early leave memory for the tasks that they wait for (cluster.View.EarlyMemory).
func (r *Round) freeFor(j *cluster.Job, s *cluster.Stage, m *cluster.Machine) int64 {
	return min(r.memory.freeMB(m), r.earlyLimit(j, s, m))
}

// earlyLimit returns how much more memory of a machine tasks may take that start early, in MiB.
// Tasks of other stages have no such limit.
func (r *Round) earlyLimit(j *cluster.Job, s *cluster.Stage, m *cluster.Machine) int64 {
	if !s.StartsEarly() || m.MemoryMB == 0 || m.Offered[cluster.MapSlot] == 0 {
		return math.MaxInt64
	}
	planned, running := r.memory.early[m.Name], r.memory.earlyOn(m)
	writerMB := max(running.writerMB, planned.writerMB, j.Spec.MemoryMB[cluster.MapSlot])
	return m.MemoryMB - writerMB - running.waitingMB - planned.waitingMB
}

// earlyOn returns what cluster.View.EarlyMemory returns for a machine. That visits all attempts
// on the machine, and each stage that starts early asks for all machines, so it is kept.
func (k *memory) earlyOn(m *cluster.Machine) early {
	e, known := k.running[m.Name]
	if !known {
		if k.running == nil {
			k.running = make(map[string]early)
		}
		e.waitingMB, e.writerMB = k.view.EarlyMemory(m)
		k.running[m.Name] = e
	}
	return e
}

// take counts the memory of a task as given out.
func (k *memory) take(machine string, j *cluster.Job, s *cluster.Stage) {
	if s.MemoryMB == 0 {
		return
	}
	if k.takenMB == nil {
		k.takenMB, k.early = make(map[string]int64), make(map[string]early)
	}
	k.takenMB[machine] += s.MemoryMB
	if s.StartsEarly() {
		e := k.early[machine]
		k.early[machine] = early{e.waitingMB + s.MemoryMB, max(e.writerMB, j.Spec.MemoryMB[cluster.MapSlot])}
	}
}

// block keeps the memory of machines for a reservation; n is -1 to end that.
func (k *memory) block(machines []string, n int) {
	if k.blocked == nil {
		k.blocked = make(map[string]int)
	}
	for _, name := range machines {
		k.blocked[name] += n
	}
	k.ample = nil
}

// isTight reports whether a machine has free slots for which it would have no memory if they
// all got tasks of the stage. If not, tasks with this need or less can be placed by their slots.
// Tasks that start early have less memory, so they are always examined.
func (r *Round) isTight(j *cluster.Job, s *cluster.Stage) bool {
	need, k := s.MemoryMB, &r.memory
	if need == 0 || !s.StartsEarly() && k.ample[need] {
		return false
	}
	short := func(m *cluster.Machine, free cluster.Slots) bool {
		return !free.IsZero() && r.freeFor(j, s, m) < int64(free.Total())*need
	}
	for _, a := range r.assigners {
		for _, m := range a.machines {
			if short(m, r.view.FreeSlots(m)) && short(m, r.freeOn(m)) { // freeOn is exact and slower
				k.ample = nil // what is placed now may take more than its share
				return true
			}
		}
	}
	if k.ample == nil {
		k.ample = make(map[int64]bool)
	}
	k.ample[need] = true
	return false
}

// hasMemory reports whether a machine has memory left for a task of the stage.
func (r *Round) hasMemory(m *cluster.Machine, j *cluster.Job, s *cluster.Stage) bool {
	return s.MemoryMB == 0 || s.MemoryMB <= r.freeFor(j, s, m)
}

// takeMemory counts the memory of a task that was placed without isTight as given out.
func (r *Round) takeMemory(machine string, j *cluster.Job, s *cluster.Stage) {
	r.memory.take(machine, j, s)
	r.memory.ample = nil
}

// freeCapacity returns what the tasks of a bundle may take of a machine. Nothing may wait to
// be placed.
func (r *Round) freeCapacity(j *cluster.Job, b *cluster.Bundle) func(*cluster.Machine) cluster.Capacity {
	return func(m *cluster.Machine) cluster.Capacity {
		return cluster.Capacity{Slots: r.freeOn(m), MemoryMB: r.freeFor(j, b.Stages[0], m)}
	}
}

// totalCapacity returns what a machine has, free or not.
func totalCapacity(m *cluster.Machine) cluster.Capacity {
	return cluster.Capacity{Slots: m.Slots, MemoryMB: m.TotalMemoryMB()}
}

// hide takes the slots for which a machine has no memory for tasks of the stage out of the
// free slots. It returns how many, by machine, for unhide.
func (a *assigner) hide(j *cluster.Job, s *cluster.Stage) (hidden []int) {
	hidden = make([]int, len(a.machines))
	for i, m := range a.machines {
		fitting := max(a.round.freeFor(j, s, m), 0) / s.MemoryMB
		hidden[i] = a.free[i] - int(min(int64(a.free[i]), fitting))
		a.free[i] -= hidden[i]
	}
	a.recount()
	return hidden
}

// unhide gives hidden slots back.
func (a *assigner) unhide(hidden []int) {
	for i, n := range hidden {
		a.free[i] += n
	}
	a.recount()
}

// offerTight places an offer for which memory is tight, by itself and at once. If no machine
// with free slots has memory for it, the memory of one machine is reserved for it. Without
// that, smaller tasks would take each bit of memory that comes free.
func (a *assigner) offerTight(j *cluster.Job, stage *cluster.Stage, most int, noWait bool) {
	a.round.flush()
	slots := a.available
	hidden := a.hide(j, stage)
	fits := a.available > 0
	a.offer(j, stage, most, noWait)
	a.flush()
	a.unhide(hidden)
	if slots > 0 && !fits {
		a.round.reserveMemory(j, stage)
	}
}

// reserveMemory keeps the memory of a machine for a stage: of those on which its tasks may
// start, the machine with the most memory left. Memory that comes free there stays free, so
// the next round chooses the same machine, until a task fits. Writers that running tasks wait
// for may take the memory, as with reserved slots.
func (r *Round) reserveMemory(j *cluster.Job, stage *cluster.Stage) {
	avoid := r.assigners[stage.Slot].avoided(j, stage)
	var best *cluster.Machine
	var mostMB int64 // left on best
	for m := range r.view.Machines() {
		possible := stage.Slots.FitsIn(m.Slots) && stage.MemoryMB <= m.TotalMemoryMB() && !slices.Contains(avoid, m.Name)
		if !possible || r.memory.blocked[m.Name] > 0 {
			continue
		}
		if mb := r.memory.freeMB(m); best == nil || mb > mostMB {
			best, mostMB = m, mb
		}
	}
	if best == nil {
		return
	}
	res := &reservation{memory: []string{best.Name}, exempt: sched.Writers(r.view, func(int) bool { return true })}
	res.exempt[stage] = true
	r.enforce(res)
}

// memoryReason returns why tasks of a stage do not start although slots are free: no machine
// with a free slot has memory for them. It returns "" if one has.
func (r *Round) memoryReason(j *cluster.Job, s *cluster.Stage) string {
	if s.MemoryMB == 0 {
		return ""
	}
	a := r.assigners[s.Slot]
	most, reserved, kept := int64(0), false, false
	for i, m := range a.machines {
		if a.free[i] == 0 {
			continue
		}
		if r.freeFor(j, s, m) >= s.MemoryMB {
			return ""
		}
		left := r.view.FreeMemoryMB(m) - r.memory.takenMB[m.Name]
		most, reserved = max(most, left), reserved || r.memory.blocked[m.Name] > 0
		kept = kept || left >= s.MemoryMB && r.earlyLimit(j, s, m) < s.MemoryMB
	}
	text := fmt.Sprintf("needs %d MiB of memory; machines with free slots have at most %d MiB left", s.MemoryMB, most)
	switch {
	case kept:
		text += ", and keep memory for the tasks whose output it reads"
	case reserved:
		text += ", and the memory of some is reserved"
	}
	return text
}
