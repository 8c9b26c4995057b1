package cluster

import (
	"errors"
	"fmt"
)

// SubmitJob adds a job, in state Prep.
type SubmitJob struct{ Spec JobSpec }

func (c SubmitJob) apply(tx *transition) error {
	if c.Spec.Pool == "" {
		c.Spec.Pool = DefaultPool
	}
	if err := errors.Join(c.Spec.validate(), tx.checkPool(c.Spec.Pool)); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	j := &Job{
		ID:          JobID{Cluster: tx.id, Number: len(tx.jobs) + 1},
		Spec:        c.Spec,
		Stages:      newStages(c.Spec.Graph),
		SubmittedAt: tx.at,
	}
	tx.jobs = append(tx.jobs, j)
	split := 0
	for i, stage := range j.Stages {
		for n := range c.Spec.Graph.Stages[i].Nodes {
			t := &Task{Split: -1, Part: n}
			if stage.Source {
				t.Split, split = split, split+1
			}
			tx.addTask(j, stage, t)
		}
	}
	tx.setJobState(j, JobPrep)
	tx.delta.Submitted = j.ID
	return nil
}

func (s JobSpec) validate() error {
	faults := []error{s.Graph.Validate()}
	for kind, n := range s.MaxAttempts {
		if n < 1 {
			faults = append(faults, fmt.Errorf("cluster: %d attempts allowed for a %v task", n, Slot(kind)))
		}
	}
	if s.SlowStartPPM < 0 || s.SlowStartPPM > 1_000_000 {
		faults = append(faults, fmt.Errorf("cluster: slow start of %d millionths", s.SlowStartPPM))
	}
	if s.SkipRecords < 0 || s.TimeoutMillis < 0 {
		faults = append(faults, errors.New("cluster: negative limit"))
	}
	return errors.Join(faults...)
}
