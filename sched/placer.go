package sched

import (
	"maps"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// Placer matches tasks with machines for a policy, which says whose turn it is:
//
//	r := placer.Round(now, view)
//	for each stage and class of bundles whose turn it is, while r.Left() > 0 {
//		r.Offer(job, stage, slots) or r.OfferBundles(job, class, bundles)
//	}
//	plan, wake := r.Done()
//
// Who is offered slots first gets them first, but which machine a task gets is
// decided for several stages together. Like a policy, a Placer remembers
// nothing that Reset could not find again, but for the clocks of delay scheduling,
// which Reset starts anew. The zero value is ready for use.
type Placer struct {
	Placement

	topology    *locality.Topology            // nil when the machines are to be looked at again
	live        int                           // machines that are not lost
	slots       [2]int                        // of each kind, on all machines
	outputBytes map[stageKey]map[string]int64 // bytes by machine; missing when they are to be summed again
	skipped     map[stageKey]int64            // since when stages of which tasks wait let slots go by, ms
}

// patient reports whether slots may stay free for tasks that find their input
// there later.
func (p *Placer) patient() bool { return p.Patience > 0 }

// stageKey names what the tasks of a stage have written, and the stage.
type stageKey struct {
	job   cluster.JobID
	stage string
}

// Reset forgets everything; the next round looks at the state afresh.
func (p *Placer) Reset() {
	p.outputBytes, p.skipped, p.topology = nil, nil, nil
}

// Observe hears of one applied change.
func (p *Placer) Observe(view cluster.View, delta cluster.Delta) {
	if len(delta.Machines) > 0 {
		p.topology = nil
	}
	for _, ids := range [][]cluster.AttemptID{delta.Published, delta.Revoked} {
		for _, id := range ids {
			delete(p.outputBytes, stageKey{id.Task.Job, id.Task.Stage})
		}
	}
	for _, id := range delta.Started {
		p.resetDelayClock(id)
	}
	for _, id := range delta.Jobs {
		p.forget(view, id)
	}
}

// forget drops what is known of a job that is over.
func (p *Placer) forget(view cluster.View, id cluster.JobID) {
	if j := view.Job(id); j != nil && j.State < cluster.JobCommitting {
		return
	}
	for o := range p.outputBytes {
		if o.job == id {
			delete(p.outputBytes, o)
		}
	}
	maps.DeleteFunc(p.skipped, func(o stageKey, _ int64) bool { return o.job == id })
}

// survey looks at the machines.
func (p *Placer) survey(view cluster.View) {
	p.topology, p.live, p.slots = locality.NewTopology(p.Racks), 0, [2]int{}
	for m := range view.Machines() {
		p.topology.Add(describe(m))
		if m.Lost {
			continue
		}
		p.live++
		for kind := range p.slots {
			p.slots[kind] += m.Slots[kind]
		}
	}
}

// describe is a machine as locality knows it, without slots.
func describe(m *cluster.Machine) locality.Machine {
	return locality.Machine{Name: m.Name, Hosts: m.Hosts, Rack: m.Rack}
}

// outputOf is how many bytes of a stage's output lie on each machine.
func (p *Placer) outputOf(j *cluster.Job, stage *cluster.Stage) map[string]int64 {
	key := stageKey{j.ID, stage.Code}
	if known, ok := p.outputBytes[key]; ok {
		return known
	}
	sum := make(map[string]int64)
	for _, t := range stage.Tasks {
		if t.Winner != nil && t.Output != nil {
			sum[t.Winner.Machine] += t.Output.Bytes
		}
	}
	if p.outputBytes == nil {
		p.outputBytes = make(map[stageKey]map[string]int64)
	}
	p.outputBytes[key] = sum
	return sum
}
