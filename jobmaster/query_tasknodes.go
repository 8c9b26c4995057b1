package jobmaster

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/wire"
)

// Tasknodes describes every tasknode, sorted by name. Unless all is set, it leaves out lost
// tasknodes.
func (m *Master) Tasknodes(ctx context.Context, all bool) ([]*wire.Tasknode, error) {
	copies, err := query(ctx, m, func() ([]*copiedTasknode, error) {
		var out []*copiedTasknode
		fetching := m.fetchedCheckpoints()
		for machine := range m.view.Machines() {
			if all || !machine.Lost {
				out = append(out, m.copyTasknode(machine, fetching))
			}
		}
		return out, nil
	})
	var out []*wire.Tasknode
	for _, n := range copies {
		out = append(out, n.message())
	}
	slices.SortFunc(out, func(a, b *wire.Tasknode) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

// Tasknode describes one tasknode, even if it is lost. If it is unknown, the error wraps
// cluster.ErrUnknown.
func (m *Master) Tasknode(ctx context.Context, name string) (*wire.Tasknode, error) {
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
		return nil, err
	}
	return n.message(), nil
}

// copiedTasknode is what a query copies in the loop. The caller makes the message of it.
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
	drain       *wire.Tasknode_Drain     // nil if it is not being drained
	running     []*wire.Tasknode_Running // only if one tasknode is asked for
	starts      map[string]int64         // see rackStarts
}

// runningOn describes what the attempts on a machine do.
func (m *Master) runningOn(machine *cluster.Machine) (list []*wire.Tasknode_Running) {
	for _, a := range machine.Attempts {
		p := m.record(a.ID.Task.Job).progress[a.ID] // nil if the attempt has not reported progress
		state := a.Status().String()
		if a.Suspended() {
			state = "SUSPENDED"
		}
		list = append(list, &wire.Tasknode_Running{AttemptId: a.ID.String(), State: state, StartTime: a.StartedAt, Progress: p.GetFraction(), Phase: p.GetPhase()})
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
	c.suspicion = m.view.Suspicion(machine, m.now())
	if machine.Excluded {
		var bytes int64
		c.outputs, c.checkpoints, bytes = m.neededData(machine, fetching[machine.Name])
		if machine.Draining {
			left := &wire.Tasknode_Drain_Counts{Attempts: int64(len(c.attempts)), Outputs: int64(len(c.outputs)), Checkpoints: int64(len(c.checkpoints)), Bytes: bytes}
			c.drain = m.drainOf(machine, m.now()).message(m.now(), machine.DrainDeadline, left)
		}
	}
	c.starts = maps.Clone(m.starts[machine.Name])
	c.state = tasknodeState(machine, n, len(c.attempts)+len(c.outputs)+len(c.checkpoints) > 0)
	return c
}

// message makes the message for the caller.
func (c *copiedTasknode) message() *wire.Tasknode {
	machine := &c.machine
	s := &wire.Tasknode{
		Name: machine.Name, State: c.state, Address: machine.Address, Http: machine.HTTP, Rack: machine.Rack, Hosts: machine.Hosts,
		MapSlots: int32(machine.Offered[cluster.MapSlot]), ReduceSlots: int32(machine.Offered[cluster.ReduceSlot]),
		MapsRunning: int32(machine.Used[cluster.MapSlot]), ReducesRunning: int32(machine.Used[cluster.ReduceSlot]),
		MemoryMb: machine.MemoryMB, MemoryUsedMb: machine.UsedMemoryMB, Suspicion: c.suspicion,
		LastHeartbeat: c.lastSeen, Directories: c.heartbeat.GetDirectories(), Load: c.heartbeat.GetLoad(), ClockSkew: c.skew,
		Draining: machine.Draining, Lost: machine.Lost, Unhealthy: machine.Unhealthy, Drain: c.drain, Running: c.running, StartsByRack: c.starts,
	}
	for _, id := range c.attempts {
		s.Attempts = append(s.Attempts, id.String())
	}
	for _, id := range c.outputs {
		s.Outputs = append(s.Outputs, id.String())
	}
	for _, id := range c.checkpoints {
		s.Checkpoints = append(s.Checkpoints, id.String())
	}
	return s
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
