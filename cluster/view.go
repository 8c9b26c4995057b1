package cluster

import (
	"errors"
	"iter"
	"slices"
)

// View is read access to a State. It always shows the present state, even if the View was
// made earlier. Callers must not change the results of its methods. A result is valid until
// the next Apply.
type View struct {
	s       *State
	visit   func(j *Job) bool   // see Visiting; nil for none
	freeing map[string]Capacity // see Freeing; nil for none
	freesAt int64               // when freeing comes free, ms since the epoch
}

// View returns a view of the state.
func (s *State) View() View { return View{s: s} }

// Visiting returns a view whose Jobs calls visit with each job, and yields the job if the
// result is true. At its end, Jobs calls visit with nil.
func (v View) Visiting(visit func(j *Job) bool) View {
	v.visit = visit
	return v
}

// Freeing returns a view in which machines have more free capacity than in the state, by name of
// machine. It is the capacity of attempts whose ends precede, in the log, what the caller
// proposes. FreeSlots, FreeSince, FreeMemoryMB and MachinesWithFree include it; methods and fields
// of Machine do not.
func (v View) Freeing(now int64, capacity map[string]Capacity) View {
	v.freeing, v.freesAt = capacity, now
	return v
}

// IsFreeing reports whether the view has capacity of Freeing. The attempts that free it still run in
// the state.
func (v View) IsFreeing() bool { return len(v.freeing) > 0 }

// FreeSlots returns the slots of a machine that can be given out.
func (v View) FreeSlots(m *Machine) Slots {
	return m.Slots.Minus(m.Used).Plus(v.freeing[m.Name].Slots).AtLeast(Slots{})
}

// FreeSince returns when the number of slots of a kind that can be given out on a machine last
// rose above 0, ms since the epoch. The result means nothing while there is none.
func (v View) FreeSince(m *Machine, kind Slot) int64 {
	if m.Free(kind) <= 0 && v.freeing[m.Name].Slots[kind] > 0 {
		return v.freesAt
	}
	return m.FreeSince[kind]
}

// FreeMemoryMB returns the memory of a machine that can be given out, in MiB.
func (v View) FreeMemoryMB(m *Machine) int64 { return m.FreeMemoryMB() + v.freeing[m.Name].MemoryMB }

// Cluster returns the id of the cluster, the middle of all ids.
func (v View) Cluster() string { return v.s.ID }

// Restores returns how often the state was restored from a backup.
func (v View) Restores() int { return v.s.Restores }

// Job returns the job with the given id, nil for none.
func (v View) Job(id JobID) *Job {
	j, _ := v.s.job(id)
	return j
}

// Retired reports whether a job existed and is retired.
func (v View) Retired(id JobID) bool {
	_, err := v.s.job(id)
	return errors.Is(err, ErrRetired)
}

// Jobs yields all jobs that are not retired, in the order of their submission.
func (v View) Jobs() iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		for _, j := range v.s.jobs {
			if v.visit != nil && !v.visit(j) {
				continue
			}
			if !yield(j) {
				break
			}
		}
		if v.visit != nil {
			v.visit(nil)
		}
	}
}

// Task returns the task with the given id, and its job and stage; ok is false if there is
// none.
func (v View) Task(id TaskID) (j *Job, s *Stage, t *Task, ok bool) {
	p, err := v.s.task(id)
	return p.job, p.stage, p.task, err == nil
}

// Attempt returns the attempt with the given id, and its job and task; ok is false if there
// is none.
func (v View) Attempt(id AttemptID) (j *Job, t *Task, a *Attempt, ok bool) {
	p, err := v.s.attempt(id)
	return p.job, p.task, p.attempt, err == nil
}

// Machine returns the machine of that name, nil for none.
func (v View) Machine(name string) *Machine { return v.s.byName[name] }

// Machines yields all machines in the order of their first joining.
func (v View) Machines() iter.Seq[*Machine] {
	return func(yield func(*Machine) bool) {
		for _, m := range v.s.Machines {
			if !yield(m) {
				return
			}
		}
	}
}

// MachinesWithFree yields the machines that have a free slot of a kind, in the
// order of their first joining.
func (v View) MachinesWithFree(kind Slot) iter.Seq[*Machine] {
	free := v.s.free[kind]
	if len(v.freeing) > 0 {
		free.words = slices.Clone(free.words)
		for name := range v.freeing {
			if m := v.s.byName[name]; m != nil && v.FreeSlots(m)[kind] > 0 {
				free.add(m.index)
			}
		}
	}
	return func(yield func(*Machine) bool) {
		for i := range free.all() {
			if !yield(v.s.Machines[i]) {
				return
			}
		}
	}
}

// Pools returns the names of the pools that jobs may be put into, ascending.
func (v View) Pools() []string { return v.s.Pools }

// IsNew reports whether no machine is known and no job was ever submitted.
func (v View) IsNew() bool { return v.s.Submitted == 0 && len(v.s.Machines) == 0 }

// Policy returns the name of the scheduling policy.
func (v View) Policy() string { return v.s.Policy }

// PolicyConf returns the settings of the scheduling policy, by name, ascending.
func (v View) PolicyConf() []Setting { return v.s.PolicyConf }
