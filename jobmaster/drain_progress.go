package jobmaster

import (
	"cmp"
	"maps"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// The progress of drainings is not a part of the state. Every master counts what the commands move
// that it applies, so a new leader continues where the old one was. A master that has begun with a
// snapshot counts from then on.

const (
	// drainWindow is the time over which the rate of a draining is measured, s.
	drainWindow = 30
	// maxDrainTargets bounds the tasknodes in an answer.
	maxDrainTargets = 20
)

// drainProgress is how far the draining of a machine is.
type drainProgress struct {
	since   int64 // ms since the epoch; figures begin then
	partly  bool  // it had begun before
	start   apidoc.DrainCounts
	moved   dataCount
	targets map[string]dataCount
	recent  [drainWindow]struct { // by second modulo drainWindow
		second int64
		dataCount
	}
}

// dataCount counts outputs and checkpoints.
type dataCount struct{ items, bytes int64 }

func (c dataCount) plus(bytes int64) dataCount { return dataCount{c.items + 1, c.bytes + bytes} }

// movedData is an output or a checkpoint that a command moves.
type movedData struct {
	from, to string // machines; "" for none
	bytes    int64
}

// dataMoved returns what a command moves that is about to be applied.
func (m *Master) dataMoved(command cluster.Command) (d movedData) {
	var id cluster.AttemptID
	switch c := command.(type) {
	case cluster.MoveOutput:
		id, d.to = c.Attempt, c.Machine
	case cluster.MoveCheckpoint:
		id, d.to, d.bytes = c.Attempt, c.Machine, c.Bytes
	default:
		return d
	}
	_, t, a, known := m.view.Attempt(id)
	if !known {
		return movedData{}
	}
	if _, output := command.(cluster.MoveOutput); output {
		if t.Output == nil { // none yet, or it was revoked while it was copied: the state refuses the command
			return movedData{}
		}
		d.bytes = t.Output.Bytes
	}
	d.from = a.DataMachine()
	return d
}

// noteDrain updates the progress of drainings after a command was applied.
func (m *Master) noteDrain(e cluster.Entry, moved movedData) {
	switch c := e.Command.(type) {
	case cluster.DrainMachine:
		if m.drains[c.Name] == nil {
			m.drains[c.Name] = m.newDrain(m.view.Machine(c.Name), e.At, false)
		}
	case cluster.AdmitMachine, cluster.JoinMachine, cluster.ExpireMachine, cluster.ForgetMachine:
		maps.DeleteFunc(m.drains, func(name string, _ *drainProgress) bool {
			machine := m.view.Machine(name)
			return machine == nil || !machine.Draining
		})
	}
	machine := m.view.Machine(moved.from)
	if machine == nil || !machine.Draining {
		return
	}
	d := m.drainOf(machine, e.At)
	d.moved, d.targets[moved.to] = d.moved.plus(moved.bytes), d.targets[moved.to].plus(moved.bytes)
	second := &d.recent[e.At/1000%drainWindow]
	if second.second != e.At/1000 {
		second.second, second.dataCount = e.At/1000, dataCount{}
	}
	second.dataCount = second.plus(moved.bytes)
}

// drainOf returns the progress of a machine that is being drained. If this master has not seen the
// begin, the progress begins now.
func (m *Master) drainOf(machine *cluster.Machine, now int64) *drainProgress {
	if m.drains[machine.Name] == nil {
		m.drains[machine.Name] = m.newDrain(machine, now, true)
	}
	return m.drains[machine.Name]
}

// newDrain returns the progress of a draining that begins with what a machine has now.
func (m *Master) newDrain(machine *cluster.Machine, now int64, partly bool) *drainProgress {
	outputs, checkpoints := m.view.NeededOn(machine)
	start := apidoc.DrainCounts{Attempts: int64(len(machine.Attempts)), Outputs: int64(len(outputs)), Checkpoints: int64(len(checkpoints))}
	for _, t := range outputs {
		start.Bytes += t.Output.Bytes
	}
	for _, c := range checkpoints {
		start.Bytes += c.CheckpointOf(c.Writer).Bytes
	}
	return &drainProgress{since: now, partly: partly, start: start, targets: make(map[string]dataCount)}
}

// document describes the progress at a time in ms since the epoch. left is what the machine still has.
func (d *drainProgress) document(now, deadline int64, left apidoc.DrainCounts) *apidoc.Drain {
	out := &apidoc.Drain{
		Since: d.since, Partly: d.partly, Deadline: deadline, Start: d.start, Left: left, Moved: d.moved.items, MovedBytes: d.moved.bytes,
		Targets: []apidoc.DrainTarget{}, RateMillis: min(max(now-d.since, 1000), drainWindow*1000),
	}
	var recent dataCount
	for _, s := range d.recent {
		if now/1000-s.second < drainWindow {
			recent.items, recent.bytes = recent.items+s.items, recent.bytes+s.bytes
		}
	}
	out.Estimate(recent.items, recent.bytes)
	for name, to := range d.targets {
		out.Targets = append(out.Targets, apidoc.DrainTarget{Node: name, Moved: to.items, Bytes: to.bytes})
	}
	slices.SortFunc(out.Targets, func(a, b apidoc.DrainTarget) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Moved, a.Moved), cmp.Compare(a.Node, b.Node))
	})
	out.Targets = out.Targets[:min(len(out.Targets), maxDrainTargets)]
	return out
}
