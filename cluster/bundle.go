package cluster

import (
	"iter"
	"slices"

	"github.com/hammr/hammr/dag"
)

// Bundle is a class of equal NodeGroupBundles of a job. The files that a bundle writes count
// as written when all of its tasks have finished. If one of them ends in another way, or its
// output is lost, all of them start over together.
//
// A bundle of several tasks is a gang: streams join its attempts, so none makes progress
// without the others (the coscheduled NodeGroups of the Hammr paper, section 3). They
// start, give up their slots and resume as a unit:
//
//	   ┌─ StartBundle: slots for all tasks, or for none
//	   ▼
//	running ──PreemptAttempt{suspend}──► suspended ──ResumeAttempt──► running
//	   │ ▲     in memory, no slots           │       on the same machines
//	   │ │                                   │
//	   │ │ DeclinePreemption                 │ MoveAttempt: a machine stays full or drains;
//	   │ │ (that attempt runs on)            │ the gang resumes, in order to checkpoint
//	   ▼ │                                   ▼
//	checkpointing ◄──PreemptAttempt{checkpoint}──┘
//	   │   CheckpointAttempt or FinishAttempt, one by one
//	   ▼
//	checkpointed ──StartBundle: the unfinished tasks, on any machines──► running
//	   │
//	   └─ a checkpoint is lost: roll back, or start over (consistent_checkpoint.go)
//
// The commands are in apply_start_attempt.go, apply_preempt_attempt.go and
// apply_checkpoint.go. Package control moves gangs from full or drained machines
// (stranded.go). Policies see gangs as sched.Wants, and package sched/placement reserves
// slots for them, since slots that come free one by one would otherwise never be enough.
//
// Invariants: if a task of a gang waits without a checkpoint, all of them do. All active
// attempts of a gang are suspended, or none is.
type Bundle struct {
	Index  int      `cbor:"-"` // in the Bundles of the layout
	Stages []*Stage `cbor:"-"` // stages of its tasks, in order
	Count  int      `cbor:"-"` // number of bundles
	Gang   bool     `cbor:"-"` // each bundle has several tasks, which run at the same time

	Starts []int `cbor:"1,keyasint,omitempty"` // by bundle: its Incarnation; nil before the first start of a bundle of the class
}

// derive sets what follows from the layout, and points each stage to its class of bundles.
func (b *Bundle) derive(i int, layout *dag.Layout, stages []*Stage) {
	class := layout.Bundles[i]
	b.Index, b.Count, b.Gang, b.Stages = i, class.Count, layout.IsGang(i), nil
	for _, g := range class.Groups {
		b.Stages = append(b.Stages, stages[g])
		stages[g].Bundle = b
	}
}

// TasksOf returns the tasks of one bundle, in order of stages. It is nil for a number out of
// range.
func (b *Bundle) TasksOf(number int) []*Task {
	if number < 0 || number >= b.Count {
		return nil
	}
	var tasks []*Task
	for _, s := range b.Stages {
		tasks = append(tasks, b.tasksOf(number, s)...)
	}
	return tasks
}

// tasksOf returns the tasks that one bundle has of one of its stages.
func (b *Bundle) tasksOf(number int, s *Stage) []*Task {
	each := b.TasksIn(s)
	return s.Tasks[number*each : (number+1)*each]
}

// Attempts yields all attempts of the tasks of one bundle with their stages, in order of
// stages, tasks and numbers.
func (b *Bundle) Attempts(number int) iter.Seq2[*Stage, *Attempt] {
	return func(yield func(*Stage, *Attempt) bool) {
		for _, s := range b.Stages {
			for _, a := range attemptsOf(b.tasksOf(number, s)) {
				if !yield(s, a) {
					return
				}
			}
		}
	}
}

// TasksIn returns the number of tasks that each bundle has of one of its stages. There is at
// least one bundle.
func (b *Bundle) TasksIn(s *Stage) int { return len(s.Tasks) / b.Count }

// WaitingIn returns the waiting tasks of one bundle, in order of stages. After a checkpoint,
// these are the tasks that had not finished by then; otherwise they are all its tasks.
func (b *Bundle) WaitingIn(number int) []*Task {
	return slices.DeleteFunc(b.TasksOf(number), func(t *Task) bool { return !t.isWaiting() })
}

