package sim

import "github.com/hammr/hammr/cluster"

// pollEvery is how often it is looked how far the reduces of a job are for which
// failures wait, in ms.
const pollEvery = 100

// fireFailures lets machines fail for which a job has come far enough.
func (b *body) fireFailures(j *job) {
	if len(j.failures) == 0 {
		return
	}
	var wait []Failure
	for _, f := range j.failures {
		if !b.reached(j, f) {
			wait = append(wait, f)
			continue
		}
		b.queue.plan(b.now+f.At, func() { b.failMachine(b.machines[f.Machine], f.BackAfter, false) })
	}
	j.failures = wait
	b.pollReduces(j)
}

// pollReduces looks again soon while reduces run: they get further without telling.
func (b *body) pollReduces(j *job) {
	stages := b.view.Job(j.id).Stages
	if j.polling || j.ended || len(j.failures) == 0 || len(stages) < 2 || stages[1].StartedAt == 0 {
		return
	}
	j.polling = true
	b.queue.plan(b.now+pollEvery, func() {
		j.polling = false
		b.fireFailures(j)
	})
}

// reached reports whether a job is as far as a failure waits for.
func (b *body) reached(j *job, f Failure) bool {
	stage := b.view.Job(j.id).Stages[0]
	if f.Phase == "map" {
		return stage.StartedAt > 0 && float64(stage.Finished)*100 >= f.Percent*float64(len(stage.Tasks))
	}
	stage = b.view.Job(j.id).Stages[1]
	done, all := b.reduceProgress(j, stage)
	return stage.StartedAt > 0 && float64(done)*100 >= f.Percent*float64(all)
}

// reduceProgress is how much of the work of its reduces a job has done, and how much that
// is in all, in ms; a task without any counts as one.
func (b *body) reduceProgress(j *job, stage *cluster.Stage) (done, all int64) {
	for n, t := range stage.Tasks {
		own := max(j.in.Reduces[n].Millis, 1)
		all += own
		switch t.State {
		case cluster.TaskSucceeded:
			done += own
		case cluster.TaskCheckpointed:
			done += j.checkpoints[t.ID].done
		case cluster.TaskRunning:
			if a := b.attempts[t.Attempts[len(t.Attempts)-1].ID]; a != nil {
				done += min(a.taskWorkDoneAt(b.now), own)
			}
		}
	}
	return done, all
}
