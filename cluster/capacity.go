package cluster

import (
	"fmt"
	"math"
)

// Capacity is a quantity of slots and of memory: what a task takes, or what a machine has.
//
// A task takes the memory of its limit (mapreduce.map.memory.mb, mapreduce.reduce.memory.mb)
// for as long as it occupies its slots, as in YARN. A suspended attempt gives up its memory
// together with its slots: its pages can be swapped out, and package preempt checks that the
// machine has the memory headroom for it.
type Capacity struct {
	Slots    Slots
	MemoryMB int64 // MiB
}

// unboundedMB is the free memory of a machine whose tasknode offers no particular amount, in
// MiB. It is large enough for any tasks, and sums of it do not overflow.
const unboundedMB = math.MaxInt64 / 4

// maxMemoryMB bounds the memory of a task or a machine, in MiB, so that sums do not overflow.
const maxMemoryMB = 1 << 40

// FitsIn reports whether the free capacity includes c. If c needs no slot of a kind or no
// memory, the free amount of it may even be negative.
func (c Capacity) FitsIn(free Capacity) bool {
	return c.Slots.FitsIn(free.Slots) && (c.MemoryMB == 0 || c.MemoryMB <= free.MemoryMB)
}

// Plus returns the sum of both.
func (c Capacity) Plus(d Capacity) Capacity {
	return Capacity{c.Slots.Plus(d.Slots), c.MemoryMB + d.MemoryMB}
}

// Minus returns the difference.
func (c Capacity) Minus(d Capacity) Capacity {
	return Capacity{c.Slots.Minus(d.Slots), c.MemoryMB - d.MemoryMB}
}

// Takes returns what each task of the stage takes of its machine.
func (s *Stage) Takes() Capacity { return Capacity{s.Slots, s.MemoryMB} }

// FreeCapacity returns what can be given out on the machine.
func (m *Machine) FreeCapacity() Capacity { return Capacity{m.FreeSlots(), m.FreeMemoryMB()} }

// FreeMemoryMB returns the memory that tasks do not take, in MiB. It is negative while
// attempts resume in order to move, and while more is taken than a restarted tasknode offers.
func (m *Machine) FreeMemoryMB() int64 { return m.TotalMemoryMB() - m.UsedMemoryMB }

// TotalMemoryMB returns the memory that all tasks of the machine may take together, in MiB.
func (m *Machine) TotalMemoryMB() int64 {
	if m.MemoryMB == 0 {
		return unboundedMB
	}
	return m.MemoryMB
}

// take adds what n tasks of the stage take to what is used on the machine; a negative n gives
// it back.
func (m *Machine) take(s *Stage, n int) {
	m.Used = m.Used.Plus(s.Slots.Times(n))
	m.UsedMemoryMB += int64(n) * s.MemoryMB
}

// HasMemory reports whether the machine has memory for one more task of the stage.
func (m *Machine) HasMemory(s *Stage) bool { return s.MemoryMB == 0 || s.MemoryMB <= m.FreeMemoryMB() }

// StartsEarly reports whether tasks of the stage that start now wait in their slots for tasks
// that have not finished.
func (s *Stage) StartsEarly() bool { return !s.Bundle.InputsComplete() }

// EarlyMemory returns the memory of attempts on the machine that wait in their slots for
// unfinished tasks, and the most memory that one of these tasks takes, in MiB.
//
// Attempts that wait must leave memory for the tasks that they wait for. Otherwise all
// memory could be taken by reduces whose maps find none: a deadlock. These tasks take map
// slots (see Job.Ready), so only machines with map slots matter.
func (v View) EarlyMemory(m *Machine) (waitingMB, writerMB int64) {
	for _, a := range m.Attempts {
		if p, err := v.s.attempt(a.ID); err == nil && a.OccupiesSlot() && p.stage.StartsEarly() {
			waitingMB += p.stage.MemoryMB
			writerMB = max(writerMB, p.job.Spec.MemoryMB[MapSlot])
		}
	}
	return waitingMB, writerMB
}

// checkFree returns why the free capacity of a machine does not include a task of the stage,
// in addition to what is taken already; nil if it does. Slots are the slots of the machine
// that the task may use.
func (m *Machine) checkFree(s *Stage, slots Slots, taken Capacity) error {
	free := Capacity{slots.Minus(m.Used), m.FreeMemoryMB()}.Minus(taken)
	switch {
	case !s.Slots.FitsIn(free.Slots):
		return fmt.Errorf("%w: no free %v slot on %s", ErrRefused, s.Slot, m.Name)
	case !s.Takes().FitsIn(free):
		return fmt.Errorf("%w: a %s task needs %d MiB, and %s has %d of %d MiB left", ErrRefused, s.Name, s.MemoryMB, m.Name, free.MemoryMB, m.MemoryMB)
	}
	return nil
}
