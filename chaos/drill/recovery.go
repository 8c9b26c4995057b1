package drill

import (
	"context"
	"slices"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/wire"
)

// runningAttempt is an attempt that ran.
type runningAttempt struct{ job, task, attempt string }

// stopsAttempts reports whether what runs on a tasknode stands or is lost for a fault.
func stopsAttempts(f chaos.Fault) bool {
	if f.Target.Role != chaos.Tasknode && f.Target.Role != chaos.Machine {
		return false
	}
	return f.Kind == chaos.Stop || f.Kind == chaos.Partition || f.EndsDaemon()
}

// runningOn are the attempts that run on these daemons.
func (w *jobWatcher) runningOn(names []string) (list []runningAttempt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range w.ids {
		for _, t := range w.mu.jobs[id].GetTasks() {
			for _, a := range t.Attempts {
				if a.State == wire.AttemptState_ATTEMPT_RUNNING && slices.Contains(names, a.Node) {
					list = append(list, runningAttempt{id, t.Id, a.Id})
				}
			}
		}
	}
	return list
}

// awaitRecovery measures how long it takes until what a fault has hit goes on.
func (d *drill) awaitRecovery(ctx context.Context, i int, in injury, undone <-chan struct{}) {
	master := d.plan.Faults[i].Target.Role == chaos.Jobmaster
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	var at, ended time.Time
	for at.IsZero() {
		select {
		case <-ctx.Done():
			at = time.Now()
			d.mu.Lock()
			d.faults[i].TimedOut = true
			d.mu.Unlock()
		case <-undone:
			ended, undone = time.Now(), nil
		case <-tick.C:
			if len(in.struck) > 0 {
				at = d.watch.hitTasksRecoveredAt(in.struck, ended)
			} else {
				at = d.watch.recoveredAt(in.at, master)
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.faults[i].Injected {
		return
	}
	d.faults[i].Recovery = max(1, at.Sub(in.at).Milliseconds())
}

// recoveredAt is when, after since, a job first was seen to go on, or all were over;
// for a master, when one that leads first answered a call made after since. Zero is
// not yet.
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

// hitTasksRecoveredAt is when the tasks of all attempts that were struck were first seen to have
// finished, to run again, or to go on since the fault has ended: then a master has to be
// asked after that and say that they run. Ended is zero while it lasts.
func (w *jobWatcher) hitTasksRecoveredAt(struck []runningAttempt, ended time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range struck {
		back := !ended.IsZero() && w.mu.moves[r.job].answeredAt.After(ended)
		if s := w.mu.jobs[r.job]; !isFinal(s.State) && !taskRecovered(s, r.task, struck, back) {
			return time.Time{}
		}
	}
	return time.Now()
}

// taskRecovered reports whether a task has finished or runs, of which attempts were struck that
// may be back.
func taskRecovered(s *wire.JobStatus, task string, struck []runningAttempt, back bool) bool {
	i := slices.IndexFunc(s.Tasks, func(t *wire.TaskStatus) bool { return t.Id == task })
	return i >= 0 && slices.ContainsFunc(s.Tasks[i].Attempts, func(a *wire.TaskStatus_Attempt) bool {
		switch a.State {
		case wire.AttemptState_ATTEMPT_SUCCEEDED:
			return true
		case wire.AttemptState_ATTEMPT_RUNNING:
			return back || !slices.Contains(struck, runningAttempt{s.JobId, task, a.Id})
		}
		return false
	})
}
