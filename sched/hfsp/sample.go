package hfsp

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// try is an attempt that may become a sample. The samples of a phase are those
// that started first, but for such as failed or were stopped: what started next
// takes their place. Waiting for those that finish first would take short tasks
// for the usual. Of such as started together those come first that have their input
// beside them: reading from afar takes time that most do not need.
type try struct {
	id        cluster.AttemptID
	startedAt int64
	afar      int // 1 for one whose input is on other machines, 0 otherwise
}

func (t try) compare(other try) int {
	return cmp.Or(cmp.Compare(t.startedAt, other.startedAt), cmp.Compare(t.afar, other.afar), t.id.Compare(other.id))
}

// tryOf is an attempt as a try.
func tryOf(view cluster.View, a *cluster.Attempt) try {
	t := try{id: a.ID, startedAt: a.StartedAt}
	j, _, task, ok := view.Task(a.ID.Task)
	m := view.Machine(a.Machine)
	if !ok || m == nil || task.Split < 0 {
		return t
	}
	split, _ := j.SplitOf(task)
	near := func(host string) bool { return host == m.Name || slices.Contains(m.Hosts, host) }
	if len(split.Hosts) > 0 && !slices.ContainsFunc(split.Hosts, near) {
		t.afar = 1
	}
	return t
}

// note remembers an attempt that has started.
func (p *phase) note(view cluster.View, a *cluster.Attempt) {
	t := tryOf(view, a)
	if i, there := slices.BinarySearchFunc(p.tries, t, try.compare); !there {
		p.tries = slices.Insert(p.tries, i, t)
	}
}

// findTries looks for all attempts that have started.
func (p *phase) findTries(view cluster.View, j *cluster.Job) {
	for _, s := range stagesOf(j, p.id.kind) {
		for _, t := range s.Tasks {
			for _, a := range t.Attempts {
				p.tries = append(p.tries, tryOf(view, a))
			}
		}
	}
	slices.SortFunc(p.tries, try.compare)
}

// samples are the times of the first so many tasks in ascending order, and when
// the last of them was known. There are fewer while some still run.
func (p *phase) samples(view cluster.View, most int) (times []float64, at int64) {
	for _, t := range p.tries {
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
		at = max(at, a.EndedAt) // one that failed was waited for, too
	}
	slices.Sort(times)
	return times, at
}

// giveUpAt is when so many attempts had failed; 0 when they have not.
func (p *phase) giveUpAt(view cluster.View, j *cluster.Job, failures int) int64 {
	failed := 0
	for _, s := range stagesOf(j, p.id.kind) {
		failed += s.Failed
	}
	if failed < failures {
		return 0
	}
	var ends []int64
	for _, t := range p.tries {
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

// timeOf is for how long a task that has finished worked, on all of what it was
// submitted with, times the slots that it takes; at least 1 ms.
func timeOf(view cluster.View, a *cluster.Attempt) float64 {
	_, stage, t, _ := view.Task(a.ID.Task)
	held := a.SlotTime(a.EndedAt)
	for _, before := range t.Attempts {
		if before.WorkKept() { // its checkpoint holds what it did
			held += before.SlotTime(before.EndedAt)
		}
	}
	if since, ok := completeAt(stage); ok && since > a.StartedAt && since < a.EndedAt {
		held = min(held, a.EndedAt-since) // it had nothing to work on before
	}
	return max(float64(held)*float64(stage.Slots[stage.Slot])/partOf(stage, t), 1)
}

// partOf is how much of what a task was submitted with is left to it, in (0, 1].
// Others have what was cut off.
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

// length is how many bytes a task reads; 0 when that is unknown.
func length(t *cluster.Task) int64 {
	if !t.Ranged {
		return 0
	}
	return t.Range.End.Offset - t.Range.Start.Offset
}

// judge is what samples will take that have run for delta and longer, by how far
// they are, together with those that are through. ok is false while that is
// unknown of one of them; soon is when it may be known, 0 for when something
// changes.
func (p *phase) judge(now int64, view sched.View, most int, delta int64) (times []float64, soon int64, ok bool) {
	ok = true
	for _, t := range p.tries {
		if len(times) == most {
			break
		}
		_, _, a, there := view.Attempt(t.id)
		switch {
		case !there:
		case a.Status() == cluster.StatusSucceeded:
			times = append(times, timeOf(view.View, a))
		case a.Active():
			time, known := judgedTime(now, view, a, delta)
			if at := a.StartedAt + a.SuspendedMillis + delta; !known {
				soon, ok = sched.Earliest(soon, max(at, now+retry)), false
			}
			times = append(times, time)
		}
	}
	slices.Sort(times)
	return times, soon, ok && len(times) == most
}

// retry is after how long it is looked again for what is not known yet, in ms.
const retry = 1000

// judgedTime is how long an attempt will have taken that still runs, if it goes on as
// it has; of a reduce its copying, and its work at the pace of the user's
// function. It says so of none that has run for less than delta.
func judgedTime(now int64, view sched.View, a *cluster.Attempt, delta int64) (ms float64, ok bool) {
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
