package hfsp

import (
	"cmp"

	"github.com/hammr/hammr/cluster"
)

// phaseID names the part of a job that takes slots of one kind: its maps, or its
// reduces.
type phaseID struct {
	job  cluster.JobID
	kind cluster.Slot
}

func (id phaseID) compare(other phaseID) int {
	return cmp.Or(id.job.Compare(other.job), cmp.Compare(id.kind, other.kind))
}

// phase is one of the two parts that HFSP treats as separate jobs (the paper, section
// 3.1): the maps of a job and its reduces have different slots and sizes.
type phase struct {
	member
	tasks int // number of tasks as submitted: a task that was split counts once
	slots int // slots that all tasks take at once

	entered bool       // a stage has been ready: the phase is in the virtual cluster
	sized   sizeSource // where size comes from

	sampleAttempts []sampleAttempt // attempts in order of start; kept until the phase is measured
	projectAt      int64           // when its samples are judged again if nothing changes, ms; 0 is never
	touched        bool            // its samples are judged in the next decision

	state
	wanted int     // slots of its kind that wants need
	alone  int     // the part of wanted for tasks that start alone
	listed listing // record of the phase in its queue
}

// sizeSource says where the size of a phase comes from. It only increases:
//
//	guessed ──▶ samplesFailed ──▶ judged ──▶ measured
//
// Any step may be skipped.
type sizeSource int

const (
	guessed       sizeSource = iota // from its number of tasks and from other jobs
	samplesFailed                   // guessed; too many samples have failed to wait for more
	projected                       // from the progress of samples, some of which still run
	measured                        // from samples, or known in advance
)

func (s sizeSource) String() string {
	return [...]string{"a guess, in training", "a guess, since samples fail", "judged by the progress of samples", "measured"}[s]
}

// training reports whether the phase waits for samples.
func (p *phase) training() bool { return p.entered && p.sized == guessed && !p.over }

// late reports whether a phase is done in the virtual cluster but not in the real one. A
// stalled phase is never late: slots would not help it.
func (p *phase) late(now int64) bool { return p.entered && p.done <= float64(now) && !p.stalled }

// stagesOf returns the stages of a job whose slots are of a kind.
func stagesOf(j *cluster.Job, kind cluster.Slot) (stages []*cluster.Stage) {
	for _, s := range j.Stages {
		if s.Slot == kind {
			stages = append(stages, s)
		}
	}
	return stages
}

// tasksIn returns how many tasks a stage was submitted with; splits add more.
func tasksIn(s *cluster.Stage) int {
	if s.StartsAlone() {
		return s.Bundle.Count
	}
	return len(s.Tasks)
}

// newPhase returns the phase of a job for a kind of slot; nil if no task takes such
// slots.
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

// enteredAt returns the time since which tasks of a kind may start: enough tasks of every
// stage that they read have finished. ok is false if they may not start yet. A stage that
// reads another stage of the same kind is part of the same phase.
func enteredAt(j *cluster.Job, kind cluster.Slot) (at int64, ok bool) {
	if begun := j.State == cluster.JobRunning || j.State == cluster.JobCommitting || j.StartedAt > 0; !begun {
		return 0, false
	}
	for _, s := range stagesOf(j, kind) {
		since, ready := j.StartedAt, true
		for up := range s.Upstream() {
			need := j.SlowStartTasks(up)
			if kind == cluster.MapSlot {
				need = len(up.Tasks) // map tasks do not wait in their slots
			}
			if up.Slot == kind || up.Finished < need {
				ready = false
				break
			}
			since = max(since, up.TasksFinishedAt(need, 0))
		}
		if ready && (!ok || since < at) {
			at, ok = since, true
		}
	}
	return at, ok
}

// completeAt returns the time at which all input of a stage was complete; 0 if the stage
// reads no other. ok is false if it is not complete.
func completeAt(s *cluster.Stage) (at int64, ok bool) {
	for up := range s.Upstream() {
		if up.FinishedAt == 0 {
			return 0, false
		}
		at = max(at, up.FinishedAt)
	}
	return at, true
}

// canWork reports whether all input of a stage is written, or being written. Tasks that
// wait for others without slots would keep their own slots from tasks that can work.
func canWork(s *cluster.Stage) bool {
	for up := range s.Upstream() {
		if up.Waiting() > 0 || len(up.Suspended()) > 0 {
			return false
		}
	}
	return true
}

// tallyOf counts the tasks of a phase by state.
func tallyOf(j *cluster.Job, kind cluster.Slot) (t tally) {
	waits, works := false, false
	t.halted = j.Suspended
	for _, s := range stagesOf(j, kind) {
		t.finished, t.started = t.finished+s.Finished, t.started+s.Running
		t.suspended += len(s.Suspended()) * s.Slots[kind]
		if canWork(s) {
			works = works || s.Running+s.Waiting() > 0
		} else {
			waits = waits || s.Running > 0
		}
	}
	t.stalled = waits && !works
	return t
}

// countWanted counts what a phase wants. Bundles do not preempt and are no samples:
// they wait for several slots at once.
func (p *phase) countWanted() {
	p.wanted, p.alone = 0, 0
	for _, w := range p.wants {
		p.wanted += w.TotalNeed()[p.id.kind]
		if w.Bundle == nil {
			p.alone += w.Count
		}
	}
}
