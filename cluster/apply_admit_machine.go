package cluster

import "fmt"

// AdmitMachine excludes a machine from new tasks, or admits it again. What it
// runs goes on, and its output is served.
type AdmitMachine struct {
	Name     string
	Excluded bool
}

func (c AdmitMachine) apply(tx *transition) error {
	m := tx.byName[c.Name]
	if m == nil {
		return fmt.Errorf("%w: machine %q", ErrUnknown, c.Name)
	}
	m.Excluded = c.Excluded
	tx.setSlots(m)
	tx.delta.Machines = append(tx.delta.Machines, c.Name)
	return nil
}

// Holds reports whether something would be lost with a machine that its jobs
// still need: attempts, output or checkpoints. It looks at every task of the
// jobs that run.
func (v View) Holds(m *Machine) bool {
	if len(m.Attempts) > 0 {
		return true
	}
	for j := range v.Jobs() {
		for _, stage := range j.Stages {
			if j.State == JobRunning && j.holds(stage, m.Name) {
				return true
			}
		}
	}
	return false
}

func (j *Job) holds(stage *Stage, machine string) bool {
	needed := j.needed(stage)
	for _, t := range stage.Tasks {
		switch {
		case needed && t.Winner != nil && t.Winner.Machine == machine:
			return true
		case t.Winner == nil && t.Checkpoint != nil && t.Checkpoint.Machine == machine:
			return true
		}
	}
	return false
}
