package cluster

import (
	"errors"
	"fmt"

	"github.com/hammr/hammr/preempt"
)

// SubmitJob adds a job, in state Prep.
type SubmitJob struct {
	Spec JobSpec `cbor:"Spec"`
}

func (c SubmitJob) subject() any { return nil }

func (c SubmitJob) apply(tx *transition, _ taskRef) error {
	if c.Spec.Pool == "" {
		c.Spec.Pool = DefaultPool
	}
	if err := tx.checkLimits(c.Spec); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if err := errors.Join(c.Spec.validate(), tx.checkPool(c.Spec.Pool), tx.checkOutputDir(c.Spec)); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	j := &Job{
		ID:          JobID{Cluster: tx.ID, Number: tx.Submitted + 1},
		Spec:        c.Spec,
		SubmittedAt: tx.at,
	}
	j.makeStages()
	tx.jobs, tx.Submitted = append(tx.jobs, j), j.ID.Number
	tx.touched = j
	for i, stage := range j.Stages {
		first := -1
		if stage.Source && stage.StartsAlone() {
			first = j.firstSplit(stage.Nodes[0])
		}
		for n := range j.Layout.Groups[i].Count {
			t := &Task{Split: -1, Part: n}
			if first >= 0 {
				t.Split = first + n
			}
			tx.addTask(j, stage, t)
		}
	}
	tx.setJobState(j, JobPrep)
	tx.delta.Submitted = j.ID
	return nil
}

// validate reports every fault of a submission that the state cannot handle. The jobmaster
// has checked the submission before; a log of an older version may contain others.
func (s JobSpec) validate() error {
	errs := []error{s.Graph.Validate()}
	for kind, n := range s.MaxAttempts {
		if n < 1 {
			errs = append(errs, fmt.Errorf("cluster: %d attempts allowed for a %v task", n, Slot(kind)))
		}
	}
	for kind, mb := range s.MemoryMB {
		if mb < 0 || mb > maxMemoryMB {
			errs = append(errs, fmt.Errorf("cluster: memory of %d MiB for a %v task", mb, Slot(kind)))
		}
	}
	if s.SlowStartPPM < 0 || s.SlowStartPPM > 1_000_000 {
		errs = append(errs, fmt.Errorf("cluster: slow start of %d millionths", s.SlowStartPPM))
	}
	if s.SkipRecords < 0 || s.TimeoutMillis < 0 {
		errs = append(errs, errors.New("cluster: negative limit"))
	}
	if len(s.DisallowedModes) > len(s.Graph.Stages) {
		errs = append(errs, fmt.Errorf("cluster: preemption modes disallowed for %d stages of a graph of %d", len(s.DisallowedModes), len(s.Graph.Stages)))
	}
	if s.MaxCounters < 0 || s.MaxCounterGroups < 0 {
		errs = append(errs, fmt.Errorf("cluster: %d counters in %d groups allowed", s.MaxCounters, s.MaxCounterGroups))
	}
	for i, modes := range s.DisallowedModes {
		if modes&^preempt.AllModes != 0 {
			errs = append(errs, fmt.Errorf("cluster: preemption modes %#x disallowed for stage %d: unknown", uint8(modes), i))
		}
	}
	return errors.Join(errs...)
}
