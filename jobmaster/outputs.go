package jobmaster

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// outputLog is where the outputs of a job's maps are: a log to which finished
// and revoked outputs are added, and which each machine that runs reduces of the
// job gets from its beginning.
type outputLog struct {
	entries  []outputEntry
	sent     map[string]int                            // by machine: entries it has been sent
	offered  map[cluster.AttemptID]*taskproc.MapOutput // reported, not yet published
	complete bool                                      // every map is finished
}

// outputEntry is a finished output, or the attempt whose output is revoked.
type outputEntry struct {
	output  *taskproc.MapOutput
	revoked string
}

func (l *outputLog) offer(id cluster.AttemptID, o *taskproc.MapOutput) {
	if l.offered == nil {
		l.offered = make(map[cluster.AttemptID]*taskproc.MapOutput)
	}
	l.offered[id] = o
}

// published adds the output of an attempt that has won its task.
func (m *Master) published(id cluster.AttemptID) {
	j, stage, t, _ := m.view.Task(id.Task)
	if stage.Sink || t.Winner == nil {
		return
	}
	m.addOutput(j, t)
	m.record(j.ID).outputs.complete = mapsFinished(j)
	m.sendOutputs(j.ID)
}

// recollectOutputs makes the log of a job anew from the state, in the order of
// the tasks.
func (m *Master) recollectOutputs(j *cluster.Job) {
	for _, stage := range j.Stages {
		for _, t := range stage.Tasks {
			if !stage.Sink && t.Winner != nil {
				m.addOutput(j, t)
			}
		}
	}
	m.record(j.ID).outputs.complete = mapsFinished(j)
}

// addOutput adds the output of a finished task to the log.
func (m *Master) addOutput(j *cluster.Job, t *cluster.Task) {
	l, id := &m.record(j.ID).outputs, t.Winner.ID
	reported := l.offered[id]
	delete(l.offered, id)
	split, _ := j.SplitOf(t)
	out := &taskproc.MapOutput{
		Task: int32(t.ID.Number), Attempt: id.String(), Ordinal: int32(split.Ordinal), Start: positionMessage(t.Range.Start),
		IndexChecksum: t.Output.IndexChecksum, Path: t.Output.SegmentsPath,
		PartitionBytes: reported.GetPartitionBytes(),
	}
	if machine := m.view.Machine(t.Winner.Machine); machine != nil {
		out.Address = machine.Address
	}
	l.entries = append(l.entries, outputEntry{output: out})
}

// revoked tells of an output that is gone.
func (m *Master) revoked(id cluster.AttemptID) {
	l := &m.record(id.Task.Job).outputs
	l.entries = append(l.entries, outputEntry{revoked: id.String()})
	l.complete = false
	m.sendOutputs(id.Task.Job)
}

// sendOutputs brings every machine that listens up to date.
func (m *Master) sendOutputs(id cluster.JobID) {
	for machine := range m.record(id).outputs.sent {
		m.sendOutputsTo(machine, id)
	}
}

// subscribe makes a machine listen, from the log's beginning.
func (m *Master) subscribe(machine string, id cluster.JobID) {
	l := &m.record(id).outputs
	if l.sent == nil {
		l.sent = make(map[string]int)
	}
	if _, listens := l.sent[machine]; listens {
		return
	}
	l.sent[machine] = 0
	l.complete = mapsFinished(m.view.Job(id))
	m.sendOutputsTo(machine, id)
}

// forgetListener makes a machine be told from the beginning when it listens
// again.
func (m *Master) forgetListener(machine string) {
	for _, r := range m.records {
		delete(r.outputs.sent, machine)
	}
}

func mapsFinished(j *cluster.Job) bool {
	for _, s := range j.Stages {
		if !s.Sink && s.Finished < len(s.Tasks) {
			return false
		}
	}
	return true
}

func (m *Master) sendOutputsTo(machine string, id cluster.JobID) {
	l := &m.record(id).outputs
	order := &wire.Order_Outputs{
		JobId: id.String(), Revision: uint64(l.sent[machine]), Next: uint64(len(l.entries)), Complete: l.complete,
	}
	for _, e := range l.entries[l.sent[machine]:] {
		if e.output != nil {
			order.Outputs = append(order.Outputs, e.output)
			continue
		}
		order.Revoked = append(order.Revoked, e.revoked)
		order.Outputs = slices.DeleteFunc(order.Outputs, func(o *taskproc.MapOutput) bool { return o.Attempt == e.revoked })
	}
	l.sent[machine] = len(l.entries)
	m.deliver(machine, &wire.Order{Order: &wire.Order_Outputs_{Outputs: order}})
}
