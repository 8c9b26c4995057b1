package simulate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sim"
)

// inject injects a fault and returns what it has hit. The error wraps errNoTarget if
// there was nothing to hit.
func (p *player) inject(w *sim.Simulation, i int) (target string, err error) {
	f := p.plan.Faults[i]
	kind := simulations[f.Kind]
	switch f.Target.Role {
	case chaos.Task:
		return kind.task(p, w, f)
	case chaos.Jobmaster:
		masters := p.masters(w, f.Target.Name)
		if len(masters) == 0 {
			return "", errNoTarget
		}
		for _, m := range masters {
			kind.master(p, w, i, m)
		}
		return names("m", masters), nil
	}
	node := f.Target.Number() - 1
	if node < 0 {
		node = busiest(w, p.plan.Tasknodes)
	}
	if !w.IsMachineUp(node) || !kind.machine(p, w, i, node) {
		return "", errNoTarget
	}
	return names("w", []int{node}), nil
}

// names are those of daemons, numbered from 1, joined by +.
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

// busiest is the first machine with the most running attempts.
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
			if ok && a.Active() && (kind == chaos.Any || isMap == (kind == "map")) {
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
