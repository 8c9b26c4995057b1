package jobmaster

import (
	"slices"

	"github.com/hammr/hammr/cluster"
)

// rackStarts counts the attempts that were started on machines during a lead, by the rack that has
// their input. Only a leader has the hosts of splits.
type rackStarts map[string]map[string]int64

// outsideRacks stands for input on hosts that run no tasknode.
const outsideRacks = "(no tasknode)"

// add counts the attempts that a command has started, if their tasks read splits.
func (r rackStarts) add(view cluster.View, command cluster.Command) {
	switch c := command.(type) {
	case cluster.StartAttempt:
		r.started(view, c)
	case cluster.StartBundle:
		for _, s := range c.Starts {
			r.started(view, s)
		}
	case cluster.ForgetMachine:
		delete(r, c.Name)
	}
}

func (r rackStarts) started(view cluster.View, s cluster.StartAttempt) {
	j, _, t, known := view.Task(s.Task)
	machine := view.Machine(s.Machine)
	if !known || machine == nil || t.Split < 0 {
		return
	}
	rack := machine.Rack
	if !s.Local && !s.RackLocal {
		split, _ := j.SplitOf(t)
		if len(split.Hosts) == 0 {
			return // its place is not known, or it is nowhere
		}
		rack = rackOfHost(view, split.Hosts[0])
	}
	if r[s.Machine] == nil {
		r[s.Machine] = make(map[string]int64)
	}
	r[s.Machine][rack]++
}

// rackOfHost returns the rack of the machine that has a host name.
func rackOfHost(view cluster.View, host string) string {
	for m := range view.Machines() {
		if m.Name == host || slices.Contains(m.Hosts, host) {
			return m.Rack
		}
	}
	return outsideRacks
}