// NeedOf returns the sum of the slots that the waiting tasks of one bundle need.
func (b *Bundle) NeedOf(number int) (need Slots) {
	for _, s := range b.Stages {
		for _, t := range b.tasksOf(number, s) {
			if t.isWaiting() {
				need = need.Plus(s.Slots)
			}
		}
	}
	return need
}

// ResumesFromCheckpoint reports whether the waiting tasks of one bundle, which is a gang,
// resume from checkpoints: all of them do, or none.
func (b *Bundle) ResumesFromCheckpoint(number int) bool {
	return b.Gang && slices.ContainsFunc(b.TasksOf(number), func(t *Task) bool { return t.State == TaskCheckpointed })
}

// isRunning reports whether a task of one bundle runs.
func (b *Bundle) isRunning(number int) bool {
	return slices.ContainsFunc(b.TasksOf(number), func(t *Task) bool { return t.State == TaskRunning })
}

// Need returns the sum of the slots that all tasks of a bundle need. There is at least one
// bundle.
func (b *Bundle) Need() (need Slots) {
	for _, s := range b.Stages {
		need = need.Plus(s.Slots.Times(b.TasksIn(s)))
	}
	return need
}

// NumberOf returns the number of the bundle that contains a task of the stage.
func (b *Bundle) NumberOf(s *Stage, t *Task) int {
	return t.ID.Number / b.TasksIn(s)
}

// Incarnation returns a number that increases with each start of a bundle by StartBundle. It is
// the number of starts, unless the state was restored from a backup.
func (b *Bundle) Incarnation(number int) int {
	if number >= len(b.Starts) {
		return 0
	}
	return b.Starts[number]
}

// WaitingBundles returns the numbers of the bundles that may start, ascending: they have
// waiting tasks and no running one. It is nil for a class whose tasks start alone.
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

// isWaiting reports whether the task waits for a slot, with or without a checkpoint.
func (t *Task) isWaiting() bool { return t.State == TaskPending || t.State == TaskCheckpointed }

// Published reports whether a task's output counts: the task and all others of its gang have
// finished.
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

// InputsComplete reports whether all files that the tasks read are written.
func (b *Bundle) InputsComplete() bool {
	for _, s := range b.Stages {
		if slices.ContainsFunc(s.upstream, func(up upstream) bool { return !up.stage.Complete() }) {
			return false
		}
	}
	return true
}

// isFinished reports whether all tasks of one bundle have a winner.
func (b *Bundle) isFinished(number int) bool {
	return !slices.ContainsFunc(b.TasksOf(number), func(t *Task) bool { return t.Winner == nil })
}

// stage returns the stage with a code, such as "m" or "s2"; nil for none.
func (j *Job) stage(code string) *Stage {
	i := slices.IndexFunc(j.Stages, func(s *Stage) bool { return s.Code == code })
	if i < 0 {
		return nil
	}
	return j.Stages[i]
}

// otherTasks returns the other tasks of a task's gang; nil if the task starts alone.
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

// gang returns the active attempts of the gang of an attempt, in order of tasks; the attempt
// alone if it started alone. They are suspended and resumed together.
func (p taskRef) gang() []taskRef {
	b := p.stage.Bundle
	if !b.Gang {
		return []taskRef{p}
	}
	var all []taskRef
	for s, a := range b.Attempts(b.NumberOf(p.stage, p.task)) {
		if a.Active() {
			all = append(all, p.job.ref(s, a))
		}
	}
	return all
}

// GangOf returns the active attempts of the gang of an active attempt, itself included, in
// order of tasks. The result is the attempt alone if it started alone.
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

// SuspendedBundles returns the numbers of the suspended bundles, in order of their start. It
// is nil for a class whose tasks start alone, and while the job is suspended.
func (j *Job) SuspendedBundles(b *Bundle) (numbers []int) {
	if b.Stages[0].StartsAlone() {
		return nil
	}
	var suspended []*Attempt
	for _, s := range b.Stages {
		suspended = append(suspended, s.Suspended()...)
	}
	slices.SortFunc(suspended, compareStart)
	for _, a := range suspended {
		s := j.stage(a.ID.Task.Stage)
		if n := a.ID.Task.Number / b.TasksIn(s); !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}
