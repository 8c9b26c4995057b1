package control

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// A panic in Step is a mistake in this package, in a policy or in the state of one job. It must
// fail only the job that was being processed. The caller recovers it, calls Recover and steps
// again:
//
//	Step ── panic ──► Recover ──► Suspect{Job}: skipped from now on; the caller fails it
//	  ▲                   │
//	  └───────────────────┴─────► Suspect{Policy}: another policy decides in the next step

// Suspect is what Step was processing when it panicked. It is zero if that is unknown.
type Suspect struct {
	Job    cluster.JobID
	Policy bool // it was in a call of the policy
}

// current is what the step processes at the moment.
type current struct {
	job    cluster.JobID
	policy bool
}

// suspects are the jobs whose processing has panicked, with their states at that time.
type suspects map[cluster.JobID]cluster.JobState

// Recover makes the controller usable after Step has panicked. All soft state is dropped, as
// by a new leader, since it may be inconsistent. Pending commands stay. The next Step handles
// the events that are left, except the one at which Step panicked. Policy replaces the policy
// if a call of it panicked.
func (c *Controller) Recover(policy sched.Policy) Suspect {
	suspect := Suspect{Job: c.at.job, Policy: c.at.policy}
	if suspect.Policy {
		suspect.Job = cluster.JobID{} // the policy may have visited it long before
	} else {
		policy = c.policy
	}
	again := New(c.view, policy)
	again.pending, again.inFlight = c.pending, c.inFlight
	if c.out.Commands != nil { // the batch never left the step
		again.pending, again.inFlight = c.out.Commands, false
	}
	again.events = append([]Event{Leading{}}, c.events...)
	again.suspects, again.trace.on, again.anticipatesEnds = c.suspects, c.trace.on, c.anticipatesEnds
	if c.otherSoftState != nil {
		again.UseSoftState(c.otherSoftState)
	}
	if j := c.view.Job(suspect.Job); j != nil {
		if again.suspects == nil {
			again.suspects = make(suspects)
		}
		again.suspects[j.ID] = j.State
	}
	*c = *again
	c.view = c.view.Visiting(c.visit)
	return suspect
}

// visit notes the job that a loop over all jobs has reached, nil at its end. It reports whether
// the job is not skipped.
func (c *Controller) visit(j *cluster.Job) bool {
	c.at.job = cluster.JobID{}
	return j == nil || c.begin(j.ID)
}

// begin notes that the job is processed now. The result is false if the job is skipped: it is
// suspect, and has not been failed yet. A job that is suspect again while it ends is skipped
// until the next lead.
func (c *Controller) begin(id cluster.JobID) bool {
	c.at.job = id
	then, suspect := c.suspects[id]
	if !suspect {
		return true
	}
	j := c.view.Job(id)
	return j != nil && then < cluster.JobAborting && j.State >= cluster.JobAborting
}

// subjectOf returns the job that an event is about; zero for none or several.
func subjectOf(ev Event) cluster.JobID {
	switch ev := ev.(type) {
	case SplitsLoaded:
		return ev.Job
	case SplitsLocated:
		return ev.Job
	case OutputCopied:
		return ev.Attempt.Task.Job
	case reportEvent:
		return ev.attempt().Task.Job
	}
	return cluster.JobID{}
}

// ask marks calls of the policy for Recover.
func (c *Controller) ask(call func(p sched.Policy)) {
	c.at.policy = true
	call(c.policy)
	c.at.policy = false
}
