package control

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// Controller decides what happens in the cluster. One goroutine uses it.
//
// A step is: events → pending commands → at most one batch in the log → Applied → orders,
// work and timeouts that follow from the change. All fields but view and pending are soft
// state: a new leader rebuilds them from the state (lead), or tasknodes report them
// again.
type Controller struct {
	view   cluster.View // view of the state to which the body applies batches
	policy sched.Policy // scheduling policy, asked for a plan after each change

	pending       []cluster.Entry // commands to be proposed, in order
	inFlight      bool            // a batch is in the log and not applied yet
	decide        bool            // the state has changed since the policy last decided
	timeouts      taskTimeouts    // timeouts of attempts that can make progress
	slow          slowTasks       // jobs that may get second attempts
	reported      reportedState   // what tasknodes have reported since this master leads
	softState     sched.SoftState // what attempts report, for the policy
	outputLost    lostOutputs
	suspendedJobs map[cluster.JobID]bool // suspended jobs, whose attempts do not time out
	outagePauses  outagePauses           // jobs that an outage of the storage pauses
	stranded      stranded               // suspended attempts that could resume elsewhere
	migrations    migrations             // copies of output and checkpoints from drained machines

	at       current  // what the step processes; see Recover
	events   []Event  // events of the step that are not handled yet
	suspects suspects // jobs that are skipped

	otherSoftState  sched.SoftState // set by UseSoftState; nil for none
	anticipatesEnds bool            // set by AnticipateEnds

	trace    trace             // decisions that were reported already
	deferred []sched.StageWait // Plan.Deferred of the latest decision

	out Output // output of the current step
}

// New returns a controller over the state that view shows.
func New(view cluster.View, policy sched.Policy) *Controller {
	reported := newReportedState()
	c := &Controller{
		view: view, policy: policy, decide: true, reported: reported, softState: reported,
		timeouts:   taskTimeouts{attempts: make(map[cluster.AttemptID]*watchedAttempt)},
		outputLost: lostOutputs{due: make(map[cluster.JobID]int64)}, suspendedJobs: make(map[cluster.JobID]bool), outagePauses: make(outagePauses),
	}
	c.view = view.Visiting(c.visit)
	return c
}

// UseSoftState replaces the reports of attempts by another source. A simulator, which needs
// no reports, calls it.
func (c *Controller) UseSoftState(source sched.SoftState) {
	c.softState, c.otherSoftState = source, source
}

// Step handles events, in the order in which they occurred, and returns what the body has to
// do. Now is in ms since the epoch and never decreases. If Step panics, the controller may only
// be used after Recover.
func (c *Controller) Step(now int64, events []Event) Output {
	c.out = Output{}
	c.events = append(c.events, events...)
	for len(c.events) > 0 {
		ev := c.events[0]
		c.events = c.events[1:]
		if c.begin(subjectOf(ev)) {
			c.handle(now, ev)
		}
	}
	c.events = nil
	for _, attempt := range c.timeouts.expired(now) {
		if c.begin(attempt.Task.Job) {
			c.timeOut(attempt)
		}
	}
	c.at = current{}
	c.endOutagePauses(now)
	c.evacuate(now)
	if !c.inFlight {
		c.propose(now)
	}
	c.at = current{}
	c.out.Wake = sched.Earliest(sched.Earliest(c.timeouts.next(), c.slow.wake), sched.Earliest(c.migrations.wake, c.outagePauses.next()))
	if !c.inFlight {
		c.out.Wake = sched.Earliest(c.out.Wake, c.planAt())
	}
	return c.out
}

