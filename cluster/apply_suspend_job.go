package cluster

import "fmt"

// SuspendJob takes its slots from a job that is not over, and gives it none until
// ResumeJob. What runs keeps its work: it ends early or writes a checkpoint, or
// stands still where it can do neither; a gang does so whole. What bears none of this
// runs on until it ends by itself.
type SuspendJob struct {
	Job   JobID  `cbor:"Job"`
	Cause string `cbor:"Cause"` // for people: what its attempts make room for

	Split bool `cbor:"Split"` // maps finish what they have read, where that can be, instead of writing checkpoints
	Still bool `cbor:"Still"` // what runs stands still instead of ending, where that can be
}

func (c SuspendJob) apply(tx *transition) error {
	j, err := tx.job(c.Job)
	if err != nil {
		return err
	}
	switch {
	case j.State > JobRunning:
		return fmt.Errorf("%w: %v is %v", ErrRefused, c.Job, j.State)
	case j.Suspended:
		return fmt.Errorf("%w: %v is suspended already", ErrRefused, c.Job)
	}
	j.setSuspended(true)
	for p := range j.running() {
		tx.takeSlot(p, c.Cause, c.Split, c.Still)
	}
	tx.delta.Jobs = append(tx.delta.Jobs, c.Job)
	return nil
}

// setSuspended hides what waits in a job from those who give out slots, or shows it
// again.
func (j *Job) setSuspended(on bool) {
	j.Suspended = on
	for _, s := range j.Stages {
		s.jobSuspended = on
	}
}

// running yields the attempts of a job that run, those that stand still too.
func (j *Job) running() func(yield func(taskRef) bool) {
	return func(yield func(taskRef) bool) {
		for _, s := range j.Stages {
			for _, t := range s.Tasks {
				for _, a := range t.Attempts {
					if a.State == AttemptRunning && !yield(taskRef{j, s, t, a}) {
						return
					}
				}
			}
		}
	}
}

// takeSlot takes its slot from an attempt that runs in the first way that it knows
// and that keeps its work. One that knows none runs on.
func (tx *transition) takeSlot(p taskRef, cause string, split, still bool) {
	id := p.attempt.ID
	ways := []Command{PauseAttempt{Attempt: id, Cause: cause}, SuspendAttempt{Attempt: id, Cause: cause}}
	if split && p.canSplit() {
		ways = append([]Command{PauseAttempt{Attempt: id, Cause: cause, Split: true}}, ways...)
	}
	if still {
		ways[0], ways[len(ways)-1] = ways[len(ways)-1], ways[0]
	}
	for _, way := range ways {
		if way.apply(tx) == nil {
			return
		}
	}
}

// canSplit reports whether an attempt reads a range that can be cut.
func (p taskRef) canSplit() bool {
	return p.task.Ranged && p.job.Splittable(p.stage) && !p.task.outputWasRead()
}
