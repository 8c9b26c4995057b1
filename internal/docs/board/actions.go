package board

import (
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// Bounds on the actions that a board keeps: of all jobs, tasknodes and the policy, and of a job.
const (
	maxActions    = 200
	maxJobActions = 20
)

// noteAction keeps the action of an entry that a user has asked for.
func (u *update) noteAction(e cluster.Entry) {
	if e.By == "" {
		return
	}
	a, id := actionOf(e.Command)
	if a.Do == "" {
		return
	}
	a.Time, a.User = u.at, e.By
	u.actions = appendLatest(u.actions, a, maxActions)
	if i, known := u.find(id); known && u.jobs[i].ID == id {
		u.jobs[i].actions, u.jobs[i].frozen = appendLatest(u.jobs[i].actions, a, maxJobActions), nil
	}
}

// appendLatest appends to a list. A list with twice the bound is replaced, because snapshots share it.
func appendLatest(list []apidoc.UserAction, a apidoc.UserAction, bound int) []apidoc.UserAction {
	if len(list) >= 2*bound {
		list = slices.Clone(list[len(list)-bound:])
	}
	return append(list, a)
}

// latest returns the end of a list, for a snapshot.
func latest(list []apidoc.UserAction, bound int) []apidoc.UserAction {
	return slices.Clip(list[max(0, len(list)-bound):])
}

// actionOf returns what a command does, and to which job; a zero one if users do not ask for it.
func actionOf(command cluster.Command) (a apidoc.UserAction, job cluster.JobID) {
	ofJob := func(do string, id cluster.JobID, to string) (apidoc.UserAction, cluster.JobID) {
		return apidoc.UserAction{Do: "job." + do, ID: id.String(), To: to}, id
	}
	ofAttempt := func(do string, id cluster.AttemptID, to string) (apidoc.UserAction, cluster.JobID) {
		return apidoc.UserAction{Do: "attempt." + do, ID: id.String(), To: to}, id.Task.Job
	}
	switch c := command.(type) {
	case cluster.KillJob:
		return ofJob("kill", c.Job, "")
	case cluster.SuspendJob:
		return ofJob("suspend", c.Job, "")
	case cluster.ResumeJob:
		return ofJob("resume", c.Job, "")
	case cluster.SetPool:
		return ofJob("move", c.Job, c.Pool)
	case cluster.SetPriority:
		return ofJob("priority", c.Job, apidoc.PriorityName(c.Priority))
	case cluster.KillAttempt:
		return ofAttempt("kill", c.Attempt, "")
	case cluster.FailAttempt:
		return ofAttempt("fail", c.Attempt, "")
	case cluster.PreemptAttempt:
		return ofAttempt("preempt", c.Attempt, string(c.Mode))
	case cluster.ResumeAttempt:
		return ofAttempt("resume", c.Attempt, "")
	case cluster.DrainMachine:
		a = apidoc.UserAction{Do: "node.drain", ID: c.Name}
	case cluster.AdmitMachine:
		a = apidoc.UserAction{Do: "node.admit", ID: c.Name}
		if c.Excluded {
			a.Do = "node.exclude"
		}
	case cluster.JoinMachine: // it has set its slots
		a = apidoc.UserAction{Do: "node.set", ID: c.Name, To: fmt.Sprintf("map=%d,reduce=%d", c.Slots[cluster.MapSlot], c.Slots[cluster.ReduceSlot])}
	case cluster.SetPolicy:
		a = apidoc.UserAction{Do: "policy.set", To: c.Name}
	}
	return a, job
}
