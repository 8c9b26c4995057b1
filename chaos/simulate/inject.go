package simulate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sim"
)

// inject does what a fault says, and returns what it has hit. errNoTarget says that there
// was nothing.
func (p *player) inject(w *sim.Simulation, i int) (target string, err error) {
	f := p.plan.Faults[i]
	switch f.Target.Role {
	case chaos.Task:
		return p.hitTask(w, f)
	case chaos.Jobmaster:
		masters := p.masters(w, f.Target.Name)
		if len(masters) == 0 {
			return "", errNoTarget
		}
		for _, m := range masters {
			p.hitMaster(w, i, m)
		}
		return names("m", masters), nil
	}
	node := f.Target.Number() - 1
	if node < 0 {
		node = busiest(w, p.plan.Tasknodes)
	}
	if !w.IsMachineUp(node) || !p.hitMachine(w, i, node) {
		return "", errNoTarget
	}
	return names("w", []int{node}), nil
}

// names are those of daemons, numbered from 1.
func names(prefix string, of []int) string {
	var list []string
	for _, n := range of {
		list = append(list, fmt.Sprint(prefix, n+1))
	}
	return strings.Join(list, "+")
}

// afterFault has something end when its fault does.
func afterFault(w *sim.Simulation, f chaos.Fault, end func()) {
	if f.For > 0 {
		w.After(f.For.Milliseconds(), end)
	}
}

// hitMachine does something to a machine, or its tasknode. It is false where there was
// nothing to hit.
func (p *player) hitMachine(w *sim.Simulation, i, node int) bool {
	f := p.plan.Faults[i]
	switch f.Kind {
	case chaos.Kill:
		w.FailMachine(node, f.For.Milliseconds())
	case chaos.Restart:
		w.FailMachine(node, restartMillis)
	case chaos.Stop, chaos.Partition:
		if f.Kind == chaos.Stop && f.Target.Role == chaos.Machine {
			for _, id := range w.AttemptsOn(node) {
				p.freeze(w, f, id)
			}
		}
		afterFault(w, f, w.Partition(node))
	case chaos.Corrupt:
		return w.CorruptOutput(node)
	case chaos.Clock: // a tasknode's only says by how much it differs
	default:
		p.harm(w, i, faultPoint{node: node})
	}
	return true
}

// hitMaster does something to a master.
func (p *player) hitMaster(w *sim.Simulation, i, master int) {
	f := p.plan.Faults[i]
	switch f.Kind {
	case chaos.Restart:
		w.After(restartMillis, w.IsolateMaster(master))
	case chaos.Clock: // time is taken as it passes
	case chaos.SlowDisk, chaos.Failpoint:
		p.harm(w, i, faultPoint{master: true, node: master})
	default: // one that cannot write to its log ends
		afterFault(w, f, w.IsolateMaster(master))
	}
}

// masters are those of a name that are there.
func (p *player) masters(w *sim.Simulation, name string) (found []int) {
	leader := w.Leader()
	for m := range p.plan.Masters {
		named := name == chaos.All || name == fmt.Sprint("m", m+1) || name == fmt.Sprint(m+1) ||
			name == chaos.Leader && m == leader || name == chaos.Follower && m != leader && leader >= 0
		if named && w.IsMasterUp(m) {
			found = append(found, m)
		}
	}
	if name == chaos.Follower && len(found) > 0 {
		n := p.random.IntN(len(found))
		found = found[n : n+1]
	}
	return found
}

// busiest is the machine on which most attempts run, the first of those with equally
// many.
func busiest(w *sim.Simulation, nodes int) (node int) {
	for n := range nodes {
		if len(w.AttemptsOn(n)) > len(w.AttemptsOn(node)) {
			node = n
		}
	}
	return node
}

// attempt is one that runs, of a kind.
func (p *player) attempt(w *sim.Simulation, kind string) (*cluster.Task, *cluster.Attempt) {
	var running []cluster.AttemptID
	for node := range p.plan.Tasknodes {
		for _, id := range w.AttemptsOn(node) {
			_, _, a, ok := w.View().Attempt(id)
			isMap := id.Task.Stage == "m"
			if ok && a.State == cluster.AttemptRunning && (kind == chaos.Any || isMap == (kind == "map")) {
				running = append(running, id)
			}
		}
	}
	if len(running) == 0 {
		return nil, nil
	}
	slices.SortFunc(running, cluster.AttemptID.Compare)
	_, t, a, _ := w.View().Attempt(running[p.random.IntN(len(running))])
	return t, a
}

// hitTask does something to an attempt that runs.
func (p *player) hitTask(w *sim.Simulation, f chaos.Fault) (target string, err error) {
	t, a := p.attempt(w, f.Target.Name)
	if a == nil {
		return "", errNoTarget
	}
	switch f.Kind {
	case chaos.Kill:
		w.FailAttempt(a.ID, "signal: killed")
	case chaos.Stop:
		p.freeze(w, f, a.ID)
	default:
		return a.ID.String(), preemption(w, f.How, t, a)
	}
	return a.ID.String(), nil
}

// preemption takes its slot from an attempt in a way that it knows, as a user does
// with hammr task preempt.
func preemption(w *sim.Simulation, how string, t *cluster.Task, a *cluster.Attempt) error {
	const cause = "preempted by the user"
	var command cluster.Command = cluster.KillAttempt{Attempt: a.ID, Cause: cause, Preempt: true}
	refused := false
	switch how {
	case "split", "checkpoint":
		command = cluster.PauseAttempt{Attempt: a.ID, Split: how == "split", Cause: cause}
		refused = a.Pausing || a.Suspended || how == "split" && !t.Ranged
	case "suspend":
		command = cluster.SuspendAttempt{Attempt: a.ID, Cause: cause}
		refused = a.Pausing || a.Suspended || w.View().FirstOverSuspended(w.View().GangOf(a), nil) != nil
	}
	if refused {
		return fmt.Errorf("%w: %v cannot be preempted by %s now", errNoTarget, a.ID, how)
	}
	if !w.Request(command) {
		return errNoTarget
	}
	return nil
}

// freeze stops the process of an attempt. One that comes no further for too long fails.
func (p *player) freeze(w *sim.Simulation, f chaos.Fault, id cluster.AttemptID) {
	end, over := w.StopProcess(id), false
	afterFault(w, f, func() { over = true; end() })
	timeOut(w, id, func() bool { return over })
}

// timeOut has an attempt fail that comes no further, unless that is over. Who begins to
// lead meanwhile waits as long again.
func timeOut(w *sim.Simulation, id cluster.AttemptID, over func() bool) {
	w.After(timeoutMillis, func() {
		_, _, a, ok := w.View().Attempt(id)
		if over() || !ok || a.State != cluster.AttemptRunning {
			return
		}
		failure := cluster.Failure{Cause: fmt.Sprintf("Task %v failed to report status for %d ms", id, timeoutMillis), Offset: -1}
		if !a.Suspended {
			w.Request(cluster.FailAttempt{Attempt: id, OnMachine: true, Failure: failure})
		}
		w.WhenLeaderElected(func() { timeOut(w, id, over) })
	})
}
