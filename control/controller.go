package control

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// Controller decides. It is used by one goroutine.
type Controller struct {
	view   cluster.View
	policy sched.Policy

	facts    []cluster.Entry // to be proposed, in order
	inFlight bool            // a batch is on its way
	decide   bool            // the state has changed since the policy was last asked
	watch    watch
	slow     slowTasks
	soft     softFacts
	known    sched.Facts            // what the policy is told beside the state
	redone   map[cluster.JobID]bool // jobs that lost output which running tasks may wait for
	halted   map[cluster.JobID]bool // suspended jobs, whose attempts are not watched
	stranded stranded               // attempts that stand still and could go on elsewhere
	moves    moves                  // of output and checkpoints, from machines that are drained

	trace trace

	out Output // of the step under way
}

// New is a controller over the state that view shows.
func New(view cluster.View, policy sched.Policy) *Controller {
	c := &Controller{view: view, policy: policy, decide: true, soft: newSoftFacts()}
	c.known = c.soft
	return c
}

// Rely takes what is known beside the state from facts, and no longer from what
// attempts report. It is for bodies that know without being told.
func (c *Controller) Rely(facts sched.Facts) { c.known = facts }

// Step takes events in, in the order in which they came, and says what is to be
// done. Now is in ms since the epoch and never goes back.
func (c *Controller) Step(now int64, events []Event) Output {
	c.out = Output{}
	for _, ev := range events {
		c.handle(now, ev)
	}
	for _, attempt := range c.watch.expired(now) {
		c.timeOut(attempt)
	}
	c.evacuate(now)
	if !c.inFlight {
		c.propose(now)
	}
	c.out.Wake = sched.Earliest(sched.Earliest(c.watch.next(), c.policy.NextWake()), sched.Earliest(c.slow.wake, sched.Earliest(c.moves.wake, c.stranded.due)))
	return c.out
}

func (c *Controller) handle(now int64, ev Event) {
	switch ev := ev.(type) {
	case Applied:
		c.inFlight = false
		for _, r := range ev.Results {
			if r.Err == nil {
				c.applied(now, r.Delta)
			} else {
				c.refused(r.Entry.Command)
			}
		}
	case Requested:
		c.facts = append(c.facts, cluster.Entry{Client: ev.Client, Sequence: ev.Sequence, Command: ev.Command})
	case Leading:
		c.lead(now)
	case PolicyChanged:
		c.succeed(now, ev.Policy)
	case SplitsLoaded:
		c.decide = true
		c.repeatStarts(ev.Job)
	case SplitsLocated:
		c.decide = true
	case MachineConnected:
		c.remind(ev.Name)
		c.moves.forget(ev.Name)
	case OutputTaken:
		c.taken(now, ev)
	case AttemptProgressed:
		c.watch.progressed(now, ev.Attempt, ev.Mark)
		if _, _, a, ok := c.view.Attempt(ev.Attempt); ok && a.State == cluster.AttemptRunning {
			c.soft.progress.told(now, a.Slot, ev)
			c.soft.fetches.told(ev.Attempt, ev.Fetched)
		}
	case MachineMeasured:
		if m := c.view.Machine(ev.Name); m != nil && !m.Lost {
			c.soft.rooms[ev.Name] = ev.Room
		}
	case AttemptFinished:
		c.finished(ev)
	case AttemptFailed:
		c.failed(ev)
	case AttemptPaused:
		c.fact(cluster.CheckpointAttempt{Attempt: ev.Attempt, Checkpoint: ev.Checkpoint})
	case AttemptDeclined:
		c.declined(ev)
	case AttemptEnded:
		c.ended(ev)
	}
}

// lead takes over what earlier leaders have begun.
func (c *Controller) lead(now int64) {
	c.decide, c.moves, c.stranded = true, moves{due: true}, stranded{due: now}
	c.policy.Reset(now, c.seen())
	for m := range c.view.Machines() {
		for _, a := range m.Attempts {
			c.watchOver(now, a)
		}
	}
	for j := range c.view.Jobs() {
		c.slow.follow(j.ID, j)
		c.halt(now, j.ID)
		switch {
		case j.State == cluster.JobRunning:
			c.redo(j.ID)
			c.out.Work = append(c.out.Work, Work{WorkSetUp, j.ID})
		case !j.State.Final():
			c.work(j.ID)
		}
	}
}

// seen is what the policy sees.
func (c *Controller) seen() sched.View {
	return sched.View{View: c.view, Facts: c.known, Trace: c.trace.on}
}

func (c *Controller) fact(command cluster.Command) {
	c.facts = append(c.facts, cluster.Entry{Command: command})
}

// propose makes a batch of what is known and what the policy wants.
func (c *Controller) propose(now int64) {
	if wake := sched.Earliest(c.policy.NextWake(), c.stranded.due); c.decide || wake != 0 && wake <= now {
		c.decide = false
		c.plan(now)
	}
	c.speculate(now)
	if len(c.facts) == 0 {
		return
	}
	for i := range c.facts {
		c.facts[i].At = now
		c.facts[i].Command = c.spare(c.facts[i].Command)
	}
	c.out.Commands, c.facts = c.facts, nil
	c.inFlight = true
}

// plan asks the policy and turns its plan into commands. A task of a job whose
// splits are not loaded here waits for the next change.
func (c *Controller) plan(now int64) {
	plan := c.policy.Decide(now, c.seen())
	c.tell(now, plan)
	for _, p := range plan.Preempts {
		c.preempt(p)
	}
	for _, id := range plan.Resumes {
		c.fact(cluster.ResumeAttempt{Attempt: id})
	}
	for _, b := range plan.BundleResumes {
		c.fact(cluster.ResumeAttempt{Attempt: b.Attempts[0]}) // wakes all
	}
	for _, s := range plan.Starts {
		if start, ok := c.startOf(s); ok {
			c.fact(start)
		}
	}
	for _, b := range plan.Bundles {
		command := cluster.StartBundle{Job: b.Job, Class: b.Class, Number: b.Number}
		for _, s := range b.Starts {
			if start, ok := c.startOf(s); ok {
				command.Starts = append(command.Starts, start)
			}
		}
		if len(command.Starts) == len(b.Starts) {
			c.fact(command)
		}
	}
	c.makeRoom(now)
	c.moveStranded(now, plan)
}

// preempt takes its slot from an attempt that has not ended by itself.
func (c *Controller) preempt(p sched.Preempt) {
	switch p.How {
	case preempt.Split, preempt.Checkpoint:
		c.fact(cluster.PauseAttempt{Attempt: p.Attempt, Split: p.How == preempt.Split, Cause: p.Cause})
	case preempt.Suspend:
		c.fact(cluster.SuspendAttempt{Attempt: p.Attempt, Cause: p.Cause})
	case preempt.Kill:
		c.fact(cluster.KillAttempt{Attempt: p.Attempt, Cause: p.Cause, Preempt: true})
	}
}

func (c *Controller) startOf(s sched.Start) (cluster.StartAttempt, bool) {
	j, _, t, ok := c.view.Task(s.Task)
	if !ok || !j.Loaded() {
		return cluster.StartAttempt{}, false
	}
	return cluster.StartAttempt{Task: s.Task, Machine: s.Machine, Range: j.RangeOf(t), Local: s.Local, RackLocal: s.RackLocal}, true
}
