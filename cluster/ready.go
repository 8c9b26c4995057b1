package cluster

import "slices"

// ReadyAt returns the time since which enough of a stage's input is written for its tasks to
// start, whether the job is suspended or not; 0 while too little is written. Output that was
// lost and written again counts from the last time.
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

// availableAt returns the time since which enough of an upstream stage is finished for its
// readers to start, 0 while it is not. Readers that start early also need the upstream
// stage's own input to be complete.
func (j *Job) availableAt(up upstream) int64 {
	if up.whole {
		return j.completeAt(up.stage)
	}
	some, complete := up.stage.TasksFinishedAt(j.SlowStartTasks(up.stage), j.StartedAt), j.inputsCompleteAt(up.stage.Bundle)
	switch {
	case some == 0:
		return 0
	case complete == 0: // the input of the stage may have been lost since
		return j.completeAt(up.stage)
	}
	return max(some, complete)
}

// completeAt returns the time at which a stage became Complete; 0 if it is not.
func (j *Job) completeAt(s *Stage) int64 {
	at := j.StartedAt
	for _, mate := range s.Bundle.Stages {
		there := mate.TasksFinishedAt(len(mate.Tasks), j.StartedAt)
		if there == 0 {
			return 0
		}
		at = max(at, there)
	}
	return at
}

// inputsCompleteAt returns the time since which all input of bundles is written, 0 while it
// is not.
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

// TasksFinishedAt returns the time at which the given number of the stage's tasks had
// finished; 0 while fewer have finished. For zero tasks it returns beginning.
func (s *Stage) TasksFinishedAt(many int, beginning int64) int64 {
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
