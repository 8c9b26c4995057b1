package sched

import (
	"errors"
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// Check reports everything in the plan that the state would refuse, or that gives something twice: a task or
// an attempt that occurs twice, starts of tasks that do not wait, and more slots or memory of a machine
// than are free. It is nil for a correct plan.
func (p Plan) Check(view View) error {
	c := planCheck{view: view, tasks: make(map[cluster.TaskID]bool), taken: make(map[string]cluster.Capacity)}
	for _, v := range p.Preempts {
		if _, _, a, known := view.Attempt(v.Attempt); !known || !a.Active() {
			c.refuse("preempts %v, which does not run", v.Attempt)
		} else if v.Mode != preempt.Wait {
			c.name(v.Attempt.Task)
		}
	}
	for id := range p.AllResumes() {
		_, _, a, known := view.Attempt(id)
		if !known || !a.Suspended() {
			c.refuse("resumes %v, which is not suspended", id)
			continue
		}
		_, stage, _, _ := view.Task(id.Task)
		c.name(id.Task)
		c.take(stage, a.Machine)
	}
	for s := range p.AllStarts() {
		j, stage, t, known := view.Task(s.Task)
		m := view.Machine(s.Machine)
		switch {
		case !known || j.State != cluster.JobRunning || !j.Ready(stage):
			c.refuse("starts %v, whose job or stage cannot run", s.Task)
		case t.State != cluster.TaskPending && t.State != cluster.TaskCheckpointed:
			c.refuse("starts %v, which is %v", s.Task, t.State)
		case m == nil || !m.TakesTasks():
			c.refuse("starts %v on %s, which takes no tasks", s.Task, s.Machine)
		default:
			c.name(s.Task)
			c.take(stage, s.Machine)
		}
	}
	return errors.Join(c.errs...)
}

// planCheck is what a plan has named and taken so far.
type planCheck struct {
	view  View
	tasks map[cluster.TaskID]bool
	taken map[string]cluster.Capacity // by machine
	errs  []error
}

func (c *planCheck) refuse(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("the plan "+format, args...))
}

func (c *planCheck) name(id cluster.TaskID) {
	if c.tasks[id] {
		c.refuse("names %v twice", id)
	}
	c.tasks[id] = true
}

// take takes the slots and the memory of one task.
func (c *planCheck) take(s *cluster.Stage, machine string) {
	c.taken[machine] = c.taken[machine].Plus(s.Takes())
	m := c.view.Machine(machine)
	free := cluster.Capacity{Slots: c.view.FreeSlots(m), MemoryMB: c.view.FreeMemoryMB(m)}
	if m.Excluded { // its suspended attempts may resume
		free.Slots = m.Offered.Minus(m.Used)
	}
	if !c.taken[machine].FitsIn(free) {
		c.refuse("takes %v slots and %d MiB of %s, which has %v and %d MiB free", c.taken[machine].Slots, c.taken[machine].MemoryMB, machine, free.Slots, free.MemoryMB)
	}
}