// handle handles one event. Only commands change the state, so most events become
// commands.
func (c *Controller) handle(now int64, ev Event) {
	switch ev := ev.(type) {
	case Applied:
		c.inFlight = false
		for _, r := range ev.Results {
			if r.Err == nil {
				c.applied(now, r.Delta)
			} else {
				c.commandRefused(r.Entry.Command)
			}
		}
	case Requested:
		c.pending = append(c.pending, cluster.Entry{Client: ev.Client, Sequence: ev.Sequence, Command: ev.Command, By: ev.By})
	case Leading:
		c.lead(now)
	case PolicyChanged:
		c.replacePolicy(now, ev.Policy)
	case SplitsLoaded:
		c.decide = true
		c.repeatStarts(ev.Job)
	case SplitsLocated:
		c.decide = true
	case Stalled:
		c.timeouts.postpone(ev.Millis)
	case MachineConnected:
		c.repeatOrders(ev.Name)
		c.migrations.forget(ev.Name)
	case OutputCopied:
		c.outputCopied(now, ev)
	case MachineMeasured:
		if m := c.view.Machine(ev.Name); m != nil && !m.Lost {
			c.reported.headrooms[ev.Name] = ev.Headroom
		}
	case reportEvent:
		if _, t, a, ok := c.view.Attempt(ev.attempt()); ok {
			c.handleReport(now, t, a, ev)
		}
	}
}

// handleReport handles what a tasknode reports of a known attempt.
func (c *Controller) handleReport(now int64, t *cluster.Task, a *cluster.Attempt, ev reportEvent) {
	switch ev := ev.(type) {
	case AttemptProgressed:
		c.timeouts.progressed(now, ev.Attempt, ev.Mark)
		if a.Active() {
			c.reported.progress.update(now, a.Slot, ev)
			c.reported.fetches.update(ev.Attempt, ev.Fetched)
		}
	case AttemptFinished:
		c.finished(t, a, ev)
	case AttemptFailed:
		c.failed(ev)
	case PreemptionDeclined:
		c.preemptionDeclined(a, ev)
	case AttemptExited:
		c.exited(ev)
	}
}

// lead continues what earlier leaders have begun.
func (c *Controller) lead(now int64) {
	c.decide, c.migrations, c.stranded = true, migrations{due: true}, stranded{due: now}
	c.ask(func(p sched.Policy) { p.Reset(now, c.policyView()) })
	for m := range c.view.Machines() {
		for _, a := range m.Attempts {
			if c.begin(a.ID.Task.Job) {
				c.startTimeout(now, a)
			}
		}
	}
	for j := range c.view.Jobs() {
		c.slow.update(j.ID, j)
		c.updateJobTimeouts(now, j.ID)
		c.outagePauses.update(j.ID, j)
		switch {
		case j.State == cluster.JobRunning:
			c.outputLost.due[j.ID] = 0
			c.out.Work = append(c.out.Work, Work{WorkSetUp, j.ID})
		case !j.State.Final():
			c.work(j.ID)
		}
	}
}

// enqueue makes a command of the controller's own pending. It carries no client, because the
// state refuses a repetition of it.
func (c *Controller) enqueue(command cluster.Command) {
	c.pending = append(c.pending, cluster.Entry{Command: command})
}

// planAt returns when a plan is due although nothing changes; 0 for never.
func (c *Controller) planAt() (at int64) {
	c.ask(func(p sched.Policy) { at = p.NextWake() })
	return sched.Earliest(at, sched.Earliest(c.stranded.due, c.outputLost.next))
}

// propose makes a batch of the pending commands and those of the policy. It is called only
// while no batch is in the log: a plan on a state that is about to change could give a slot
// twice. The policy is asked again only after a change or at the time that NextWake
// returned.
func (c *Controller) propose(now int64) {
	freeing := c.freeing(now)
	if at := c.planAt(); c.decide || len(freeing) > 0 || at != 0 && at <= now {
		c.decide = false
		c.plan(now, freeing)
	}
	c.speculate(now)
	if len(c.pending) == 0 {
		return
	}
	for i := range c.pending {
		c.pending[i].At = now
		c.pending[i].Command = c.excludeFetched(c.pending[i].Command)
	}
	c.out.Commands, c.pending = c.pending, nil
	c.inFlight = true
}
