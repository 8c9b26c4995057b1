package jobmaster

import (
	"fmt"

	"github.com/hammr/hammr/preempt"
)

// checkMode is why an attempt that runs cannot be preempted in a way, and which one to
// choose instead; nil when it can.
func (s runningAttempt) checkMode(how preempt.Mode) error {
	id := s.attempt.ID
	if s.stage.Bundle.Gang && how == preempt.Split {
		return fmt.Errorf("%v runs in a gang, whose tasks stream to each other: none of them can be split; choose checkpoint, suspend or kill, which take all of them", id)
	}
	switch how {
	case preempt.Split:
		return s.checkSplit()
	case preempt.Checkpoint:
		if s.stage.DisallowedModes.Has(preempt.Checkpoint) {
			return fmt.Errorf("%v writes no checkpoint: its job rules that out; choose suspend or kill", id)
		}
		if m := s.m.view.FirstFullDisk(s.m.view.GangOf(s.attempt)); m != nil {
			return fmt.Errorf("%v runs in a gang that has a task on %s, whose disks have no room for a checkpoint: make room there, or choose kill", id, m.Name)
		}
	case preempt.Suspend:
		return s.checkSuspend()
	case preempt.Kill:
		if s.stage.DisallowedModes.Has(preempt.Kill) {
			return fmt.Errorf("%v is not preempted by kill: its job rules that out; 'hammr task kill' ends it all the same", id)
		}
	default:
		return fmt.Errorf("%v cannot be preempted by %q; choose split, checkpoint, suspend, kill or auto", id, how)
	}
	return nil
}

func (s runningAttempt) checkSplit() error {
	id := s.attempt.ID
	split, _ := s.job.SplitOf(s.task)
	switch {
	case !s.task.Ranged:
		return fmt.Errorf("%v reads no split of the input: only maps can be split; choose checkpoint, suspend or kill", id)
	case split.Whole:
		return fmt.Errorf("%v reads input that cannot be read from the middle; choose checkpoint, suspend or kill", id)
	case !s.job.Splittable(s.stage), s.stage.DisallowedModes.Has(preempt.Split):
		return fmt.Errorf("%v cannot be split: its job rules that out, or others read what it writes as one; choose checkpoint, suspend or kill", id)
	}
	return nil
}

func (s runningAttempt) checkSuspend() error {
	if s.stage.DisallowedModes.Has(preempt.Suspend) {
		return fmt.Errorf("%v is not suspended: its job rules that out; choose split, checkpoint or kill", s.attempt.ID)
	}
	if m := s.m.view.FirstOverSuspended(s.m.view.GangOf(s.attempt), nil); m != nil {
		return fmt.Errorf("as many attempts stand still on %s as it has slots, and so memory, for; choose split, checkpoint or kill", m.Name)
	}
	return nil
}
