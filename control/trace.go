package control

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// trace keeps the latest decisions, so that none is reported twice: the policy decides after
// each change, and most of its decisions repeat the last ones.
//
// What is kept is bounded. When it is full, everything is dropped, and decisions that have not
// changed are reported a second time.
type trace struct {
	plans bool                                         // launches, resumes and preemptions are reported
	on    bool                                         // all decisions are reported
	last  map[cluster.JobID]map[subject]sched.Decision // decisions about pools are under the zero job
	count int                                          // decisions in last
	bytes int                                          // size of these decisions, by traceBytes
}

const (
	maxTraced      = 131_072  // decisions: some for each stage of 10,000 jobs
	maxTracedBytes = 64 << 20 // of these decisions, with their texts
)

// traceBytes returns about how much memory a decision takes in a trace.
func traceBytes(d sched.Decision) int {
	return 512 + len(d.Policy) + len(d.Pool) + len(d.Stage) + len(d.Machine) + len(d.Cause)
}

// subject is the object of a decision, within a job or a pool.
type subject struct {
	kind        sched.DecisionKind
	pool, stage string
	slot        cluster.Slot
}

// Trace switches Output.Decisions on or off.
func (c *Controller) Trace(on bool) { c.trace = trace{plans: on, on: on} }

// TracePlans makes Output.Decisions have only what follows from plans: launches, resumes and
// preemptions. That costs little, while offers and shares take the policy time.
func (c *Controller) TracePlans() { c.trace = trace{plans: true} }

// traceDecisions reports the decisions of a plan.
func (c *Controller) traceDecisions(now int64, plan sched.Plan) {
	if !c.trace.plans {
		return
	}
	for _, d := range plan.Decisions {
		if c.trace.on && c.trace.isNew(d) {
			c.out.Decisions = append(c.out.Decisions, d)
		}
	}
	for _, p := range plan.Preempts {
		d := sched.Decision{Kind: sched.DecisionPreempt, Mode: p.Mode, Cause: p.Cause, For: p.For, ForPool: p.ForPool}
		if j := c.view.Job(p.For); j != nil {
			d.ForPool = j.Spec.Pool
		}
		c.traceAttempt(now, p.Attempt, d)
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
	if !c.trace.plans || !ok {
		return
	}
	d.At, d.Job, d.Task, d.Pool, d.Stage, d.Slot, d.Slots = now, j.ID, id, j.Spec.Pool, stage.Name, stage.Slot, 1
	c.out.Decisions = append(c.out.Decisions, d)
	for _, kind := range []sched.DecisionKind{sched.DecisionOffer, sched.DecisionSkip} {
		c.trace.drop(j.ID, subject{kind, d.Pool, d.Stage, d.Slot})
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
	t.drop(d.Job, about)
	if t.count >= maxTraced || t.bytes+traceBytes(d) > maxTracedBytes {
		*t = trace{plans: t.plans, on: t.on}
	}
	if t.last == nil {
		t.last = make(map[cluster.JobID]map[subject]sched.Decision)
	}
	if of = t.last[d.Job]; of == nil {
		of = make(map[subject]sched.Decision)
		t.last[d.Job] = of
	}
	of[about] = d
	t.count, t.bytes = t.count+1, t.bytes+traceBytes(d)
	return true
}

// drop drops the last decision about a subject, if there is one.
func (t *trace) drop(id cluster.JobID, about subject) {
	if d, known := t.last[id][about]; known {
		t.count, t.bytes = t.count-1, t.bytes-traceBytes(d)
		delete(t.last[id], about)
	}
}

// forget drops the decisions about a job that has ended; j is nil if the job is retired.
func (t *trace) forget(id cluster.JobID, j *cluster.Job) {
	if j == nil || j.State.Final() {
		for about := range t.last[id] {
			t.drop(id, about)
		}
		delete(t.last, id)
	}
}
