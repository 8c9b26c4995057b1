package task

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/data/format/splits"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// Map is the input of a source Node: a range of a split.
//
//	split  |────────────────────────────────────|
//	owned       |──────────────────────|            Start.Range, or what a checkpoint left
//	processed   |──────────|                        ends where PollSignals stopped the loop
//	                       |───────────|            remaining: the next attempt's, or a new task's
//
// The goroutine of the record loop uses it.
type Map struct {
	Node *NodeRun

	split     *taskproc.Split // the whole split; a map may own only a range of it
	owned     dag.Range       // the range of this attempt
	processed dag.Range       // owned, or less after a split, a truncation or a checkpoint
	limit     int64           // bytes in owned, for progress
	consumed  func() int64    // bytes read so far; nil until the format has set it
	skip      []dag.Position  // records to skip, ascending; those that are passed are removed
	records   int64           // read, for progress

	// checkpointed says that the rest is for an attempt that resumes from a
	// checkpoint: one was ordered, or a split that unsplittableReason rules out.
	checkpointed bool
}

// newMap returns a Node's input from a split. A Node alone in its group may read a part of
// it.
func newMap(n *NodeRun, split *taskproc.Split) (*Map, error) {
	if split == nil || len(split.Parts) == 0 {
		return nil, &FatalError{Err: fmt.Errorf("node %v: no split to read", n)}
	}
	m := &Map{Node: n, split: split, owned: splits.Range(split)}
	if n.Attempt.Start.Range != nil && n.group.single() {
		m.owned = taskproc.ToRange(n.Attempt.Start.Range)
	}
	if n.resumed != nil {
		m.owned = taskproc.ToRange(n.resumed.Remaining)
	}
	m.processed = m.owned
	for _, p := range split.Parts {
		m.limit += p.Length
	}
	for _, p := range n.Attempt.Start.Skip {
		m.skip = append(m.skip, taskproc.ToPosition(p))
	}
	if n.resumed == nil {
		m.Node.Attempt.Counters.Add(counter.InputSplitBytes, splitBytes(split))
	}
	return m, nil
}

// origin returns where the task begins, before any checkpoint.
func (m *Map) origin() dag.Position {
	if m.Node.Attempt.Start.Range != nil && m.Node.group.single() {
		return taskproc.ToRange(m.Node.Attempt.Start.Range).Start
	}
	return splits.Range(m.split).Start
}

// splitBytes returns the size of the split's description, as Hadoop counts it.
func splitBytes(s *taskproc.Split) int64 {
	var n int
	for _, p := range s.Parts {
		n += len(p.Path) + 16
	}
	return int64(n)
}

// Split returns the split that the Node reads a range of.
func (m *Map) Split() *taskproc.Split { return m.split }

// Work returns the range of the Node.
func (m *Map) Work() dag.Range { return m.owned }

// SetConsumed sets the function that returns the bytes read so far, for progress. The
// goroutine of the record loop calls it.
func (m *Map) SetConsumed(bytes func() int64) { m.consumed = bytes }

// PollSignals handles signals between two records; position is where the next record begins.
// The goroutine of the record loop calls it if Signalled says so.
//
//	report progress ─► ordered to end? ─► too early: poll again at the next record
//	                       │ no              │ else
//	                       ▼                 ▼
//	                    Continue          split or truncate: Stop, the rest is another task's
//	                                      checkpoint: Stop, the rest is the next attempt's
//	                                      a split that is impossible: as a checkpoint, or declined
func (m *Map) PollSignals(position dag.Position) (Action, error) {
	if err := context.Cause(m.Node.Attempt.ctx); err != nil {
		return Stop, err
	}
	sample, end := m.Node.takeSignals()
	if sample {
		m.sample(position)
	}
	if !end || !m.mayEnd() {
		return Continue, nil
	}
	if m.tooEarly(position) {
		m.Node.repoll()
		return Continue, nil
	}
	accepted := m.Node.group.canCheckpoint() && m.Node.Attempt.signals.acceptCheckpoint()
	switch later := accepted || m.unsplittableReason() != ""; {
	case !accepted && !(m.Node.Attempt.signals.endEarly() && m.Node.group.canSplit()):
		return Continue, nil // the order was withdrawn
	case later && !m.Node.group.canCheckpoint():
		m.Node.Attempt.signals.clearEndEarly()
		m.Node.Attempt.declinePreemption(m.unsplittableReason()+", and it cannot write a checkpoint", m.Node.Attempt.gate.isQuiet())
		return Continue, nil
	default:
		m.processed.End, m.checkpointed = position, later
		return Stop, nil
	}
}

// unsplittableReason is why the Node cannot leave the rest of its range to another task
// without a checkpoint; "" if it can.
func (m *Map) unsplittableReason() string {
	switch {
	case m.Node.saveUserState != nil:
		return "its mapper has state"
	case m.Node.files.hasFraming():
		return "a split would change its output"
	case m.split.GetUnsplittable():
		return "its input can only be read from the beginning"
	}
	return ""
}

// mayEnd reports whether the loop can obey the order to end.
func (m *Map) mayEnd() bool {
	return m.Node.Attempt.signals.checkpoint.Load() && m.Node.group.canCheckpoint() || m.Node.Attempt.signals.endEarly() && m.Node.group.canSplit()
}

// tooEarly reports whether an end at position would come before the ordered place, or
// would leave an empty task.
func (m *Map) tooEarly(position dag.Position) bool {
	if !m.owned.Start.Less(position) {
		return true
	}
	at := m.Node.Attempt.signals.truncateAt.Load()
	return at != nil && !m.Node.Attempt.signals.checkpoint.Load() && position.Less(*at)
}

// Skip reports whether the record at position is one that failed before and is to be
// skipped.
func (m *Map) Skip(position dag.Position) bool {
	for len(m.skip) > 0 && m.skip[0].Less(position) {
		m.skip = m.skip[1:]
	}
	return len(m.skip) > 0 && m.skip[0] == position
}

// Skipping reports whether any record ahead is to be skipped.
func (m *Map) Skipping() bool { return len(m.skip) > 0 }

// CountRecords adds to the number of records read.
func (m *Map) CountRecords(n int64) {
	m.records += n
	m.Node.Attempt.Counters.Add(counter.MapInputRecords, n)
}

// sample reports the map's progress by bytes read. It also records the bytes in the
// collectors, because only this goroutine may ask for them.
func (m *Map) sample(position dag.Position) {
	if m.consumed != nil && m.limit > 0 {
		m.Node.setFraction(float64(m.consumed()) / float64(m.limit))
	}
	m.Node.collectorBytes.Store(m.Node.inCollectors())
	p := m.Node.group.progress()
	if m.Node.group.single() {
		p.Position = taskproc.FromPosition(position)
		p.Records = m.records
	}
	m.Node.Attempt.sendProgress(p)
}

// countInput counts the bytes read.
func (m *Map) countInput() {
	if m.consumed != nil {
		m.Node.Attempt.Counters.Add(counter.BytesRead, m.consumed())
	}
}

// remaining returns the part of the range that this attempt leaves.
func (m *Map) remaining() dag.Range { return dag.Range{Start: m.processed.End, End: m.owned.End} }
