package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/kit/validate"
	"github.com/hammr/hammr/sim/workload"
)

// Failure is the loss of a machine, at a time or when a job has made some progress. For
// maps, Percent is the percentage of finished maps. For reduces, it is the percentage of
// their work without the shuffle. At 0 % the failure happens at the start of the first task.
// If the job never gets that far, the machine does not fail.
type Failure struct {
	Machine   int   // number of the machine, from 0
	At        int64 // ms since the start of the run; with Job, since the job's progress was reached
	BackAfter int64 // ms until the machine is back, without data; 0 for never

	Job     string  // id in the workload, "" for none
	Phase   string  // "map" or "reduce"; with Job only
	Percent float64 // 0 to 100; with Job only
}

func (f Failure) String() string {
	if f.Job == "" {
		return fmt.Sprintf("failure of machine %s at %d ms for %d ms", MachineName(f.Machine), f.At, f.BackAfter)
	}
	return fmt.Sprintf("failure of machine %s at %v %% of phase %q of job %q", MachineName(f.Machine), f.Percent, f.Phase, f.Job)
}

// validate checks a failure for a cluster of the given number of machines.
func (f Failure) validate(nodes int) error {
	timed := f.Job == ""
	return errors.Join(
		validate.That(f.Machine >= 0 && f.Machine < nodes, "sim: %v: there are machines %s to %s", f, MachineName(0), MachineName(nodes-1)),
		validate.That(f.At >= 0 && f.BackAfter >= 0, "sim: %v: times may not be negative", f),
		validate.That(!timed || f.Phase == "" && f.Percent == 0, "sim: %v: phase without a job: %q and %v %%", f, f.Phase, f.Percent),
		validate.That(timed || f.Phase == "map" || f.Phase == "reduce", "sim: %v: the phase is map or reduce", f),
		validate.That(timed || f.Percent >= 0 && f.Percent <= 100, "sim: %v: expected 0 to 100 %%", f),
	)
}

// validateTriggers reports failures that wait for a job or phase that the workload does not
// have.
func (c *Config) validateTriggers(w *workload.Workload) error {
	var errs []error
	for _, f := range c.Failures {
		if f.Job == "" {
			continue
		}
		i := slices.IndexFunc(w.Jobs, func(j workload.Job) bool { return j.ID == f.Job })
		switch {
		case i < 0:
			errs = append(errs, fmt.Errorf("sim: %v: workload %s has no such job", f, w.Name))
		case f.Phase == "reduce" && len(w.Jobs[i].Reduces) == 0:
			errs = append(errs, fmt.Errorf("sim: %v: it has no reduces", f))
		}
	}
	return errors.Join(errs...)
}

// pollEvery is the interval at which reduces are checked for failures that wait for them, in
// ms.
const pollEvery = 100

// fireFailures plans the failures whose job has made enough progress.
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

// pollReduces checks again after an interval, since the progress of reduces causes no event.
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

// reached reports whether a job has the progress that a failure waits for.
func (b *body) reached(j *job, f Failure) bool {
	stage := b.view.Job(j.id).Stages[0]
	if f.Phase == "map" {
		return stage.StartedAt > 0 && float64(stage.Finished)*100 >= f.Percent*float64(len(stage.Tasks))
	}
	stage = b.view.Job(j.id).Stages[1]
	done, all := b.reduceProgress(j, stage)
	return stage.StartedAt > 0 && float64(done)*100 >= f.Percent*float64(all)
}

// reduceProgress returns the work that the reduces of a job have done, and all their work,
// in ms. A task without work counts as 1 ms.
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
