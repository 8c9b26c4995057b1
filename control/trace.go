package control

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// trace keeps the latest decisions, so that none is reported twice: the policy decides after
// each change, and most of its decisions repeat the last ones.
type trace struct {
	on   bool                                         // decisions are reported
	last map[cluster.JobID]map[subject]sched.Decision // decisions about pools are under the zero job
}

// subject is the object of a decision, within a job or a pool.
type subject struct {
	kind        sched.DecisionKind
	pool, stage string
	slot        cluster.Slot
}

// Trace switches Output.Decisions on or off.
func (c *Controller) Trace(on bool) { c.trace = trace{on: on} }

// traceDecisions reports the decisions of a plan.
func (c *Controller) traceDecisions(now int64, plan sched.Plan) {
	if !c.trace.on {
		return
	}
	for _, d := range plan.Decisions {
		if c.trace.isNew(d) {
			c.out.Decisions = append(c.out.Decisions, d)
		}
	}
	for _, p := range plan.Preempts {
		c.traceAttempt(now, p.Attempt, sched.Decision{Kind: sched.DecisionPreempt, Mode: p.Mode, Cause: p.Cause})
	}
	for id := range plan.AllResumes() {
		c.traceAttempt(now, id, sched.Decision{Kind: sched.DecisionResume})
	}
	for s := range plan.AllStarts() {
		c.traceTask(now, s.Task, sched.Decision{Kind: sched.DecisionLaunch, Machine: s.Machine, Locality: localityOf(s)})
	}
}

// localityOf returns how near a start is to its input, for decisions.jsonl; "" for
// elsewhere.
func localityOf(s sched.Start) sched.Locality {
	switch {
	case s.Local:
		return sched.MachineLocal
	case s.RackLocal:
		return sched.RackLocal
	}
	return ""
}

// traceAttempt reports a decision about an attempt that is still known.
func (c *Controller) traceAttempt(now int64, id cluster.AttemptID, d sched.Decision) {
	if _, _, a, ok := c.view.Attempt(id); ok {
		d.Attempt, d.Machine = id, a.Machine
		c.traceTask(now, id.Task, d)
	}
}

// traceTask reports a decision about a task. After it, an offer to the task's stage or a
// skip counts as new.
func (c *Controller) traceTask(now int64, id cluster.TaskID, d sched.Decision) {
	j, stage, _, ok := c.view.Task(id)
	if !c.trace.on || !ok {
		return
	}
	d.At, d.Job, d.Task, d.Pool, d.Stage, d.Slot, d.Slots = now, j.ID, id, j.Spec.Pool, stage.Name, stage.Slot, 1
	c.out.Decisions = append(c.out.Decisions, d)
	for _, kind := range []sched.DecisionKind{sched.DecisionOffer, sched.DecisionSkip} {
		delete(c.trace.last[j.ID], subject{kind, d.Pool, d.Stage, d.Slot})
	}
}

// isNew reports whether a decision differs from the last one about the same subject.
func (t *trace) isNew(d sched.Decision) bool {
	about := subject{d.Kind, d.Pool, d.Stage, d.Slot}
	of := t.last[d.Job]
	last, known := of[about]
	last.At = d.At
	if known && last == d {
		return false
	}
	if of == nil {
		of = make(map[subject]sched.Decision)
		if t.last == nil {
			t.last = make(map[cluster.JobID]map[subject]sched.Decision)
		}
		t.last[d.Job] = of
	}
	of[about] = d
	return true
}

// forget drops the decisions about a job that has ended; j is nil if the job is retired.
func (t *trace) forget(id cluster.JobID, j *cluster.Job) {
	if j == nil || j.State.Final() {
		delete(t.last, id)
	}
}
