package jobmaster

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Tasknodes describes every tasknode, lost ones too, sorted by name.
func (m *Master) Tasknodes(ctx context.Context) ([]apidoc.Tasknode, error) {
	copies, err := query(ctx, m, func() ([]*copiedTasknode, error) {
		var out []*copiedTasknode
		fetching := m.fetchedCheckpoints()
		for machine := range m.view.Machines() {
			out = append(out, m.copyTasknode(machine, fetching))
		}
		return out, nil
	})
	return documents(copies), err
}

// documents makes the documents of tasknodes, sorted by name.
func documents(copies []*copiedTasknode) []apidoc.Tasknode {
	out := make([]apidoc.Tasknode, 0, len(copies))
	for _, n := range copies {
		out = append(out, n.document())
	}
	slices.SortFunc(out, func(a, b apidoc.Tasknode) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Tasknode describes one tasknode, even if it is lost. If it is unknown, the error wraps
// cluster.ErrUnknown.
func (m *Master) Tasknode(ctx context.Context, name string) (apidoc.Tasknode, error) {
	n, err := query(ctx, m, func() (*copiedTasknode, error) {
		machine, err := m.machineNamed(name)
		if err != nil {
			return nil, err
		}
		n := m.copyTasknode(machine, m.fetchedCheckpoints())
		n.running = m.runningOn(machine)
		return n, nil
	})
	if err != nil {
		return apidoc.Tasknode{}, err
	}
	return n.document(), nil
}

// copiedTasknode is what a query copies in the loop. The caller makes the document of it.
type copiedTasknode struct {
	machine     cluster.Machine // its lists are replaced and never changed, but for Attempts, which are in attempts
	attempts    []cluster.AttemptID
	outputs     []cluster.AttemptID // winners whose output would be missed; only if it is excluded
	checkpoints []cluster.TaskID    // tasks whose checkpoints would be missed; only if it is excluded
	state       string
	suspicion   string // why all jobs avoid it, "" if they do not
	lastSeen    int64  // ms since the epoch
	skew        int64  // ms
	heartbeat   *wire.Report_Heartbeat
	drain       *apidoc.Drain           // nil if it is not being drained
	running     []apidoc.RunningAttempt // only if one tasknode is asked for
	starts      map[string]int64        // see rackStarts
}

// runningOn describes what the attempts on a machine do.
func (m *Master) runningOn(machine *cluster.Machine) (list []apidoc.RunningAttempt) {
	for _, a := range machine.Attempts {
		p := m.record(a.ID.Task.Job).progress[a.ID] // nil if the attempt has not reported progress
		state := a.Status().String()
		if a.Suspended() {
			state = "SUSPENDED"
		}
		list = append(list, apidoc.RunningAttempt{ID: a.ID.String(), State: state, StartTime: a.StartedAt, Progress: p.GetFraction(), Phase: p.GetPhase()})
	}
	return list
}

// copyTasknode describes a tasknode. The state says what it is used for, and the record has
// its latest report about itself. Outputs and checkpoints are listed only if the tasknode is
// excluded from new tasks.
func (m *Master) copyTasknode(machine *cluster.Machine, fetching map[string][]cluster.TaskID) *copiedTasknode {
	n := m.tasknode(machine.Name)
	c := &copiedTasknode{machine: *machine, lastSeen: n.lastSeen, skew: n.skew, heartbeat: n.heartbeat, attempts: make([]cluster.AttemptID, len(machine.Attempts))}
	for i, a := range machine.Attempts {
		c.attempts[i] = a.ID
	}
	c.machine.Attempts = nil
	c.suspicion = machine.SuspicionAt(m.now())
	if machine.Excluded {
		var bytes int64
		c.outputs, c.checkpoints, bytes = m.neededData(machine, fetching[machine.Name])
		if machine.Draining {
			left := apidoc.DrainCounts{Attempts: int64(len(c.attempts)), Outputs: int64(len(c.outputs)), Checkpoints: int64(len(c.checkpoints)), Bytes: bytes}
			c.drain = m.drainOf(machine, m.now()).document(m.now(), machine.DrainDeadline, left)
		}
	}
	c.starts = maps.Clone(m.starts[machine.Name])
	c.state = tasknodeState(machine, n, len(c.attempts)+len(c.outputs)+len(c.checkpoints) > 0)
	return c
}

// document makes the document for the caller.
func (c *copiedTasknode) document() apidoc.Tasknode {
	machine := &c.machine
	doc := apidoc.Tasknode{
		Name: machine.Name, State: c.state, Address: machine.Address, HTTP: machine.HTTP, Rack: machine.Rack, Hosts: append([]string{}, machine.Hosts...),
		MapSlots: int32(machine.Offered[cluster.MapSlot]), ReduceSlots: int32(machine.Offered[cluster.ReduceSlot]),
		MapsRunning: int32(machine.Used[cluster.MapSlot]), ReducesRunning: int32(machine.Used[cluster.ReduceSlot]),
		MemoryMB: machine.MemoryMB, MemoryUsedMB: machine.UsedMemoryMB, Suspicion: c.suspicion,
		LastHeartbeat: c.lastSeen, Directories: []apidoc.Directory{}, Load: c.heartbeat.GetLoad(), ClockSkew: c.skew, Attempts: []string{},
		Draining: machine.Draining, Lost: machine.Lost, Unhealthy: machine.Unhealthy, Drain: c.drain, Running: c.running, Starts: c.starts,
	}
	for _, d := range c.heartbeat.GetDirectories() {
		doc.Directories = append(doc.Directories, apidoc.Directory{Path: d.Path, Free: d.Free, Total: d.Total, Fault: d.Error})
	}
	for _, id := range c.attempts {
		doc.Attempts = append(doc.Attempts, id.String())
	}
	for _, id := range c.outputs {
		doc.Outputs = append(doc.Outputs, id.String())
	}
	for _, id := range c.checkpoints {
		doc.Checkpoints = append(doc.Checkpoints, id.String())
	}
	return doc
}

// tasknodeState returns the state of a tasknode in YARN's terms. SILENT means that its
// connection is lost but the tasknode is not lost yet. works says that stopping it would lose
// work.
func tasknodeState(machine *cluster.Machine, n *tasknodeRecord, works bool) string {
	switch {
	case machine.Excluded && !machine.Lost && works:
		return "DECOMMISSIONING"
	case machine.Excluded:
		return "DECOMMISSIONED"
	case machine.Lost:
		return "LOST"
	case n.attachment == nil:
		return "SILENT"
	case machine.Unhealthy != "":
		return "UNHEALTHY"
	}
	return "RUNNING"
}
