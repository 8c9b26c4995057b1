package jobmaster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/sched"
)

// Explain says why a job has or lacks slots. If taskID is not "", it also explains that
// task. For a job that is over it says which slots the job had. If an id is unknown, the
// error wraps cluster.ErrUnknown.
//
// explainPresent finds out whether the job is over, because the job may end between two
// messages. The status of a finished job contains all data for its explanation.
func (m *Master) Explain(ctx context.Context, jobID, taskID string) (e apidoc.Explanation, err error) {
	present, err := m.explainPresent(ctx, jobID, taskID)
	switch {
	case present != nil:
		return *present, nil
	case err != nil && !errors.Is(err, cluster.ErrRetired):
		return e, err
	}
	s, err := m.Job(ctx, jobID, true)
	if err != nil {
		return e, err
	}
	return ExplainFinished(s, taskID)
}

// explainPresent explains a job that is not over; it returns nil for others.
func (m *Master) explainPresent(ctx context.Context, jobID, taskID string) (*apidoc.Explanation, error) {
	return query(ctx, m, func() (*apidoc.Explanation, error) {
		j, err := m.jobNamed(jobID)
		if err != nil || j.State.Final() {
			return nil, err
		}
		e := &explainer{m: m, job: j, record: m.record(j.ID), now: m.now()}
		if taskID != "" {
			id, err := cluster.ParseTaskID(taskID)
			_, stage, t, known := m.view.Task(id)
			if err != nil || !known || id.Job != j.ID {
				return nil, fmt.Errorf("%w: job %v has no task %q", cluster.ErrUnknown, j.ID, taskID)
			}
			e.stage, e.task = stage, t
		}
		return e.explain(), nil
	})
}

// explainer explains one job that is not over. It exists for one message of the loop, so
// that all data it reads is from one moment.
//
// The policy gives most of the reasons. explainer calls consider, which returns what the
// policy would do without doing it, and searches these decisions for the job. Explanations of
// the same second share that plan, so it may be a second older than the rest.
type explainer struct {
	m      *Master
	job    *cluster.Job
	record *record
	stage  *cluster.Stage // stage of the task that the request names; nil if it names none
	task   *cluster.Task  // the task that the request names; nil if it names none
	now    int64          // ms since the epoch

	plan sched.Plan // what the policy would do now
}

// explain makes the explanation. It asks the policy only if the job could use slots. If the
// job is blocked, the reasons are already known.
func (e *explainer) explain() *apidoc.Explanation {
	m, j := e.m, e.job
	out := &apidoc.Explanation{
		JobID: j.ID.String(), State: j.State.String(), Queue: j.Spec.Pool, Priority: priorityName(j.Spec.Priority), Policy: m.view.Policy(), Stages: []apidoc.Stage{},
		Taken: e.preempted(), Submit: j.SubmittedAt, AsOf: e.now, Index: m.index, Waits: apidoc.WaitTimesOf(e.record.waits.job.message(e.now)), WaitsSince: m.waitsSince(j),
	}
	out.Reasons, out.Classes = textsOf(e.blockedReasons())
	if len(out.Reasons) == 0 {
		e.plan, out.AsOf = m.consider()
	}
	for _, f := range m.brain.Explain(e.now, j) {
		out.Details = append(out.Details, apidoc.Detail(f))
	}
	reads := readsOf(j)
	for i, stage := range j.Stages {
		out.Stages = append(out.Stages, e.stageDocument(stage))
		out.Stages[i].Reads = reads[i]
		if e.record.waits.stages != nil {
			out.Stages[i].Waits = apidoc.WaitTimesOf(e.record.waits.stages[i].message(e.now))
		}
	}
	if e.task != nil {
		out.Task = e.taskDocument()
	}
	return out
}

// blockedReasons returns why no task of the job can have a slot, whatever the policy
// decides.
func (e *explainer) blockedReasons() []reason {
	w := e.m.whyJob(e.job, e.record.outage)
	if w.cause == (cause{}) && !e.job.Loaded() {
		w.cause = loading
	}
	if w.cause == (cause{}) {
		return nil
	}
	return []reason{w.explain()}
}

// textsOf returns the texts of reasons and of their classes.
func textsOf(reasons []reason) (texts, classes []string) {
	for _, r := range reasons {
		texts, classes = append(texts, r.text), append(classes, r.class.String())
	}
	return texts, classes
}

