package board

import (
	"slices"

	"github.com/hammr/hammr/cluster"
)

// Commit updates the board after the state has applied an entry. view shows the state after it.
//
// What has changed follows from the command and the delta. It is enough to know which tasks may
// have changed: their rows are compared with the state, and the differences are the events.
func (b *Board) Commit(e cluster.Entry, delta cluster.Delta, view cluster.View) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := &b.mu.contents
	c.changes++
	if c.since == 0 {
		c.since = e.At
	}
	if b.mu.ledger.since == 0 {
		b.mu.ledger.since = e.At
	}
	u := update{Board: b, contents: c, view: view, at: e.At}
	u.command(e.Command)
	for _, ids := range [...][]cluster.AttemptID{delta.Started, delta.OrdersChanged, delta.Freed, delta.Published, delta.Moved} {
		for _, id := range ids {
			u.syncTask(id.Task)
		}
	}
	for _, ids := range [...][]cluster.AttemptID{delta.Ended, delta.Revoked} {
		for _, id := range ids {
			u.syncGang(id.Task)
		}
	}
	u.forgetReady(delta.Revoked)
	for _, ids := range [...][]cluster.JobID{delta.Jobs, delta.Archived, delta.Retired} {
		for _, id := range ids {
			u.jobChanged(id)
		}
	}
	for _, name := range delta.Machines {
		c.offer(name, view.Machine(name))
	}
	u.noteAction(e)
	u.noteLoss(e.Command, delta)
}

// update is the update of a Board for one entry.
type update struct {
	*Board
	*contents
	view        cluster.View
	at          int64               // time of the entry, ms since the epoch
	silent      bool                // no events
	place       Place               // of the attempts that are added
	beneficiary cluster.Beneficiary // for which the entry takes slots, with the pool of its job
	gang        gang                // gang whose tasks were compared last
}

// gang names a gang.
type gang struct {
	bundle *cluster.Bundle
	number int
}

// command updates what a command changes beside what its delta lists. Commands that are in no
// case change only what the delta lists: TestCommandsAreKnown has the list of them.
func (u *update) command(command cluster.Command) {
	switch c := command.(type) {
	case cluster.PreemptAttempt:
		u.beneficiary = u.withPool(c.For)
	case cluster.StartAttempt:
		u.start(c)
	case cluster.StartBundle:
		for _, s := range c.Starts {
			u.start(s)
		}
	case cluster.SpeculateTask:
		u.place = PlaceAny
		u.syncTask(c.Task)
		u.place = PlaceUnknown
	case cluster.SplitTask:
		u.split(c)
	case cluster.DeclinePreemption:
		u.syncTask(c.Attempt.Task)
	case cluster.MoveCheckpoint:
		u.syncTask(c.Attempt.Task)
	case cluster.ExpireMachine:
		u.syncAll()
	case cluster.JoinMachine:
		u.join(c)
	case cluster.ForgetMachine:
		delete(u.machines, c.Name)
	}
}

// start updates a task that was started, with the place of its attempt.
func (u *update) start(s cluster.StartAttempt) {
	switch {
	case s.Local:
		u.place = PlaceNode
	case s.RackLocal:
		u.place = PlaceRack
	default:
		u.place = PlaceAny
		if _, _, t, known := u.view.Task(s.Task); known && t.Split >= 0 {
			u.place = PlaceOther
		}
	}
	mine, stage := u.syncTask(s.Task)
	u.place = PlaceUnknown
	if mine != nil {
		u.observeWait(stage, s.Task)
	}
}

// split adds the task that a split has made.
func (u *update) split(c cluster.SplitTask) {
	j, s := u.syncTask(c.Attempt.Task)
	if s == nil {
		return
	}
	if s.splitAt == nil {
		s.splitAt = make(map[int]int64)
	}
	s.splitAt[s.tasks.end()-1] = u.at
	task := s.tasks.at(c.Attempt.Task.Number)
	u.add(j, event{
		stage: uint16(s.index), kind: EventSplit, attempt: s.rowOfNumber(task.last, c.Attempt.Number), other: uint32(s.tasks.end() - 1),
	})
}

// join updates what a machine has lost or brought back. A machine that only joins again after
// a change of leader has neither; its attempts and its output are as before.
func (u *update) join(c cluster.JoinMachine) {
	was := u.machines[c.Name]
	m := u.view.Machine(c.Name)
	now := machine{instance: m.Instance, epoch: m.Epoch}
	if u.machines[c.Name] = now; was != now && was.epoch > 0 {
		u.syncAll()
	}
}

// syncGang compares a task and, if it runs in a gang, the other tasks of the gang, which may have
// been rolled back.
func (u *update) syncGang(id cluster.TaskID) {
	_, s, t, known := u.view.Task(id)
	if !known || !s.Bundle.Gang {
		u.syncTask(id)
		return
	}
	g := gang{s.Bundle, s.Bundle.NumberOf(s, t)}
	if g == u.gang {
		return
	}
	u.gang = g
	for _, mate := range g.bundle.TasksOf(g.number) {
		u.syncTask(mate.ID)
	}
}

// jobChanged updates a job. From Committing on, the end of the job may have ended any task.
func (u *update) jobChanged(id cluster.JobID) {
	j := u.view.Job(id)
	i, known := u.find(id)
	if j != nil && known && !j.Archived && (j.State <= cluster.JobRunning || u.jobs[i].State == j.State) && j.State != cluster.JobAborting {
		u.syncStages(u.jobs[i], j)
		return
	}
	u.syncJob(id)
}

// syncAll compares all tasks of jobs that are not over.
func (u *update) syncAll() {
	for _, j := range slices.Clone(u.jobs) {
		if !j.State.Final() {
			u.syncJob(j.ID)
		}
	}
}
