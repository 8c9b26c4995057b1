package sim

import "github.com/hammr/hammr/cluster"

// pollEvery is how often it is looked how far the reduces of a job are for which
// failures wait, in ms.
const pollEvery = 100

// trigger lets machines fail for which a job has come far enough.
func (b *body) trigger(j *job) {
	if len(j.failures) == 0 {
		return
	}
	var wait []Failure
	for _, f := range j.failures {
		if !b.reached(j, f) {
			wait = append(wait, f)
			continue
		}
		b.queue.plan(b.now+f.At, func() { b.fail(b.machines[f.Node], f.Back, false) })
	}
	j.failures = wait
	b.poll(j)
}

// poll looks again soon while reduces run: they get further without telling.
func (b *body) poll(j *job) {
	stages := b.view.Job(j.id).Stages
	if j.polled || j.over || len(j.failures) == 0 || len(stages) < 2 || stages[1].StartedAt == 0 {
		return
	}
	j.polled = true
	b.queue.plan(b.now+pollEvery, func() {
		j.polled = false
		b.trigger(j)
	})
}

// reached reports whether a job is as far as a failure waits for.
func (b *body) reached(j *job, f Failure) bool {
	stage := b.view.Job(j.id).Stages[0]
	if f.Phase == "map" {
		return stage.StartedAt > 0 && float64(stage.Finished)*100 >= f.Percent*float64(len(stage.Tasks))
	}
	stage = b.view.Job(j.id).Stages[1]
	done, all := b.reduced(j, stage)
	return stage.StartedAt > 0 && float64(done)*100 >= f.Percent*float64(all)
}

// reduced is how much of the work of its reduces a job has done, and how much that
// is in all, in ms; a task without any counts as one.
func (b *body) reduced(j *job, stage *cluster.Stage) (done, all int64) {
	for n, t := range stage.Tasks {
		own := max(j.in.Reduces[n].Millis, 1)
		all += own
		switch t.State {
		case cluster.TaskSucceeded:
			done += own
		case cluster.TaskPaused:
			done += j.saved[t.ID].done
		case cluster.TaskRunning:
			if a := b.attempts[t.Attempts[len(t.Attempts)-1].ID]; a != nil {
				done += min(a.doneAt(b.now), own)
			}
		}
	}
	return done, all
}
