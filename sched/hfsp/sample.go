package hfsp

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// sampleAttempt is an attempt that may become a sample. The samples of a phase are the
// attempts that started first; an attempt that failed or was killed is replaced by the next.
// Samples that finish first would bias the estimate towards short tasks. Of attempts that
// started together, attempts with local input come first, since reading remote input is not
// typical.
type sampleAttempt struct {
	id        cluster.AttemptID
	startedAt int64
	remote    int // 1 if its input is on other machines, 0 otherwise
}

func (t sampleAttempt) compare(other sampleAttempt) int {
	return cmp.Or(cmp.Compare(t.startedAt, other.startedAt), cmp.Compare(t.remote, other.remote), t.id.Compare(other.id))
}

// newSampleAttempt describes an attempt.
func newSampleAttempt(view cluster.View, a *cluster.Attempt) sampleAttempt {
	t := sampleAttempt{id: a.ID, startedAt: a.StartedAt}
	j, _, task, ok := view.Task(a.ID.Task)
	m := view.Machine(a.Machine)
	if !ok || m == nil || task.Split < 0 {
		return t
	}
	split, _ := j.SplitOf(task)
	near := func(host string) bool { return host == m.Name || slices.Contains(m.Hosts, host) }
	if len(split.Hosts) > 0 && !slices.ContainsFunc(split.Hosts, near) {
		t.remote = 1
	}
	return t
}

// note records an attempt that has started.
func (p *phase) note(view cluster.View, a *cluster.Attempt) {
	t := newSampleAttempt(view, a)
	if i, there := slices.BinarySearchFunc(p.sampleAttempts, t, sampleAttempt.compare); !there {
		p.sampleAttempts = slices.Insert(p.sampleAttempts, i, t)
	}
}

// findSampleAttempts collects all attempts that have started.
func (p *phase) findSampleAttempts(view cluster.View, j *cluster.Job) {
	for _, s := range stagesOf(j, p.id.kind) {
		for _, a := range s.Attempts() {
			p.sampleAttempts = append(p.sampleAttempts, newSampleAttempt(view, a))
		}
	}
	slices.SortFunc(p.sampleAttempts, sampleAttempt.compare)
}

// samples returns the durations of the first samples, ascending, and when the last of them
// was known. There are fewer while some still run. Attempts that ended without success are
// skipped: the next attempt becomes a sample.
func (p *phase) samples(view cluster.View, most int) (times []float64, at int64) {
	for _, t := range p.sampleAttempts {
		if len(times) == most {
			break
		}
		_, task, a, ok := view.Attempt(t.id)
		switch {
		case !ok:
			continue
		case a.Active():
			slices.Sort(times)
			return times, at
		case a.Status() == cluster.StatusSucceeded && a.EndedAt > a.StartedAt && task.Winner == a:
			times = append(times, timeOf(view, a))
		}
		at = max(at, a.EndedAt) // the time includes the wait for failed attempts
	}
	slices.Sort(times)
	return times, at
}

// giveUpAt returns the time at which the given number of attempts had failed; 0 if fewer
// have.
func (p *phase) giveUpAt(view cluster.View, j *cluster.Job, failures int) int64 {
	failed := 0
	for _, s := range stagesOf(j, p.id.kind) {
		failed += s.Failed
	}
	if failed < failures {
		return 0
	}
	var ends []int64
	for _, t := range p.sampleAttempts {
		if _, _, a, ok := view.Attempt(t.id); ok && a.Status() == cluster.StatusFailed {
			ends = append(ends, a.EndedAt)
		}
	}
	if len(ends) < failures {
		return 0
	}
	slices.Sort(ends)
	return ends[failures-1]
}

// timeOf returns how long a finished task worked, extrapolated to all input that it was
// submitted with, times its slots; at least 1 ms.
func timeOf(view cluster.View, a *cluster.Attempt) float64 {
	_, stage, t, _ := view.Task(a.ID.Task)
	worked := a.SlotTime(a.EndedAt)
	for _, before := range t.Attempts {
		if before.WorkKept() { // a checkpoint kept its work
			worked += before.SlotTime(before.EndedAt)
		}
	}
	if since, ok := completeAt(stage); ok && since > a.StartedAt && since < a.EndedAt {
		worked = min(worked, a.EndedAt-since) // before that it had no input to work on
	}
	return max(float64(worked)*float64(stage.Slots[stage.Slot])/partOf(stage, t), 1)
}

// partOf returns the fraction of a task's original input that the task still has, in (0, 1].
// Splits gave the rest to other tasks.
func partOf(stage *cluster.Stage, t *cluster.Task) float64 {
	whole := length(t)
	for _, other := range stage.Tasks[tasksIn(stage):] {
		if other != t && other.Part == t.Part {
			whole += length(other)
		}
	}
	if t.Part != t.ID.Number && t.Part < len(stage.Tasks) {
		whole += length(stage.Tasks[t.Part])
	}
	if own := length(t); own > 0 && own < whole {
		return float64(own) / float64(whole)
	}
	return 1
}

// length returns how many bytes a task reads; 0 if unknown.
func length(t *cluster.Task) int64 {
	if !t.Ranged {
		return 0
	}
	return t.Range.End.Offset - t.Range.Start.Offset
}

// projectSizes returns the durations of the samples: measured for finished samples, and
// projected from progress for samples that have run for delta or longer. ok is false if a
// duration is unknown. soon is the time at which it may be known; 0 if only a change can
// show it.
func (p *phase) projectSizes(now int64, view sched.View, most int, delta int64) (times []float64, soon int64, ok bool) {
	ok = true
	for _, t := range p.sampleAttempts {
		if len(times) == most {
			break
		}
		_, _, a, there := view.Attempt(t.id)
		switch {
		case !there:
		case a.Status() == cluster.StatusSucceeded:
			times = append(times, timeOf(view.View, a))
		case a.Active():
			time, known := projectedTime(now, view, a, delta)
			if at := a.StartedAt + a.SuspendedMillis + delta; !known {
				soon, ok = sched.Earliest(soon, max(at, now+retry)), false
			}
			times = append(times, time)
		}
	}
	slices.Sort(times)
	return times, soon, ok && len(times) == most
}

// retry is the time to wait for missing progress reports, in ms.
const retry = 1000

// projectedTime projects the duration of a running attempt from its progress. For a reduce
// it adds the copying time to the work at the pace of the user's function. ok is false
// if it has run for less than delta.
func projectedTime(now int64, view sched.View, a *cluster.Attempt, delta int64) (ms float64, ok bool) {
	known, ok := view.Progress(a.ID)
	_, stage, t, _ := view.Task(a.ID.Task)
	worked, fraction := a.SlotTime(known.ReportedAt), known.Fraction
	copied := int64(0)
	if a.Slot == cluster.ReduceSlot && len(stage.Nodes) == 1 && !stage.Source {
		worked, fraction = known.ReportedAt-known.ReducingSince, 3*(fraction-2./3)
		if since, complete := completeAt(stage); complete {
			copied = max(known.ReducingSince-max(a.StartedAt, since), 0)
		}
		ok = ok && known.ReducingSince > 0
	}
	if !ok || a.Suspended() || !(fraction > 0) || a.SlotTime(now) < delta || worked <= 0 {
		return 0, false
	}
	return max((float64(worked)/fraction+float64(copied))*float64(stage.Slots[stage.Slot])/partOf(stage, t), 1), true
}
