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
	Mode    preempt.Mode `json:"How"`

	Lost      int64 // ms of work that was thrown away
	Conserved int64 // ms of work that counts
}

// Cost is what a way of taking slots has cost.
type Cost struct {
	Preemptions     int
	Lost, Conserved int64 // ms of work
}

// ByMode sums up what each way of taking slots has cost.
func (r *Result) ByMode() map[preempt.Mode]Cost {
	sums := make(map[preempt.Mode]Cost)
	for _, p := range r.Preempted {
		sum := sums[p.Mode]
		sums[p.Mode] = Cost{sum.Preemptions + 1, sum.Lost + p.Lost, sum.Conserved + p.Conserved}
	}
	return sums
}

// LostMachine is the failure of a machine.
type LostMachine struct {
	Machine   int   `json:"Node"` // number of the machine
	At        int64 // when it failed
	ExpiredAt int64 `json:"Verdict"` // when it was given up, or was back before that; -1 when the run ended first
	Back      int64 // when it was back; -1 for never

	Running  int   // attempts that were lost
	WorkLost int64 // ms for which those had held slots until the failure
	Outputs  int   // finished attempts whose output was lost while it was needed
	Output   int64 // ms for which those had held slots
}

// Recovery is the first attempt at a task since an earlier one, or its output,
// was lost with a machine.
type Recovery struct {
	Job       string       // id in the workload
	Kind      cluster.Slot // its phase
	Task      int          // number in it
	Attempt   int
	Machine   int   // on which it runs
	ExpiredAt int64 `json:"Verdict"` // when the machine of the earlier attempt was given up
	Start     int64
	Local     bool // it is a map whose input lies on its machine
}

// Wait is for how long a task waited for its recovery after the verdict, in ms.
func (r Recovery) Wait() int64 { return r.Start - r.ExpiredAt }

// account is what preemption and failures have cost so far.
type account struct {
	preempted      []Preemption
	pending        map[cluster.AttemptID]int // places in preempted whose attempts have yet to end with what they keep
	lost           []*LostMachine
	finishedRanges map[cluster.AttemptID]dag.Range // what attempts have finished, whatever masters make of it; nil where nobody asks
	recovered      []Recovery
}

// notePreemptions notes what a command that is about to be applied takes from attempts.
func (b *body) notePreemptions(c cluster.Command) {
	switch c := c.(type) {
	case cluster.KillAttempt:
		if a := b.runningAttempt(c.Attempt); a != nil {
			b.noteKill(a)
		}
	case cluster.PreemptAttempt:
		a := b.runningAttempt(c.Attempt)
		switch {
		case a == nil:
		case c.Mode == preempt.Kill:
			b.noteKill(a)
		case a.State == cluster.AttemptRunning:
			b.notePreemption(a, c.Mode).Conserved = a.SlotTime(b.now)
			if c.Mode != preempt.Suspend {
				b.account.pending[a.ID] = len(b.account.preempted) - 1
			}
		}
	}
}

func (b *body) runningAttempt(id cluster.AttemptID) *cluster.Attempt {
	_, _, a, ok := b.view.Attempt(id)
	if !ok || !a.Active() {
		return nil
	}
	return a
}

func (b *body) notePreemption(a *cluster.Attempt, how preempt.Mode) *Preemption {
	b.account.preempted = append(b.account.preempted, Preemption{
		At: b.time(), Job: b.jobs[a.ID.Task.Job].in.ID, Kind: phaseOf(a.ID), Task: a.ID.Task.Number, Attempt: a.ID.Number, Mode: how,
	})
	return &b.account.preempted[len(b.account.preempted)-1]
}

// noteKill takes the place of what was to be kept.
func (b *body) noteKill(a *cluster.Attempt) {
	if i, asked := b.account.pending[a.ID]; asked {
		p := &b.account.preempted[i]
		p.Mode, p.Lost, p.Conserved = preempt.Kill, a.SlotTime(b.now), 0
		delete(b.account.pending, a.ID)
		return
	}
	b.notePreemption(a, preempt.Kill).Lost = a.SlotTime(b.now)
}

// settlePreemption notes what became of an attempt that was to keep its work.
func (b *body) settlePreemption(a *cluster.Attempt) {
	i, asked := b.account.pending[a.ID]
	if !asked {
		return
	}
	delete(b.account.pending, a.ID)
	p := &b.account.preempted[i]
	switch {
	case a.WorkKept():
		p.Mode = preempt.Checkpoint // also where a split was asked for and could not be
	case a.Lost():
		p.Conserved = 0
	case a.Status() != cluster.StatusSucceeded:
		p.Lost, p.Conserved = p.Conserved, 0
	}
}

// loss is what the failure of a machine costs, until it is given up.
type loss struct {
	record   *LostMachine
	slotTime map[cluster.AttemptID]int64 // ms for which attempts that ran there had held slots
}

// noteFailure notes what a machine has when it fails.
func (b *body) noteFailure(m *machine) *LostMachine {
	m.pendingLoss = &loss{
		record:   &LostMachine{Machine: m.number, At: b.time(), ExpiredAt: -1, Back: -1},
		slotTime: make(map[cluster.AttemptID]int64),
	}
	for _, a := range b.view.Machine(m.name).Attempts {
		if a.Active() {
			m.pendingLoss.slotTime[a.ID] = a.SlotTime(b.now)
		}
	}
	b.account.lost = append(b.account.lost, m.pendingLoss.record)
	m.lastFailure = m.pendingLoss.record
	return m.pendingLoss.record
}

// noteExpiry notes what of a machine that failed has been given up.
func (b *body) noteExpiry(m *machine, delta cluster.Delta) {
	if m.pendingLoss == nil {
		return
	}
	record := m.pendingLoss.record
	record.ExpiredAt = b.time()
	for _, id := range delta.Ended {
		record.Running++
		record.WorkLost += m.pendingLoss.slotTime[id]
		b.noteLostTask(id.Task)
	}
	for _, id := range delta.Revoked {
		_, _, a, _ := b.view.Attempt(id)
		record.Outputs++
		record.Output += a.SlotTime(a.EndedAt)
		b.noteLostTask(id.Task)
	}
	m.pendingLoss = nil
	b.probe()
}

// noteLostTask notes that a task was lost, if nobody else is at it.
func (b *body) noteLostTask(id cluster.TaskID) {
	if _, _, t, ok := b.view.Task(id); ok && (t.State == cluster.TaskPending || t.State == cluster.TaskCheckpointed) {
		b.jobs[id.Job].lostSince[id] = b.time()
	}
}

// noteRecovery notes the start of an attempt at a task that was lost.
func (b *body) noteRecovery(id cluster.AttemptID) {
	owner := b.jobs[id.Task.Job]
	since, missing := owner.lostSince[id.Task]
	if !missing {
		return
	}
	delete(owner.lostSince, id.Task)
	j, t, a, _ := b.view.Attempt(id)
	m := b.view.Machine(a.Machine)
	b.account.recovered = append(b.account.recovered, Recovery{
		Job: owner.in.ID, Kind: phaseOf(a.ID), Task: id.Task.Number, Attempt: id.Number, Machine: b.byName[a.Machine].number,
		ExpiredAt: since, Start: b.time(), Local: j.IsLocal(t, m),
	})
}
