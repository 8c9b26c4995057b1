package cluster

import (
	"slices"

	"github.com/hammr/hammr/dag"
)

// Bundle is the NodeGroupBundles of a job that are alike. What a bundle writes
// to files counts as written when all of its tasks have finished; when one of
// them ends otherwise, or its output is lost, all of them start anew together.
//
// A gang can be paused, and then one of them that ends otherwise takes less of the
// work of the others with it: see cut.go.
//
// Invariant: if a task of a gang waits without a checkpoint, all of them do.
type Bundle struct {
	Index  int      // in the Bundles of the layout
	Stages []*Stage // whose tasks it has, in order
	Count  int      // how many bundles
	Gang   bool     // each has several tasks, which run at once

	starts []int // by bundle: how often it has been started by StartBundle; nil before the first is
}

func newBundles(layout *dag.Layout, stages []*Stage) []*Bundle {
	bundles := make([]*Bundle, len(layout.Bundles))
	for i, class := range layout.Bundles {
		b := &Bundle{Index: i, Count: class.Count, Gang: layout.IsGang(i)}
		for _, g := range class.Groups {
			b.Stages = append(b.Stages, stages[g])
			stages[g].Bundle = b
		}
		bundles[i] = b
	}
	return bundles
}

// TasksOf are the tasks of one bundle, in order of stages. It is nil for a
// number that there is not.
func (b *Bundle) TasksOf(number int) []*Task {
	if number < 0 || number >= b.Count {
		return nil
	}
	var tasks []*Task
	for _, s := range b.Stages {
		each := b.TasksIn(s)
		tasks = append(tasks, s.Tasks[number*each:(number+1)*each]...)
	}
	return tasks
}

// TasksIn is how many tasks of a stage, which is one of its own, each bundle has.
// There is at least one bundle.
func (b *Bundle) TasksIn(s *Stage) int { return len(s.Tasks) / b.Count }

// WaitingIn are the tasks of one bundle that wait, in order of stages: all of them
// or, where it has been paused, those that had not finished by then.
func (b *Bundle) WaitingIn(number int) []*Task {
	return slices.DeleteFunc(b.TasksOf(number), func(t *Task) bool { return !t.isWaiting() })
}

// NeedOf is the slots that the tasks take which wait in one bundle.
func (b *Bundle) NeedOf(number int) (need [slotKinds]int) {
	for _, s := range b.Stages {
		each := b.TasksIn(s)
		for _, t := range s.Tasks[number*each : (number+1)*each] {
			if t.isWaiting() {
				need = plus(need, s.Slots)
			}
		}
	}
	return need
}

// ResumesFromCheckpoint reports whether the tasks that wait in one bundle, which is a gang, go on from
// checkpoints: all of them do, or none.
func (b *Bundle) ResumesFromCheckpoint(number int) bool {
	return b.Gang && slices.ContainsFunc(b.TasksOf(number), func(t *Task) bool { return t.State == TaskCheckpointed })
}

// isRunning reports whether a task of one bundle runs.
func (b *Bundle) isRunning(number int) bool {
	return slices.ContainsFunc(b.TasksOf(number), func(t *Task) bool { return t.State == TaskRunning })
}

// Need is the slots that all tasks of a bundle take. There is at least one bundle.
func (b *Bundle) Need() (need [slotKinds]int) {
	for _, s := range b.Stages {
		for kind, n := range s.Slots {
			need[kind] += n * b.TasksIn(s)
		}
	}
	return need
}

// NumberOf is the number of the bundle that a task of the stage is in.
func (b *Bundle) NumberOf(s *Stage, t *Task) int {
	return t.ID.Number / b.TasksIn(s)
}

// Incarnation is how often a bundle has been started by StartBundle.
func (b *Bundle) Incarnation(number int) int {
	if number >= len(b.starts) {
		return 0
	}
	return b.starts[number]
}

