package simulate

import (
	"fmt"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sim"
)

// simulation implements chaos.Simulation for a player. Package sim acts on machines and
// masters, and this package on tasks.
type simulation struct {
	*sim.Simulation
	player *player
}

var _ chaos.Simulation = simulation{}

// KillTask implements chaos.Simulation.
func (s simulation) KillTask(kind string) (string, error) {
	_, a, err := s.player.drawAttempt(s.Simulation, kind)
	if err != nil {
		return "", err
	}
	s.FailAttempt(a.ID, "signal: killed")
	return a.ID.String(), nil
}

// StopTask implements chaos.Simulation.
func (s simulation) StopTask(kind string, lasts time.Duration) (string, error) {
	_, a, err := s.player.drawAttempt(s.Simulation, kind)
	if err != nil {
		return "", err
	}
	s.stopProcess(a.ID, lasts)
	return a.ID.String(), nil
}

// StopTasks implements chaos.Simulation.
func (s simulation) StopTasks(machine int, lasts time.Duration) {
	for _, id := range s.AttemptsOn(machine) {
		s.stopProcess(id, lasts)
	}
}

// stopProcess stops the process of an attempt for a time, 0 for ever. The attempt fails if
// it makes no progress for timeoutMillis. A process that has resumed is not failed by an
// old time-out.
func (s simulation) stopProcess(id cluster.AttemptID, lasts time.Duration) {
	resume, resumed := s.StopProcess(id), false
	if lasts > 0 {
		s.After(lasts.Milliseconds(), func() { resumed = true; resume() })
	}
	s.timeOut(id, func() bool { return resumed })
}

// timeOut fails an attempt that makes no progress, unless it has resumed. A master that
// is elected meanwhile waits for the whole time again.
//
// It models the task time-out of a tasknode (mapreduce.task.timeout). A suspended attempt
// is not expected to make progress and does not fail.
func (s simulation) timeOut(id cluster.AttemptID, resumed func() bool) {
	s.After(timeoutMillis, func() {
		_, _, a, ok := s.View().Attempt(id)
		if resumed() || !ok || !a.Active() {
			return
		}
		failure := cluster.Failure{Cause: fmt.Sprintf("Task %v failed to report status for %d ms", id, timeoutMillis), Offset: -1}
		if !a.Suspended() {
			s.Request(cluster.FailAttempt{Attempt: id, OnMachine: true, Failure: failure})
		}
		s.WhenLeaderElected(func() { s.timeOut(id, resumed) })
	})
}

// PreemptTask implements chaos.Simulation. It refuses what the master of a real cluster
// refuses. A refusal does not fail the plan: the fault is tried again.
func (s simulation) PreemptTask(kind string, mode preempt.Mode) (string, error) {
	t, a, err := s.player.drawAttempt(s.Simulation, kind)
	if err != nil {
		return "", err
	}
	refused := false
	switch mode {
	case preempt.Split, preempt.Checkpoint:
		refused = a.State != cluster.AttemptRunning || mode == preempt.Split && !t.Ranged
	case preempt.Suspend:
		refused = a.State != cluster.AttemptRunning || s.View().FirstOverSuspended(s.View().GangOf(a), nil) != nil
	}
	if refused {
		return a.ID.String(), fmt.Errorf("%w: %v cannot be preempted by %s now", chaos.ErrNoTarget, a.ID, mode)
	}
	if !s.Request(cluster.PreemptAttempt{Attempt: a.ID, Mode: mode, Cause: "preempted by the user"}) {
		return a.ID.String(), chaos.ErrNoTarget
	}
	return a.ID.String(), nil
}
