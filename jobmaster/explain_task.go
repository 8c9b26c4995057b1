package jobmaster

import (
	"cmp"
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/placement"
)

// maxCandidates bounds the list of tasknodes that could run a task.
const maxCandidates = 10

// taskDocument explains the task that the request names.
//
// For a waiting task it also lists the machines on which the task could start now, in the
// order of placement, the best first.
func (e *explainer) taskDocument() *apidoc.ExplainedTask {
	t := e.task
	out := &apidoc.ExplainedTask{
		ID: t.ID.String(), State: t.State.String(), Stage: e.stage.Name, FailedOn: e.m.view.FailedOn(t),
	}
	out.Reasons, out.Classes = textsOf(e.taskReasons())
	for _, a := range t.Attempts {
		out.Attempts = append(out.Attempts, explainedAttempt(a))
	}
	if !e.waits() {
		return out
	}
	candidates := placement.Candidates(e.now, e.m.view, nil, t.ID)
	for _, s := range candidates[:min(len(candidates), maxCandidates)] {
		out.Candidates = append(out.Candidates, apidoc.Candidate{
			Tasknode: s.Machine, Place: localityOf(s), LocalBytes: s.Transfer.Local, RackBytes: s.Transfer.Rack, RemoteBytes: s.Transfer.Remote,
			Cost: s.Transfer.Cost(), Avoided: s.Avoided,
		})
	}
	return out
}

// localityOf says how far a candidate is from a task's input.
func localityOf(s placement.Candidate) string {
	if s.HasCheckpoint {
		return "checkpoint"
	}
	return s.Level.String()
}

// waits reports whether the task waits to be started.
func (e *explainer) waits() bool {
	return e.task.State == cluster.TaskPending || e.task.State == cluster.TaskCheckpointed
}

// taskReasons returns why the task is in its state. If the task has an attempt, the attempt
// gives the reason, otherwise the stage.
func (e *explainer) taskReasons() []reason {
	state := func(text string) []reason { return []reason{{sched.NotWaiting, text}} }
	if why := e.blockedReasons(); why != nil {
		return why
	}
	for _, a := range e.task.Attempts {
		switch {
		case a.Suspended():
			return []reason{{sched.WaitSuspended, fmt.Sprintf("%v is suspended on %s until the policy gives it a slot there", a.ID, a.Machine)}}
		case a.Active():
			return state(fmt.Sprintf("%v has a slot on %s", a.ID, a.Machine))
		case a.OnMachine():
			return state(fmt.Sprintf("%v was ordered to end and has not ended yet: %s", a.ID, cmp.Or(a.Cause, "its job does not need it")))
		}
	}
	if w := e.task.Winner; w != nil && w.Lost() {
		return state(fmt.Sprintf("it is %v; its output was lost with %s, but no unfinished task needs it", e.task.State, w.DataMachine()))
	}
	if !e.waits() {
		return state("it is " + e.task.State.String())
	}
	if e.aboutToStart() {
		return state("it is about to get a slot")
	}
	reasons, _ := e.whyWaiting(e.stage)
	return reasons
}

// aboutToStart reports whether the policy would start the task now.
func (e *explainer) aboutToStart() bool {
	for s := range e.plan.AllStarts() {
		if s.Task == e.task.ID {
			return true
		}
	}
	return false
}
