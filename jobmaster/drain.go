package jobmaster

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// This file is about what is moved from tasknodes that are to be stopped.

// neededData are the tasks whose output, and those of which a checkpoint would be missed
// with a machine. An attempt that is at work elsewhere has fetched what it goes on
// from; in a gang it may go back to that all the same.
func (m *Master) neededData(machine *cluster.Machine) (outputs []*cluster.Task, checkpoints []cluster.TaskID) {
	outputs, left := m.view.NeededOn(machine)
	for _, c := range left {
		_, stage, _, _ := m.view.Task(c.ID)
		if stage.Bundle.Gang || !slices.ContainsFunc(c.Attempts, func(a *cluster.Attempt) bool { return a.Machine != machine.Name && m.hasResumed(a) }) {
			checkpoints = append(checkpoints, c.ID)
		}
	}
	checkpoints = append(checkpoints, m.fetchingFrom(machine)...)
	slices.SortFunc(checkpoints, cluster.TaskID.Compare)
	return outputs, slices.Compact(checkpoints)
}

// fetchingFrom are the tasks that are fetching their checkpoints from a machine, from which
// they have been moved since.
func (m *Master) fetchingFrom(machine *cluster.Machine) (tasks []cluster.TaskID) {
	for other := range m.view.Machines() {
		for _, a := range other.Attempts {
			if other == machine || !a.CheckpointMoved || !a.Active() || m.hasResumed(a) {
				continue
			}
			if _, _, t, _ := m.view.Task(a.ID.Task); t.Attempts[a.From-1].Machine == machine.Name {
				tasks = append(tasks, t.ID)
			}
		}
	}
	return tasks
}

// hasResumed reports whether an attempt runs and has told that all that it goes on from
// is on its own machine.
func (m *Master) hasResumed(a *cluster.Attempt) bool {
	phase := m.record(a.ID.Task.Job).progress[a.ID].GetPhase() // "" where nothing was told
	return a.Active() && phase != "" && phase != taskproc.PhaseResume
}

// hasWork reports whether work would be lost with a machine.
func (m *Master) hasWork(machine *cluster.Machine) bool {
	outputs, checkpoints := m.neededData(machine)
	return len(machine.Attempts)+len(outputs)+len(checkpoints) > 0
}

// sendCopyOutput has a tasknode copy what a finished attempt has left, or the checkpoint
// of one that was paused.
func (m *Master) sendCopyOutput(o control.Order) {
	j, t, a, known := m.view.Attempt(o.Attempt)
	if !known {
		return
	}
	order := &wire.Order_TakeOver{AttemptId: a.ID.String(), JobId: j.ID.String(), Token: m.cfg.ShuffleToken}
	if c := t.CheckpointOf(a.ID); c != nil {
		order.Checkpoint = checkpointMessage(t.ID, c, o.Machine, m.addressOf(c.Machine))
	} else if t.Winner == a {
		order.Done = m.lastReport(j, t)
	} else {
		return
	}
	m.deliver(o.Machine, &wire.Order{Order: &wire.Order_TakeOver_{TakeOver: order}})
}

// lastReport is the last report of a finished attempt, as far as it is known, with the
// addresses of what it has left.
func (m *Master) lastReport(j *cluster.Job, t *cluster.Task) *taskproc.Done {
	a := t.Winner
	done := &taskproc.Done{OutputBytes: t.Output.Bytes, OutputRecords: t.Output.Records, Range: taskproc.FromRange(t.Range)}
	for _, s := range t.Output.Segments {
		done.Outputs = append(done.Outputs, &taskproc.MapOutput{
			Edge: int32(s.Edge), Task: int32(s.Node), Attempt: a.ID.String(), Path: s.Path, IndexChecksum: s.IndexChecksum,
			Stored: j.Spec.Graph.Edges[s.Edge].Stored, Address: m.addressOf(a.DataMachine()),
		})
	}
	for _, p := range t.Output.Pieces {
		done.Pieces = append(done.Pieces, &taskproc.Piece{
			Output: p.Output, Path: p.Path, Length: p.Length, Checksum: p.Checksum, Records: p.Records, Suffix: p.Suffix,
			Stage: int32(p.Stage), Part: int32(p.Part),
		})
	}
	for _, c := range j.CountersOf(t) {
		done.Counters = append(done.Counters, &taskproc.Counter{Group: c.Group, Name: c.Name, Value: c.Value})
	}
	return done
}

// outputCopied is told what became of such a copy.
func (m *Master) outputCopied(machine string, id cluster.AttemptID, took *wire.Report_TookOver) {
	if took.Fault != "" {
		m.cfg.Logger.Warn("what an attempt has left is not moved yet", "attempt", id, "to", machine, "error", took.Fault)
	}
	ev := control.OutputCopied{
		Attempt: id, Machine: machine, Problem: took.Fault, Useless: took.OfNoUse,
		Segments: manifestOf(&taskproc.Done{Outputs: took.Outputs}).Segments,
	}
	if took.Checkpoint != nil {
		c := checkpointOf(took.Checkpoint)
		ev.Checkpoint = &c
	}
	m.events = append(m.events, ev)
}

// outputMoved tells readers where an output lies now.
func (m *Master) outputMoved(id cluster.AttemptID) {
	m.outputRevoked(id)
	m.outputPublished(id)
}