// stageDocument describes a stage: the number of its tasks in each state, the slots of its
// kind in the cluster, and why its other tasks wait.
func (e *explainer) stageDocument(stage *cluster.Stage) apidoc.Stage {
	suspended := stage.SuspendedCount()
	out := apidoc.Stage{
		Name: stage.Name, Code: stage.Code, Slot: stage.Slot.String(), Tasks: int32(len(stage.Tasks)), Finished: int32(stage.Finished), Running: int32(stage.Running - suspended),
		Suspended: int32(suspended), Waiting: int32(stage.ToStart()), Avoids: e.m.view.Avoided(e.job, e.now),
		Free: int32(e.m.slots().free[stage.Slot]), Slots: int32(e.m.slots().all[stage.Slot]),
	}
	if e.job.State == cluster.JobRunning && out.Waiting+out.Suspended > 0 {
		reasons, until := e.whyWaiting(stage)
		out.Reasons, out.Classes = textsOf(reasons)
		out.Until = until
	}
	return out
}

// whyWaiting returns why tasks of a stage wait or are suspended. until is when the tasks are
// considered again even if nothing changes, in ms since the epoch; 0 for never.
//
// The causes are tested in the order in which they block a task: the job, the earlier
// stages, the splits, the size of the bundle, and last the policy.
func (e *explainer) whyWaiting(stage *cluster.Stage) (reasons []reason, until int64) {
	w := e.m.whyStage(e.job, e.record, stage)
	if w.cause == notReady {
		return e.unready(stage), 0
	}
	if blocked := e.blockedReasons(); blocked != nil {
		return blocked, 0
	}
	if !stage.StartsAlone() && (w.class == sched.WaitTooLarge || w.class == sched.WaitNoNode) {
		return []reason{w.explain()}, 0
	}
	if n := e.starting(stage); n > 0 {
		reasons = append(reasons, reason{sched.NotWaiting, fmt.Sprintf("%d are about to get slots", n)})
	}
	offered := false
	for _, d := range e.plan.Decisions {
		if d.Job != e.job.ID || d.Stage != stage.Bundle.Stages[0].Name && d.Stage != stage.Name {
			continue
		}
		offered = true
		if d.Kind == sched.DecisionSkip {
			class := d.Class
			if class == sched.WaitNoSlot || class == sched.WaitMemory { // there may be a reason for that
				class = w.class
			}
			reasons = append(reasons, reason{class, fmt.Sprintf("offered slots; %d declined: %s", d.Slots, d.Cause)})
			until = d.Until
		}
	}
	if !offered {
		reasons = append(reasons, w.explain())
	}
	return reasons, until
}

// unready returns, as reasons, the stages whose tasks must finish first.
func (e *explainer) unready(stage *cluster.Stage) (reasons []reason) {
	for up := range stage.Upstream() {
		early := e.job.SlowStartTasks(up)
		w := why{notReady, []any{"finished", up.Finished, "tasks", len(up.Tasks), "upstream", up.Name, "early", early}}
		switch {
		case up.Finished < early:
			w.cause = slowStart
			fallthrough
		case !up.Complete():
			reasons = append(reasons, w.explain())
		}
	}
	return reasons
}

// starting counts the tasks of a stage that are about to get slots.
func (e *explainer) starting(stage *cluster.Stage) (n int) {
	of := func(id cluster.TaskID) bool { return id.Job == e.job.ID && id.Stage == stage.Code }
	for s := range e.plan.AllStarts() {
		if of(s.Task) {
			n++
		}
	}
	for id := range e.plan.AllResumes() {
		if of(id.Task) {
			n++
		}
	}
	return n
}

// maxPreempted bounds the list of preempted attempts.
const maxPreempted = 10

// preempted returns the attempts that were preempted most recently.
func (e *explainer) preempted() (out []apidoc.ExplainedAttempt) {
	for _, stage := range e.job.Stages {
		if stage.Preemption.Requested+stage.Killed+stage.SuspendedCount() == 0 {
			continue // none; most stages are so, and may have very many attempts
		}
		for _, a := range stage.Attempts() {
			switch {
			case a.InMemory(), a.PreemptRequested(), a.Status() == cluster.StatusPreempted, a.Status() == cluster.StatusKilled:
				out = append(out, explainedAttempt(a))
			}
		}
	}
	return latest(out)
}

// latest returns the attempts that gave up their slots most recently, the latest first.
func latest(taken []apidoc.ExplainedAttempt) []apidoc.ExplainedAttempt {
	slices.SortStableFunc(taken, func(a, b apidoc.ExplainedAttempt) int { return cmp.Compare(b.Since, a.Since) })
	return taken[:min(len(taken), maxPreempted)]
}

// explainedAttempt describes an attempt. Its field Since is when the present state began, or
// when the attempt ended.
func explainedAttempt(a *cluster.Attempt) apidoc.ExplainedAttempt {
	out := apidoc.ExplainedAttempt{
		ID: a.ID.String(), Tasknode: a.Machine, State: a.Status().String(), Since: cmp.Or(a.EndedAt, a.StartedAt), Cause: a.Cause, Start: a.StartedAt,
	}
	switch {
	case a.InMemory():
		out.State, out.Since = apidoc.Suspended, a.SuspendedAt
	case a.Preempting():
		out.State = "PREEMPTING"
	}
	return out
}
