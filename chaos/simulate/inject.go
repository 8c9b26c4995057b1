package simulate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sim"
)

// inject injects a fault and returns what it has hit. The error wraps chaos.ErrNoTarget if
// there was nothing to hit. A machine and its tasknode are one thing here: the kind looks
// at the role if it matters.
func (p *player) inject(w *sim.Simulation, i int) (target string, err error) {
	f := p.plan.Faults[i]
	kind := chaos.SpecOf(f.Kind)
	s := simulation{Simulation: w, player: p}
	switch f.Target.Role {
	case chaos.Task:
		return kind.SimulateTask(s, f)
	case chaos.Jobmaster:
		masters := p.masters(w, f.Target.Name)
		if len(masters) == 0 {
			return "", chaos.ErrNoTarget
		}
		for _, m := range masters {
			if kind.SimulateMaster != nil {
				err = kind.SimulateMaster(s, f, m)
			} else if kind.Effect != nil {
				p.activate(w, i, faultPoint{master: true, number: m})
			}
		}
		return names("m", masters), err
	}
	machine := f.Target.Number() - 1
	if machine < 0 {
		machine = busiest(w, p.plan.Tasknodes)
	}
	switch {
	case !w.IsMachineUp(machine):
		return "", chaos.ErrNoTarget
	case kind.SimulateMachine != nil:
		err = kind.SimulateMachine(s, f, machine)
	case kind.Effect != nil:
		p.activate(w, i, faultPoint{number: machine})
	}
	return names("w", []int{machine}), err
}

// names returns the names of daemons by their numbers, which count from 1, joined by +.
func names(prefix string, of []int) string {
	var list []string
	for _, n := range of {
		list = append(list, fmt.Sprint(prefix, n+1))
	}
	return strings.Join(list, "+")
}

// masters returns the masters that match a target's name and answer. A follower is drawn at
// random; if no master leads, there is no follower.
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

// busiest returns the first machine with the most running attempts. A target "any" means
// this machine, so that a fault hits a machine with running work.
func busiest(w *sim.Simulation, machines int) (busiest int) {
	for m := range machines {
		if len(w.AttemptsOn(m)) > len(w.AttemptsOn(busiest)) {
			busiest = m
		}
	}
	return busiest
}

// drawAttempt draws a running attempt of a kind: map, reduce or any. The candidates are
// sorted, so that a seed draws the same one each time. The error is chaos.ErrNoTarget if
// none runs.
func (p *player) drawAttempt(w *sim.Simulation, kind string) (*cluster.Task, *cluster.Attempt, error) {
	var running []cluster.AttemptID
	for machine := range p.plan.Tasknodes {
		for _, id := range w.AttemptsOn(machine) {
			_, _, a, ok := w.View().Attempt(id)
			isMap := id.Task.Stage == "m"
			if ok && a.Active() && (kind == chaos.Any || isMap == (kind == "map")) {
				running = append(running, id)
			}
		}
	}
	if len(running) == 0 {
		return nil, nil, chaos.ErrNoTarget
	}
	slices.SortFunc(running, cluster.AttemptID.Compare)
	_, t, a, _ := w.View().Attempt(running[p.random.IntN(len(running))])
	return t, a, nil
}
