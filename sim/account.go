package sim

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
)

// phaseOf is whether an attempt is at a map or at a reduce, whatever slot it has.
func phaseOf(id cluster.AttemptID) cluster.Slot {
	if id.Task.Stage == "m" {
		return cluster.MapSlot
	}
	return cluster.ReduceSlot
}

// Preemption is a slot that was taken from a running attempt for somebody else.
// Work is the time for which the attempt held its slot until then. Of an attempt
// that its machine's failure ended before it could keep its work, it is neither
// lost nor conserved here, but lost in LostMachine.
type Preemption struct {
	At      int64
	Job     string       // id in the workload
	Kind    cluster.Slot // its phase
	Task    int          // number in it
	Attempt int          // number in the task
	How     preempt.How

	Lost      int64 // ms of work that was thrown away
	Conserved int64 // ms of work that counts
}

// Cost is what a way of taking slots has cost.
type Cost struct {
	Preemptions     int
	Lost, Conserved int64 // ms of work
}

// ByWay sums up what each way of taking slots has cost.
func (r *Result) ByWay() map[preempt.How]Cost {
	sums := make(map[preempt.How]Cost)
	for _, p := range r.Preempted {
		sum := sums[p.How]
		sums[p.How] = Cost{sum.Preemptions + 1, sum.Lost + p.Lost, sum.Conserved + p.Conserved}
	}
	return sums
}

// LostMachine is the failure of a machine.
type LostMachine struct {
	Node    int   // number of the machine
	At      int64 // when it failed
	Verdict int64 // when it was given up, or was back before that; -1 when the run ended first
	Back    int64 // when it was back; -1 for never

	Running  int   // attempts that were lost
	WorkLost int64 // ms for which those had held slots until the failure
	Outputs  int   // finished attempts whose output was lost while it was needed
	Output   int64 // ms for which those had held slots
}

// Recovery is the first attempt at a task since an earlier one, or its output,
// was lost with a machine.
type Recovery struct {
	Job     string       // id in the workload
	Kind    cluster.Slot // its phase
	Task    int          // number in it
	Attempt int
	Machine int   // on which it runs
	Verdict int64 // when the machine of the earlier attempt was given up
	Start   int64
	Local   bool // it is a map whose input lies on its machine
}

// Wait is for how long a task waited for its recovery after the verdict, in ms.
func (r Recovery) Wait() int64 { return r.Start - r.Verdict }

// account is what preemption and failures have cost so far.
type account struct {
	preempted []Preemption
	asked     map[cluster.AttemptID]int // places in preempted whose attempts have yet to end with what they keep
	lost      []*LostMachine
	did       map[cluster.AttemptID]dag.Range // what attempts have finished, whatever masters make of it; nil where nobody asks
	recovered []Recovery
}

// observe notes what a command that is about to be applied takes from attempts.
func (b *body) observe(c cluster.Command) {
	switch c := c.(type) {
	case cluster.KillAttempt:
		if a := b.running(c.Attempt); a != nil {
			b.noteKill(a)
		}
	case cluster.PauseAttempt:
		how := preempt.Checkpoint
		if c.Split {
			how = preempt.Split
		}
		if a := b.running(c.Attempt); a != nil && !a.Pausing && !a.Suspended {
			b.note(a, how).Conserved = a.Held(b.now)
			b.account.asked[a.ID] = len(b.account.preempted) - 1
		}
	case cluster.SuspendAttempt:
		if a := b.running(c.Attempt); a != nil && !a.Pausing && !a.Suspended {
			b.note(a, preempt.Suspend).Conserved = a.Held(b.now)
		}
	}
}

func (b *body) running(id cluster.AttemptID) *cluster.Attempt {
	_, _, a, ok := b.view.Attempt(id)
	if !ok || a.State != cluster.AttemptRunning {
		return nil
	}
	return a
}

func (b *body) note(a *cluster.Attempt, how preempt.How) *Preemption {
	b.account.preempted = append(b.account.preempted, Preemption{
		At: b.time(), Job: b.jobs[a.ID.Task.Job].in.ID, Kind: phaseOf(a.ID), Task: a.ID.Task.Number, Attempt: a.ID.Number, How: how,
	})
	return &b.account.preempted[len(b.account.preempted)-1]
}

// noteKill takes the place of what was to be kept.
func (b *body) noteKill(a *cluster.Attempt) {
	if i, asked := b.account.asked[a.ID]; asked {
		p := &b.account.preempted[i]
		p.How, p.Lost, p.Conserved = preempt.Kill, a.Held(b.now), 0
		delete(b.account.asked, a.ID)
		return
	}
	b.note(a, preempt.Kill).Lost = a.Held(b.now)
}

// settleAsked notes what became of an attempt that was to keep its work.
func (b *body) settleAsked(a *cluster.Attempt) {
	i, asked := b.account.asked[a.ID]
	if !asked {
		return
	}
	delete(b.account.asked, a.ID)
	p := &b.account.preempted[i]
	switch {
	case a.Kept():
		p.How = preempt.Checkpoint // also where a split was asked for and could not be
	case a.Lost:
		p.Conserved = 0
	case a.State != cluster.AttemptSucceeded:
		p.Lost, p.Conserved = p.Conserved, 0
	}
}

// loss is what the failure of a machine costs, until it is given up.
type loss struct {
	record *LostMachine
	held   map[cluster.AttemptID]int64 // ms for which attempts that ran there had held slots
}

// noteFailure notes what a machine has when it fails.
func (b *body) noteFailure(m *machine) *LostMachine {
	m.lost = &loss{
		record: &LostMachine{Node: m.number, At: b.time(), Verdict: -1, Back: -1},
		held:   make(map[cluster.AttemptID]int64),
	}
	for _, a := range b.view.Machine(m.name).Attempts {
		if a.State == cluster.AttemptRunning {
			m.lost.held[a.ID] = a.Held(b.now)
		}
	}
	b.account.lost = append(b.account.lost, m.lost.record)
	m.gone = m.lost.record
	return m.lost.record
}

// noteVerdict notes what of a machine that failed has been given up.
func (b *body) noteVerdict(m *machine, delta cluster.Delta) {
	if m.lost == nil {
		return
	}
	record := m.lost.record
	record.Verdict = b.time()
	for _, id := range delta.Ended {
		record.Running++
		record.WorkLost += m.lost.held[id]
		b.miss(id.Task)
	}
	for _, id := range delta.Revoked {
		_, _, a, _ := b.view.Attempt(id)
		record.Outputs++
		record.Output += a.Held(a.EndedAt)
		b.miss(id.Task)
	}
	m.lost = nil
	b.probe()
}

// miss notes that a task was lost, if nobody else is at it.
func (b *body) miss(id cluster.TaskID) {
	if _, _, t, ok := b.view.Task(id); ok && (t.State == cluster.TaskPending || t.State == cluster.TaskPaused) {
		b.jobs[id.Job].missing[id] = b.time()
	}
}

// noteRecovery notes the start of an attempt at a task that was lost.
func (b *body) noteRecovery(id cluster.AttemptID) {
	owner := b.jobs[id.Task.Job]
	since, missing := owner.missing[id.Task]
	if !missing {
		return
	}
	delete(owner.missing, id.Task)
	j, t, a, _ := b.view.Attempt(id)
	m := b.view.Machine(a.Machine)
	b.account.recovered = append(b.account.recovered, Recovery{
		Job: owner.in.ID, Kind: phaseOf(a.ID), Task: id.Task.Number, Attempt: id.Number, Machine: b.byName[a.Machine].number,
		Verdict: since, Start: b.time(), Local: j.IsLocal(t, m),
	})
}
