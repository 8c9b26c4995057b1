package jobmaster

import (
	"cmp"
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/sched/placement"
)

// maxCandidates bounds how many tasknodes are told of that have room for a task.
const maxCandidates = 10

// taskMessage tells of the task that is asked about.
func (e *explainer) taskMessage() *wire.Explanation_Task {
	t := e.task
	out := &wire.Explanation_Task{
		Id: t.ID.String(), State: t.State.String(), Stage: e.stage.Name, FailedOn: e.m.view.FailedOn(t), Reasons: e.taskReasons(),
	}
	for _, a := range t.Attempts {
		out.Attempts = append(out.Attempts, attemptMessage(a))
	}
	if !e.waits() {
		return out
	}
	spots := placement.Candidates(e.now, e.m.view, nil, t.ID)
	for _, s := range spots[:min(len(spots), maxCandidates)] {
		out.Spots = append(out.Spots, &wire.Explanation_Spot{
			Node: s.Machine, Place: localityOf(s), LocalBytes: s.Transfer.Local, RackBytes: s.Transfer.Rack, RemoteBytes: s.Transfer.Remote,
			Cost: s.Transfer.Cost(), Avoided: s.Avoided,
		})
	}
	return out
}

// localityOf is what a spot is to a task.
func localityOf(s placement.Candidate) string {
	if s.HasCheckpoint {
		return "checkpoint"
	}
	return s.Level.String()
}

// waits reports whether the task is to be started.
func (e *explainer) waits() bool {
	return e.task.State == cluster.TaskPending || e.task.State == cluster.TaskCheckpointed
}

// taskReasons is why the task is as it is.
func (e *explainer) taskReasons() []string {
	if why := e.blockedReasons(); why != nil {
		return why
	}
	for _, a := range e.task.Attempts {
		switch {
		case a.Suspended():
			return []string{fmt.Sprintf("%v stands still on %s until a slot is free there and it has its turn", a.ID, a.Machine)}
		case a.Active():
			return []string{fmt.Sprintf("%v has a slot of %s", a.ID, a.Machine)}
		case a.OnMachine():
			return []string{fmt.Sprintf("%v is told to end, and has not yet: %s", a.ID, cmp.Or(a.Cause, "its job does not need it"))}
		}
	}
	if w := e.task.Winner; w != nil && w.Lost() {
		return []string{fmt.Sprintf("it is %v; its output is lost with %s, and whoever reads it has finished or has a copy", e.task.State, w.DataMachine())}
	}
	if !e.waits() {
		return []string{"it is " + e.task.State.String()}
	}
	if e.aboutToStart() {
		return []string{"it is about to get a slot"}
	}
	reasons, _ := e.whyWaiting(e.stage)
	return reasons
}

// aboutToStart reports whether the task is about to get a slot.
func (e *explainer) aboutToStart() bool {
	for s := range e.plan.AllStarts() {
		if s.Task == e.task.ID {
			return true
		}
	}
	return false
}
