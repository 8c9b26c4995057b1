package jobmaster

import (
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Readers of a file edge must know where each writer's output is, and when it is lost. The
// state contains that. But sending all of it after each change would cost the square of the
// number of tasks. So each edge has a log that only grows, and each machine gets only the
// entries that it does not have yet. The tasknode passes them to all readers on its machine.

// outputLogs are the logs of the outputs that a job's tasks have written for the file edges
// of its graph.
type outputLogs struct {
	edges    map[int]*outputLog                          // by index in the graph's edges
	reported map[cluster.AttemptID][]*taskproc.MapOutput // outputs of attempts that are not published yet, if a partition is empty
	unsent   map[int]bool                                // edges whose log has changed since it was sent
}

// outputLog is the log of one edge. Each machine that runs readers of the edge gets the log
// from its beginning:
//
//	log       [ m0 | m1 | revoke m0 | m2 | m0' ]
//	sent["a"] ────────────────────^            machine a needs m2 and m0'
type outputLog struct {
	taskproc.OutputLog
	sent map[string]int // number of entries sent, by machine
}

// keepReported keeps the sets of empty partitions that an attempt has reported until its
// report is in the log. They are too large for the log. Another leader does not have them.
// Readers then also request partitions that are empty.
func (l *outputLogs) keepReported(id cluster.AttemptID, outputs []*taskproc.MapOutput) {
	if !slices.ContainsFunc(outputs, func(o *taskproc.MapOutput) bool { return len(o.Empty) > 0 }) {
		return
	}
	if l.reported == nil {
		l.reported = make(map[cluster.AttemptID][]*taskproc.MapOutput)
	}
	sets := make([]*taskproc.MapOutput, len(outputs))
	for i, o := range outputs {
		sets[i] = &taskproc.MapOutput{Empty: o.Empty}
	}
	l.reported[id] = sets
}

// checkEmptySets refuses a set of empty partitions that has more bits than its edge has
// partitions. The master and every reader keep the sets, and a task may report any bytes.
func checkEmptySets(g dag.Graph, outputs []*taskproc.MapOutput) error {
	for _, o := range outputs {
		partitions := 0
		if o.Edge >= 0 && int(o.Edge) < len(g.Edges) {
			partitions = g.Stages[g.StageIndex(g.Edges[o.Edge].To)].Nodes
		}
		if len(o.Empty) > (partitions+7)/8 {
			return fmt.Errorf("output for edge %d: %d bytes of empty partitions, and the edge has %d partitions", o.Edge, len(o.Empty), partitions)
		}
	}
	return nil
}

// log returns the log of an edge and makes it if needed.
func (l *outputLogs) log(edge int) *outputLog {
	if l.edges[edge] == nil {
		if l.edges == nil {
			l.edges = make(map[int]*outputLog)
		}
		l.edges[edge] = &outputLog{sent: make(map[string]int)}
	}
	return l.edges[edge]
}

// outputPublished adds the outputs of an attempt that has won its task.
//
// Nothing is sent before the splits are loaded, because the order of equal keys depends on
// the splits.
func (m *Master) outputPublished(id cluster.AttemptID) {
	j, stage, t, _ := m.view.Task(id.Task)
	if t.Winner == nil || !j.Loaded() {
		return
	}
	m.addOutputs(j, t)
	for _, edge := range filesFrom(j, stage) {
		m.record(j.ID).outputs.log(edge).Complete = j.EdgeComplete(edge)
		m.outputsChanged(j, edge)
	}
}

// rebuildOutputLogs makes the logs of a job from the state, in the order of the tasks, when
// its splits are loaded. Without the splits the order of equal keys is not known, so no
// output is sent before.
func (m *Master) rebuildOutputLogs(j *cluster.Job) {
	for _, stage := range j.Stages {
		edges := filesFrom(j, stage)
		for _, t := range stage.Tasks {
			if len(edges) > 0 && j.Published(t) {
				m.addOutputs(j, t)
			}
		}
		for _, edge := range edges {
			m.record(j.ID).outputs.log(edge).Complete = j.EdgeComplete(edge)
		}
	}
}

// addOutputs adds the outputs of a finished task to the logs.
func (m *Master) addOutputs(j *cluster.Job, t *cluster.Task) {
	r := m.record(j.ID)
	reported := r.outputs.reported[t.Winner.ID]
	delete(r.outputs.reported, t.Winner.ID)
	for i, s := range t.Output.Segments {
		out := m.mapOutput(j, t, s)
		out.Ordinal, out.Start = r.ordinal(j, t, s)
		if i < len(reported) {
			out.Empty = reported[i].Empty
		}
		r.outputs.log(s.Edge).Add(out)
	}
}

// mapOutput describes segments of a finished task, with the address of the tasknode that has
// them. Stored segments have no address, because they are on a file system.
func (m *Master) mapOutput(j *cluster.Job, t *cluster.Task, s cluster.Segments) *taskproc.MapOutput {
	out := &taskproc.MapOutput{
		Edge: int32(s.Edge), Task: int32(s.Node), Attempt: t.Winner.ID.String(),
		Path: s.Path, IndexChecksum: s.IndexChecksum, Stored: j.Spec.Graph.Edges[s.Edge].Stored,
	}
	if !out.Stored {
		out.Address = m.addressOf(t.Winner.DataMachine())
	}
	return out
}

// ordinal returns the position of a Node's records among records with equal keys. It is the
// place of the Node's input. If a Node does not read a single split, its records come after
// all input, ordered by stage and number.
func (r *record) ordinal(j *cluster.Job, t *cluster.Task, s cluster.Segments) (ordinal int32, start *taskproc.Position) {
	if t.Split >= 0 {
		split, _ := j.SplitOf(t)
		return int32(split.Ordinal), taskproc.FromPosition(t.Range.Start)
	}
	g := j.Spec.Graph
	stage := g.StageIndex(g.Edges[s.Edge].From)
	return int32(r.files + stage), &taskproc.Position{Offset: int64(s.Node)}
}

// outputsRevoked adds the loss of the outputs of attempts to the logs. Attempts of one stage
// that follow each other are added together, since that costs as much as for one of them.
func (m *Master) outputsRevoked(ids []cluster.AttemptID) {
	for len(ids) > 0 {
		first, n := ids[0].Task, 1
		for n < len(ids) && ids[n].Task.Job == first.Job && ids[n].Task.Stage == first.Stage {
			n++
		}
		m.contain(first.Job, func() { m.outputsOfStageRevoked(ids[:n]) })
		ids = ids[n:]
	}
}

// outputsOfStageRevoked does the same for attempts of one stage.
func (m *Master) outputsOfStageRevoked(ids []cluster.AttemptID) {
	j, stage, _, _ := m.view.Task(ids[0].Task)
	if !j.Loaded() {
		return
	}
	attempts := make([]string, len(ids))
	for i, id := range ids {
		attempts[i] = id.String()
	}
	for _, edge := range filesFrom(j, stage) {
		l := m.record(j.ID).outputs.log(edge)
		l.Revoke(attempts)
		l.Complete = false
		m.outputsChanged(j, edge)
	}
}

// filesFrom returns the file edges that leave a stage, by index in the graph.
func filesFrom(j *cluster.Job, stage *cluster.Stage) []int {
	return files(j, func(e dag.Edge) string { return e.From }, stage)
}

// filesInto returns the edges whose files a stage reads.
func filesInto(j *cluster.Job, stage *cluster.Stage) []int {
	return files(j, func(e dag.Edge) string { return e.To }, stage)
}

// files returns the edges that have the files of those with one end in a stage, by index in
// the graph. The function end selects the end.
func files(j *cluster.Job, end func(dag.Edge) string, stage *cluster.Stage) (edges []int) {
	for i, e := range j.Spec.Graph.Edges {
		if e.Channel == dag.ChannelFile && slices.Contains(stage.Nodes, j.Spec.Graph.StageIndex(end(e))) {
			if f := j.Spec.Graph.Files(i); !slices.Contains(edges, f) {
				edges = append(edges, f)
			}
		}
	}
	return edges
}

// outputsChanged makes the end of this step send the new entries of a log.
func (m *Master) outputsChanged(j *cluster.Job, edge int) {
	o := &m.record(j.ID).outputs
	if o.unsent == nil {
		o.unsent = make(map[int]bool)
	}
	o.unsent[edge] = true
	m.outputsUnsent[j.ID] = true
}

// sendOutputs sends the new entries of all logs to the subscribed machines. Machines that
// need the same entries share the orders, so that a log is encoded once for all of them.
func (m *Master) sendOutputs() {
	for id := range m.outputsUnsent {
		if r := m.records[id]; r != nil {
			m.contain(id, func() { m.sendOutputsOf(id, r) })
			clear(r.outputs.unsent)
		}
	}
	clear(m.outputsUnsent)
}

// sendOutputsOf does the same for the logs of one job.
func (m *Master) sendOutputsOf(id cluster.JobID, r *record) {
	for edge := range r.outputs.unsent {
		l, orders := r.outputs.log(edge), make(map[int][]*wire.Order)
		for machine, sent := range l.sent {
			if orders[sent] == nil {
				orders[sent] = l.orders(id, edge, sent)
			}
			m.sendLog(machine, l, orders[sent])
		}
	}
}

// subscribe makes a machine receive the logs that a stage reads, each from its beginning.
func (m *Master) subscribe(machine string, j *cluster.Job, stage *cluster.Stage) {
	for _, edge := range filesInto(j, stage) {
		l := m.record(j.ID).outputs.log(edge)
		if _, subscribed := l.sent[machine]; subscribed {
			continue
		}
		l.Complete = j.EdgeComplete(edge)
		m.sendLog(machine, l, l.orders(j.ID, edge, 0))
	}
}

// unsubscribe removes a machine from all logs. When it subscribes again, it gets the logs
// from their beginning.
func (m *Master) unsubscribe(machine string) {
	for _, r := range m.records {
		for _, l := range r.outputs.edges {
			delete(l.sent, machine)
		}
	}
}

// sendLog sends a machine the orders with the rest of a log.
func (m *Master) sendLog(machine string, l *outputLog, orders []*wire.Order) {
	for _, o := range orders {
		m.deliver(machine, o)
	}
	l.sent[machine] = l.Len()
}

// orders returns orders with the entries of a log from the given number on. Revision is the
// number of the first entry of an order, and Next is the number after the last. The tasknode
// ignores entries that it has. Entries from number 0 replace all that it has.
func (l *outputLog) orders(job cluster.JobID, edge, from int) (orders []*wire.Order) {
	for _, part := range l.Since(from) {
		orders = append(orders, &wire.Order{Order: &wire.Order_Outputs_{Outputs: &wire.Order_Outputs{
			JobId: job.String(), Edge: int32(edge),
			Revision: uint64(part.From), Next: uint64(part.Next), Length: uint64(l.Len()), Packed: part.Packed,
			Complete: part.Complete,
		}}})
	}
	return orders
}
