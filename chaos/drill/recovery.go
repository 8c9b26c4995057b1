package drill

import (
	"context"
	"slices"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// runningAttempt is an attempt that ran when a fault was injected. It is comparable, so
// lists of it can be searched.
type runningAttempt struct{ job, task, attempt string }

// stopsAttempts reports whether the attempts of a tasknode make no progress, or are lost,
// because of a fault. For such a fault, recovery means that each task of the daemon runs
// again. For any other fault, it means that any job makes progress.
func stopsAttempts(f chaos.Fault) bool {
	if f.Target.Role != chaos.Tasknode && f.Target.Role != chaos.Machine {
		return false
	}
	return chaos.SpecOf(f.Kind).Silences || f.EndsDaemon()
}

// runningOn returns the attempts that run on these daemons. The statuses may be a poll
// interval old.
func (w *jobWatcher) runningOn(names []string) (list []runningAttempt) {
	w.eachRunning(func(job string, t *wire.TaskStatus, a *wire.TaskStatus_Attempt) {
		if slices.Contains(names, a.Machine) {
			list = append(list, runningAttempt{job, t.Id, a.Id})
		}
	})
	return list
}

// awaitRecovery measures how long it takes until the work that a fault has hit resumes.
//
// The precision is that of the statuses: pollInterval and the time of a call. undone is closed
// when the fault is undone; it stays open if the fault is never undone.
func (d *drill) awaitRecovery(ctx context.Context, i int, in injection, undone <-chan struct{}) {
	master := d.plan.Faults[i].Target.Role == chaos.Jobmaster
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	var at, ended time.Time
	for at.IsZero() {
		select {
		case <-ctx.Done():
			at = time.Now()
			d.mu.Lock()
			d.mu.faults[i].TimedOut = true
			d.mu.Unlock()
		case <-undone:
			ended, undone = time.Now(), nil
		case <-tick.C:
			if len(in.hit) > 0 {
				at = d.watch.hitTasksRecoveredAt(in.hit, ended)
			} else {
				at = d.watch.recoveredAt(in.at, master)
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.mu.faults[i].Injected {
		return
	}
	d.mu.faults[i].Recovery = max(1, at.Sub(in.at).Milliseconds())
}

// recoveredAt returns the time after since at which a job was first seen to make progress,
// or all jobs had ended. For a master, it returns when a leading master first answered a
// call made after since. It returns the zero time before that. A status counts only if the
// call for it started after the fault: an answer that was under way shows the state before
// it.
func (w *jobWatcher) recoveredAt(since time.Time, master bool) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.mu.moves {
		if master && m.answeredAt.After(since) {
			return time.Now()
		}
		if !master && m.askedAt.After(since) {
			return m.at
		}
	}
	if w.mu.final == len(w.ids) {
		return time.Now()
	}
	return time.Time{}
}

// hitTasksRecoveredAt returns when the tasks of all hit attempts were first seen to have
// finished, to run again, or to run on after the end of the fault. The last counts only if
// a master was asked after the end. ended is zero while the fault lasts. A job that has
// ended needs none of its tasks any more.
func (w *jobWatcher) hitTasksRecoveredAt(hit []runningAttempt, ended time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range hit {
		back := !ended.IsZero() && w.mu.moves[r.job].answeredAt.After(ended)
		if s := w.mu.jobs[r.job]; !s.State.Final() && !taskRecovered(s, r.task, hit, back) {
			return time.Time{}
		}
	}
	return time.Now()
}

// taskRecovered reports whether a task has finished or runs. Hit attempts count as running
// only if they may be back. A task that is no longer in the status has not recovered.
func taskRecovered(s *wire.JobStatus, task string, hit []runningAttempt, back bool) bool {
	i := slices.IndexFunc(s.Tasks, func(t *wire.TaskStatus) bool { return t.Id == task })
	return i >= 0 && slices.ContainsFunc(s.Tasks[i].Attempts, func(a *wire.TaskStatus_Attempt) bool {
		switch a.State {
		case wire.AttemptState_ATTEMPT_SUCCEEDED:
			return true
		case wire.AttemptState_ATTEMPT_RUNNING:
			return back || !slices.Contains(hit, runningAttempt{s.JobId, task, a.Id})
		}
		return false
	})
}
