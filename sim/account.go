package sim

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
)

// phaseOf returns the phase of an attempt's task, whatever kind of slot it has.
func phaseOf(id cluster.AttemptID) cluster.Slot {
	if id.Task.Stage == "m" {
		return cluster.MapSlot
	}
	return cluster.ReduceSlot
}

// Preemption is a slot that was taken from a running attempt for another task. Work is the
// attempt's slot time up to the preemption. If the machine fails before the attempt can keep
// its work, that work is neither lost nor conserved here: it counts in LostMachine.
type Preemption struct {
	At      int64
	Job     string       // id in the workload
	Kind    cluster.Slot // phase of the task
	Task    int          // number of the task in its phase
	Attempt int          // number of the attempt in its task
	Mode    preempt.Mode `json:"How"`

	Lost      int64 // ms of work thrown away
	Conserved int64 // ms of work kept
}

// LostMachine is the failure of a machine, and what it cost.
type LostMachine struct {
	Machine   int   `json:"Node"` // number of the machine
	At        int64 // when it failed
	ExpiredAt int64 `json:"Verdict"` // when it was declared lost or returned before that; -1 if the run ended first
	Back      int64 // when it returned; -1 for never

	Running  int   // running attempts that were lost
	WorkLost int64 // ms of slot time of the running attempts until the failure
	Outputs  int   // finished attempts whose output was lost while it was needed
	Output   int64 // ms of slot time of the attempts in Outputs
}

// Recovery is the first attempt at a task after a machine failure has lost an earlier
// attempt or its output.
type Recovery struct {
	Job       string       // id in the workload
	Kind      cluster.Slot // phase of the task
	Task      int          // number of the task in its phase
	Attempt   int
	Machine   int   // number of the machine on which it runs
	ExpiredAt int64 `json:"Verdict"` // when the machine of the earlier attempt was declared lost
	Start     int64
	Local     bool // it is a map on a machine with its input
}

// Wait returns how long the task waited for its recovery after the expiry, in ms.
func (r Recovery) Wait() int64 { return r.Start - r.ExpiredAt }

// account sums up what preemptions and failures have cost so far.
//
//	KillAttempt, PreemptAttempt ─► notePreemptions ─► Preemption, pending for those that save
//	end of the attempt          ─► settlePreemption ─► its work is conserved or lost
//	failMachine                 ─► noteFailure  ─► loss: attempts with their slot time
//	the machine expires         ─► noteExpiry   ─► LostMachine
//	new attempt at a lost task  ─► noteRecovery ─► Recovery
type account struct {
	preempted      []Preemption
	pending        map[cluster.AttemptID]int // indexes in preempted of attempts that are about to save their work
	lost           []*LostMachine
	finishedRanges map[cluster.AttemptID]dag.Range // what attempts have finished, even if no master knows; nil unless a check needs it
	recovered      []Recovery
}

// notePreemptions records what a command takes from attempts, before it is applied. It runs
// before that, because the command changes slot times and states. A request of a mode other
// than kill counts its work as conserved until settlePreemption shows otherwise.
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

func (b *body) notePreemption(a *cluster.Attempt, mode preempt.Mode) *Preemption {
	b.account.preempted = append(b.account.preempted, Preemption{
		At: b.time(), Job: b.jobs[a.ID.Task.Job].in.ID, Kind: phaseOf(a.ID), Task: a.ID.Task.Number, Attempt: a.ID.Number, Mode: mode,
	})
	return &b.account.preempted[len(b.account.preempted)-1]
}

// noteKill replaces a pending preemption that would have kept the work. An attempt that is
// too slow to save its work may be killed later.
func (b *body) noteKill(a *cluster.Attempt) {
	if i, pending := b.account.pending[a.ID]; pending {
		p := &b.account.preempted[i]
		p.Mode, p.Lost, p.Conserved = preempt.Kill, a.SlotTime(b.now), 0
		delete(b.account.pending, a.ID)
		return
	}
	b.notePreemption(a, preempt.Kill).Lost = a.SlotTime(b.now)
}

// settlePreemption records how an attempt ended that was ordered to keep its work. An
// attempt that finished before it could save its work has lost nothing.
func (b *body) settlePreemption(a *cluster.Attempt) {
	i, pending := b.account.pending[a.ID]
	if !pending {
		return
	}
	delete(b.account.pending, a.ID)
	p := &b.account.preempted[i]
	switch {
	case a.WorkKept():
		p.Mode = preempt.Checkpoint // the fallback of an impossible split, too
	case a.Lost():
		p.Conserved = 0
	case a.Status() != cluster.StatusSucceeded:
		p.Lost, p.Conserved = p.Conserved, 0
	}
}

// loss is the cost of a machine failure until the machine expires. A machine that returns
// before it expires has lost its running attempts too, but not its outputs.
type loss struct {
	record   *LostMachine
	slotTime map[cluster.AttemptID]int64 // ms of the attempts that ran there
}

// noteFailure records the attempts on a machine that fails. The slot time is taken at the
// moment of the failure, because the state counts on until the expiry.
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

// noteExpiry records what was lost with a machine that expires. It also asks all attempts
// for their progress, as Chronos does.
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

// noteLostTask records that a task is lost, unless another attempt runs.
func (b *body) noteLostTask(id cluster.TaskID) {
	if _, _, t, ok := b.view.Task(id); ok && (t.State == cluster.TaskPending || t.State == cluster.TaskCheckpointed) {
		b.jobs[id.Job].lostSince[id] = b.time()
	}
}

// noteRecovery records the start of an attempt at a lost task. Later attempts at the same
// task are no recoveries.
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
