package hfsp

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
)

// phaseID names what of a job takes slots of one kind: its maps, or its reduces.
type phaseID struct {
	job  cluster.JobID
	kind cluster.Slot
}

func (id phaseID) compare(other phaseID) int {
	return cmp.Or(id.job.Compare(other.job), cmp.Compare(id.kind, other.kind))
}

// phase is one of the two jobs that a job is to HFSP.
type phase struct {
	member
	tasks int // as submitted: tasks that were cut into several count once
	slots int // that all tasks take at once

	entered bool // some of its stages were ready once: it is in the virtual cluster
	sized   how  // where size comes from

	tries   []try // while it is not measured, by start
	judgeAt int64 // when its samples are to be judged again though nothing changes, ms; 0 is never
	touched bool  // they are to be judged at once

	state
	wanted int     // slots of its kind for wants
	alone  int     // of them, for tasks that start alone
	noted  listing // by its queue
}

// how is how the size of a phase was found. It only grows.
type how int

const (
	guessed  how = iota // of its number of tasks and of other jobs
	awaited             // the same, and too many samples have failed to wait for more
	judged              // of the progress of samples, some of which still run
	measured            // of samples, or known before
)

func (h how) String() string {
	return [...]string{"a guess, in training", "a guess, since samples fail", "judged by the progress of samples", "measured"}[h]
}

// training reports whether samples are being waited for.
func (p *phase) training() bool { return p.entered && p.sized == guessed && !p.over }

// late reports whether a phase is done in the virtual cluster and not in truth. One
// that is stalled could not be less late.
func (p *phase) late(now int64) bool { return p.entered && p.done <= float64(now) && !p.stalled }

// stagesOf are the stages of a job whose slots are of a kind.
func stagesOf(j *cluster.Job, kind cluster.Slot) (stages []*cluster.Stage) {
	for _, s := range j.Stages {
		if s.Slot == kind {
			stages = append(stages, s)
		}
	}
	return stages
}

// tasksIn is how many tasks a stage was submitted with.
func tasksIn(s *cluster.Stage) int {
	if s.StartsAlone() {
		return s.Bundle.Count
	}
	return len(s.Tasks)
}

// newPhase is what a job has of a kind; nil when that is nothing.
func newPhase(j *cluster.Job, kind cluster.Slot) *phase {
	p := &phase{member: member{id: phaseID{j.ID, kind}}}
	for _, s := range stagesOf(j, kind) {
		n := tasksIn(s)
		p.tasks += n
		p.slots += n * s.Slots[kind]
	}
	if p.slots == 0 {
		return nil
	}
	p.most = float64(p.slots)
	return p
}

// enteredAt is since when tasks of a kind may start: enough of all is finished
// that some stage reads. ok is false when they may not yet. What it reads that
// takes slots of the same kind is of the same phase.
func enteredAt(j *cluster.Job, kind cluster.Slot) (at int64, ok bool) {
	if begun := j.State == cluster.JobRunning || j.State == cluster.JobCommitting || j.StartedAt > 0; !begun {
		return 0, false
	}
	for _, s := range stagesOf(j, kind) {
		since, ready := j.StartedAt, true
		for up := range s.Upstream() {
			need := j.SlowStartTasks(up)
			if kind == cluster.MapSlot {
				need = len(up.Tasks) // nobody waits in a map slot
			}
			if up.Slot == kind || up.Finished < need {
				ready = false
				break
			}
			since = max(since, finishOf(up, need))
		}
		if ready && (!ok || since < at) {
			at, ok = since, true
		}
	}
	return at, ok
}

// finishOf is when so many tasks of a stage had finished, which have; 0 for none.
func finishOf(s *cluster.Stage, count int) int64 {
	if count == 0 {
		return 0
	}
	var ends []int64
	for _, t := range s.Tasks {
		if t.Winner != nil {
			ends = append(ends, t.Winner.EndedAt)
		}
	}
	slices.Sort(ends)
	return ends[min(count, len(ends))-1]
}

// completeAt is when all that a stage reads was finished; 0 when it reads nothing.
// ok is false while it is not.
func completeAt(s *cluster.Stage) (at int64, ok bool) {
	for up := range s.Upstream() {
		if up.FinishedAt == 0 {
			return 0, false
		}
		at = max(at, up.FinishedAt)
	}
	return at, true
}

// canWork reports whether all that a stage reads is written, or being written.
// Tasks that wait for others which have no slots keep their own from those who can
// work.
func canWork(s *cluster.Stage) bool {
	for up := range s.Upstream() {
		if up.Waiting() > 0 || len(up.Suspended()) > 0 {
			return false
		}
	}
	return true
}

// tallyOf looks at what has become of the tasks of a phase.
func tallyOf(j *cluster.Job, kind cluster.Slot) (t tally) {
	waits, works := false, false
	t.halted = j.Suspended
	for _, s := range stagesOf(j, kind) {
		t.finished, t.started = t.finished+s.Finished, t.started+s.Running
		t.still += len(s.Suspended()) * s.Slots[kind]
		if canWork(s) {
			works = works || s.Running+s.Waiting() > 0
		} else {
			waits = waits || s.Running > 0
		}
	}
	t.stalled = waits && !works
	return t
}

// countWanted counts what a phase wants. For bundles nobody is preempted, nor are they
// samples: they need slots that are beside each other, and wait for them.
func (p *phase) countWanted() {
	p.wanted, p.alone = 0, 0
	for _, w := range p.wants {
		p.wanted += w.TotalNeed()[p.id.kind]
		if w.Bundle == nil {
			p.alone += w.Count
		}
	}
}
