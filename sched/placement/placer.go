package placement

import (
	"maps"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/sched"
)

// Placer matches tasks with machines for a policy, round by round. Like a policy it stores
// only values that Reset can rebuild. The exception are the delay clocks, which Reset
// restarts. The zero value is ready for use.
type Placer struct {
	sched.Placement // method, racks and waits, as configured

	topology    *locality.Topology            // racks and hosts; nil if the machines have changed
	live        int                           // machines that are not lost
	slots       cluster.Slots                 // slots of all live machines
	outputBytes map[stageKey]map[string]int64 // by machine; no entry if it must be summed again

	// skippedSince is the delay clock of a stage: the time, in ms, since which its tasks
	// have skipped free slots because their input was elsewhere. No entry means: the stage
	// has skipped no slot since its last task started.
	//
	// Delay scheduling counts skips per job (Zaharia et al., section 4). The time for which
	// a single slot has been free would not suffice. If slots come free all the time and go
	// to other jobs at once, no slot is free for long. A task without a free slot near its
	// input would then wait for ever.
	skippedSince map[stageKey]int64
}

// stageKey names a stage of a job.
type stageKey struct {
	job   cluster.JobID
	stage string // cluster.Stage.Code
}

// patient reports whether slots may stay free for tasks that find their input there
// later.
func (p *Placer) patient() bool { return p.Patience > 0 }

// Reset drops all caches.
func (p *Placer) Reset() {
	p.outputBytes, p.skippedSince, p.topology = nil, nil, nil
}

// Observe updates the caches after one applied command.
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
		delete(p.skippedSince, stageKey{id.Task.Job, id.Task.Stage})
	}
	for _, id := range delta.Jobs {
		p.forgetFinished(view, id)
	}
}

// forgetFinished drops the cached values of a job that is over.
func (p *Placer) forgetFinished(view cluster.View, id cluster.JobID) {
	if j := view.Job(id); j != nil && j.State < cluster.JobCommitting {
		return
	}
	maps.DeleteFunc(p.outputBytes, func(k stageKey, _ map[string]int64) bool { return k.job == id })
	maps.DeleteFunc(p.skippedSince, func(k stageKey, _ int64) bool { return k.job == id })
}

// noteSkip starts the delay clock of an offer's stage, if it does not run yet.
func (p *Placer) noteSkip(o offer, now int64) {
	if p.skippedSince == nil {
		p.skippedSince = make(map[stageKey]int64)
	}
	if key := o.key(); p.skippedSince[key] == 0 {
		p.skippedSince[key] = now
	}
}

// survey builds the topology and counts the slots of all machines.
func (p *Placer) survey(view cluster.View) {
	p.topology, p.live, p.slots = locality.NewTopology(p.Racks), 0, cluster.Slots{}
	for m := range view.Machines() {
		p.topology.Add(Describe(m))
		if m.Lost {
			continue
		}
		p.live++
		p.slots = p.slots.Plus(m.Slots)
	}
}

// Describe converts a machine for package locality, without its slots.
func Describe(m *cluster.Machine) locality.Machine {
	return locality.Machine{Name: m.Name, Hosts: m.Hosts, Rack: m.Rack}
}

// outputOf returns the number of bytes of a stage's output on each machine. Tasks that read
// the output start where most of it is, if they can. The size of their own partition is not
// known before they read it.
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