// WaitingBundles are the numbers of the bundles that may start, ascending: of which
// tasks wait, and none runs. There are none of those whose tasks start alone.
func (j *Job) WaitingBundles(b *Bundle) (numbers []int) {
	if b.Count == 0 || b.Stages[0].StartsAlone() {
		return nil
	}
	for _, s := range b.Stages {
		if s.Waiting() == 0 {
			continue
		}
		if !j.Ready(s) {
			return nil
		}
		each := b.TasksIn(s)
		for n := range s.pending.all() {
			numbers = append(numbers, n/each)
		}
	}
	slices.Sort(numbers)
	return slices.DeleteFunc(slices.Compact(numbers), b.isRunning)
}

func (t *Task) isWaiting() bool { return t.State == TaskPending || t.State == TaskCheckpointed }

// Published reports whether what a task has written counts: it has finished,
// and so have all others of its bundle.
func (j *Job) Published(t *Task) bool {
	if t.Winner == nil {
		return false
	}
	s := j.stage(t.ID.Stage)
	if !s.Bundle.Gang {
		return true
	}
	return s.Bundle.isFinished(s.Bundle.NumberOf(s, t))
}

// InputsComplete reports whether all that the tasks read from files is written.
func (b *Bundle) InputsComplete() bool {
	for _, s := range b.Stages {
		if slices.ContainsFunc(s.upstream, func(up upstream) bool { return !up.stage.Complete() }) {
			return false
		}
	}
	return true
}

func (b *Bundle) isFinished(number int) bool {
	return !slices.ContainsFunc(b.TasksOf(number), func(t *Task) bool { return t.Winner == nil })
}

func (j *Job) stage(code string) *Stage {
	i := slices.IndexFunc(j.Stages, func(s *Stage) bool { return s.Code == code })
	if i < 0 {
		return nil
	}
	return j.Stages[i]
}

// otherTasks yields the other tasks of the bundle that a task is in.
func (p taskRef) otherTasks() []taskRef {
	b := p.stage.Bundle
	if !b.Gang {
		return nil
	}
	var others []taskRef
	for _, t := range b.TasksOf(b.NumberOf(p.stage, p.task)) {
		if t != p.task {
			others = append(others, taskRef{job: p.job, stage: p.job.stage(t.ID.Stage), task: t})
		}
	}
	return others
}

// gang are the attempts that run in one gang, or the one alone, in order of tasks:
// none of them stands still without the others.
func (p taskRef) gang() []taskRef {
	b := p.stage.Bundle
	if !b.Gang {
		return []taskRef{p}
	}
	var all []taskRef
	for _, t := range b.TasksOf(b.NumberOf(p.stage, p.task)) {
		for _, a := range t.Attempts {
			if a.Active() {
				all = append(all, taskRef{p.job, p.job.stage(t.ID.Stage), t, a})
			}
		}
	}
	return all
}

// GangOf are the attempts that run in one gang with a running one, itself among
// them, in order of tasks. One that started alone is alone.
func (v View) GangOf(a *Attempt) []*Attempt {
	p, err := v.s.attempt(a.ID)
	if err != nil {
		return nil
	}
	all := p.gang()
	attempts := make([]*Attempt, len(all))
	for i, each := range all {
		attempts[i] = each.attempt
	}
	return attempts
}

// SuspendedBundles are the numbers of the bundles that stand still and wait to go on,
// whole, those that began first before others. There are none of those whose tasks
// start alone, and none while the job is suspended.
func (j *Job) SuspendedBundles(b *Bundle) (numbers []int) {
	if b.Stages[0].StartsAlone() {
		return nil
	}
	var still []*Attempt
	for _, s := range b.Stages {
		still = append(still, s.Suspended()...)
	}
	slices.SortFunc(still, compareStart)
	for _, a := range still {
		s := j.stage(a.ID.Task.Stage)
		if n := a.ID.Task.Number / b.TasksIn(s); !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}
