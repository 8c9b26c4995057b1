package cluster

import "slices"

// ReadyAt is since when enough of what a stage reads is there for its tasks to
// start, whatever the job's suspensions; 0 while it is not. What was lost and made
// again is there since the last time.
func (j *Job) ReadyAt(s *Stage) int64 {
	at := j.StartedAt
	for _, up := range s.upstream {
		there := j.availableAt(up)
		if there == 0 {
			return 0
		}
		at = max(at, there)
	}
	return at
}

// availableAt is since when enough of an upstream stage is finished for those that read it to
// start, 0 while it is not. For those that start early, its own tasks can run since then.
func (j *Job) availableAt(up upstream) int64 {
	if up.whole {
		return j.completeAt(up.stage)
	}
	some, fed := up.stage.finishedAt(j.SlowStartTasks(up.stage), j.StartedAt), j.inputsCompleteAt(up.stage.Bundle)
	switch {
	case some == 0:
		return 0
	case fed == 0: // what it has read may be lost since
		return j.completeAt(up.stage)
	}
	return max(some, fed)
}

// completeAt is since when a stage is Complete, 0 while it is not.
func (j *Job) completeAt(s *Stage) int64 {
	at := j.StartedAt
	for _, mate := range s.Bundle.Stages {
		there := mate.finishedAt(len(mate.Tasks), j.StartedAt)
		if there == 0 {
			return 0
		}
		at = max(at, there)
	}
	return at
}

// inputsCompleteAt is since when all that the tasks of bundles read is written, 0 while it is not.
func (j *Job) inputsCompleteAt(b *Bundle) int64 {
	at := j.StartedAt
	for _, s := range b.Stages {
		for _, up := range s.upstream {
			there := j.completeAt(up.stage)
			if there == 0 {
				return 0
			}
			at = max(at, there)
		}
	}
	return at
}

// finishedAt is when so many of the stage's tasks had finished, 0 while they have
// not; none have from the beginning on.
func (s *Stage) finishedAt(many int, beginning int64) int64 {
	switch {
	case many == 0:
		return beginning
	case many > s.Finished:
		return 0
	}
	var ends []int64
	for _, t := range s.Tasks {
		if t.Winner != nil {
			ends = append(ends, t.Winner.EndedAt)
		}
	}
	slices.Sort(ends)
	return ends[many-1]
}
