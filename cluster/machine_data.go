package cluster

import "slices"

// dataIndex lists the tasks whose output or checkpoint may lie on a machine, so that a drain
// does not visit every task of every job. Snapshots do not have it; index computes it.
//
// Invariant: a task of an unfinished job whose winner or checkpoint names the machine is in
// the list. Tasks that left the machine stay in the list until it has doubled, so an entry
// costs constant time on average. A task may be in it twice.
type dataIndex struct {
	tasks []TaskID
	limit int // length at which the list is compacted
}

// minDataLimit keeps short lists from being compacted often.
const minDataLimit = 64

// indexData notes that the output or the checkpoint of a task lies on a machine.
func (s *State) indexData(machine string, t *Task) {
	m := s.byName[machine]
	if m == nil {
		return
	}
	if len(m.data.tasks) >= max(m.data.limit, minDataLimit) {
		m.data.tasks = slices.Clip(s.dataOn(m))
		m.data.limit = 2 * len(m.data.tasks)
	}
	m.data.tasks = append(m.data.tasks, t.ID)
}

// dataOn returns the tasks of unfinished jobs that have data on a machine, ascending.
func (s *State) dataOn(m *Machine) []TaskID {
	var ids []TaskID
	for _, id := range m.data.tasks {
		if p, err := s.task(id); err == nil && !p.job.State.Final() && p.task.hasDataOn(m.Name) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, TaskID.Compare)
	return slices.Compact(ids)
}

// hasDataOn reports whether the output or a checkpoint of a task lies on a machine, even if
// the machine is lost.
func (t *Task) hasDataOn(machine string) bool {
	if t.Winner != nil && t.Winner.DataMachine() == machine {
		return true
	}
	return t.Checkpoint.isOn(machine) || t.ConsistentCheckpoint.isOn(machine)
}

func (c *Checkpoint) isOn(machine string) bool { return c != nil && c.Machine == machine }

// NeededCheckpoint is a checkpoint from which a task may resume.
type NeededCheckpoint struct {
	*Task
	Writer AttemptID // the attempt that wrote it
}

// NeededOn returns the tasks whose output lies on a machine and is needed, and the needed
// checkpoints that no other machine has. Draining waits until both are empty. It visits the
// tasks that have data on the machine.
func (v View) NeededOn(m *Machine) (outputs []*Task, checkpoints []NeededCheckpoint) {
	for _, id := range v.s.dataOn(m) {
		p, _ := v.s.task(id) // dataOn has found it
		if p.job.State != JobRunning {
			continue
		}
		t := p.task
		if t.Winner != nil && !t.Winner.Lost() && t.Winner.DataMachine() == m.Name && !p.stage.Stored && p.job.isNeeded(p.stage) {
			outputs = append(outputs, t)
		}
		for _, c := range []*Checkpoint{t.Checkpoint, t.ConsistentCheckpoint} {
			if c.isOn(m.Name) && c.Copy == nil {
				checkpoints = append(checkpoints, NeededCheckpoint{t, c.Attempt})
			}
		}
	}
	return outputs, checkpoints
}

// IsReferenced reports whether an unfinished job refers to a machine: by an attempt on it,
// by output, needed or not, or by a checkpoint. No job refers to a lost machine again before
// the machine joins.
func (v View) IsReferenced(m *Machine) bool {
	return len(m.Attempts) > 0 || slices.ContainsFunc(m.data.tasks, func(id TaskID) bool {
		p, err := v.s.task(id)
		return err == nil && !p.job.State.Final() && p.task.hasDataOn(m.Name)
	})
}
