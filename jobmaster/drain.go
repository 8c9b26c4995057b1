package jobmaster

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// This file is about what is moved from tasknodes that are to be stopped.

// remains are the tasks whose output, and those whose checkpoint would be missed
// with a machine. An attempt that is at work elsewhere has fetched what it goes on
// from.
func (m *Master) remains(machine *cluster.Machine) (outputs, checkpoints []*cluster.Task) {
	outputs, checkpoints = m.view.Remains(machine)
	return outputs, slices.DeleteFunc(checkpoints, func(t *cluster.Task) bool {
		return slices.ContainsFunc(t.Attempts, func(a *cluster.Attempt) bool {
			return a.State == cluster.AttemptRunning && a.Machine != machine.Name && isAtWork(m.record(t.ID.Job).progress[a.ID])
		})
	})
}

// isAtWork reports whether an attempt that has told p, nil for nothing, has all that it
// goes on from on its own machine.
func isAtWork(p *taskproc.Progress) bool {
	return p.GetPhase() != "" && p.GetPhase() != taskproc.PhaseResume
}

// holds reports whether work would be lost with a machine.
func (m *Master) holds(machine *cluster.Machine) bool {
	outputs, checkpoints := m.remains(machine)
	return len(machine.Attempts)+len(outputs)+len(checkpoints) > 0
}

// orderTakeOver has a tasknode copy what a finished attempt has left.
func (m *Master) orderTakeOver(o control.Order) {
	j, t, a, known := m.view.Attempt(o.Attempt)
	if !known || t.Winner != a {
		return
	}
	done := &taskproc.Done{OutputBytes: t.Output.Bytes, OutputRecords: t.Output.Records, Range: taskproc.FromRange(t.Range)}
	for _, s := range t.Output.Segments {
		done.Outputs = append(done.Outputs, &taskproc.MapOutput{
			Edge: int32(s.Edge), Task: int32(s.Node), Attempt: a.ID.String(), Path: s.Path, IndexChecksum: s.IndexChecksum,
			Stored: j.Spec.Graph.Edges[s.Edge].Stored, Address: m.addressOf(a.Home()),
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
	m.deliver(o.Machine, &wire.Order{Order: &wire.Order_TakeOver_{TakeOver: &wire.Order_TakeOver{
		AttemptId: a.ID.String(), JobId: j.ID.String(), Done: done, Token: m.cfg.ShuffleToken,
	}}})
}

// tookOver is told what became of such a copy.
func (m *Master) tookOver(machine string, id cluster.AttemptID, took *wire.Report_TookOver) {
	if took.Fault != "" {
		m.cfg.Logger.Warn("output is not moved yet", "attempt", id, "to", machine, "error", took.Fault)
	}
	m.events = append(m.events, control.OutputTaken{
		Attempt: id, Machine: machine, Fault: took.Fault, Segments: manifestOf(&taskproc.Done{Outputs: took.Outputs}).Segments,
	})
}

// moved tells readers where an output lies now.
func (m *Master) moved(id cluster.AttemptID) {
	m.revoked(id)
	m.published(id)
}
