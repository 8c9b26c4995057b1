package tasknode

import (
	"slices"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// job is the daemon's record of a job. It exists from the first order or file of the job
// until RemoveJob. If the job has activities then, it exists until the last one has ended.
type job struct {
	reads   map[int32][]int32      // files that a class of NodeGroup reads, by their places in the graph's edges
	outputs map[int32]*edgeOutputs // outputs of an edge, by its place in the graph's edges
	removed bool                   // the job is over: its files are removed after its last activity
	busy    int                    // number of attempts that run, aggregate their logs, or have files being copied or removed
}

// edgeOutputs are the outputs that finished tasks have written for a file edge.
type edgeOutputs struct {
	outputs  []*taskproc.MapOutput // readable outputs, one for each writing Node
	revision uint64                // number of entries of the master's log that outputs includes
	complete bool
}

// job returns the record of a job, and makes it if needed.
func (d *Daemon) job(id string) *job {
	j := d.jobs[id]
	if j == nil {
		j = &job{reads: make(map[int32][]int32), outputs: make(map[int32]*edgeOutputs)}
		d.jobs[id] = j
	}
	return j
}

// readsOf returns the edges that the group of a Start reads as files. The layout of a job's
// graph is computed once for each class of groups, not for each attempt.
func (j *job) readsOf(start *taskproc.Start) []int32 {
	if start.Graph == nil {
		return taskproc.FileInputs(start)
	}
	reads, known := j.reads[start.GroupClass]
	if !known {
		reads = taskproc.FileInputs(start)
		j.reads[start.GroupClass] = reads
	}
	return reads
}

// outputsOf returns the outputs of an edge.
func (j *job) outputsOf(edge int32) *edgeOutputs {
	w := j.outputs[edge]
	if w == nil {
		w = new(edgeOutputs)
		j.outputs[edge] = w
	}
	return w
}

// addOutputs adds a part of the log of an edge, and sends it to the attempts that read
// the edge.
//
// Each part of the log has a revision, which is the number of entries before the part:
//
//	revision 0         replaces what is known: a new master, or a new subscription
//	revision = known   continues
//	anything else      was added before, or comes from a master that does not lead
//
// If a log is sent from its beginning and lacks an output that was known, the output was
// lost in the meantime. Readers then get it as revoked.
func (d *Daemon) addOutputs(o *wire.Order_Outputs) {
	w := d.job(o.JobId).outputsOf(o.Edge)
	revoked := o.Revoked
	switch o.Revision {
	case 0: // a new master sends its log from the beginning
		revoked = append(revoked, missingAttempts(w.outputs, o.Outputs)...)
		w.outputs = nil
	case w.revision:
	default:
		return // entries that were added before
	}
	w.revision = o.Next
	w.outputs = slices.DeleteFunc(w.outputs, func(m *taskproc.MapOutput) bool { return slices.Contains(o.Revoked, m.Attempt) })
	w.outputs = append(w.outputs, o.Outputs...)
	w.complete = o.Complete
	news := outputsMessage(&taskproc.Outputs{Edge: o.Edge, Outputs: o.Outputs, Revoked: revoked, Complete: o.Complete})
	for _, a := range d.attempts {
		if a.start.JobId == o.JobId && slices.Contains(a.reads, o.Edge) {
			a.inbox.Put(news)
		}
	}
}

// missingAttempts returns the attempts whose outputs are in before but not in now.
func missingAttempts(before, now []*taskproc.MapOutput) (attempts []string) {
	there := make(map[string]bool, len(now))
	for _, m := range now {
		there[m.Attempt] = true
	}
	for _, m := range before {
		if !there[m.Attempt] {
			attempts = append(attempts, m.Attempt)
		}
	}
	return attempts
}

// sendKnownOutputs sends an attempt the known outputs of the edges that it reads.
func (j *job) sendKnownOutputs(a *attempt) {
	for _, edge := range a.reads {
		w := j.outputsOf(edge)
		a.inbox.Put(outputsMessage(&taskproc.Outputs{Edge: edge, Outputs: slices.Clone(w.outputs), Complete: w.complete}))
	}
}

// outputsMessage returns a message with outputs for a task.
func outputsMessage(o *taskproc.Outputs) *taskproc.ToTask {
	return &taskproc.ToTask{Message: &taskproc.ToTask_Outputs{Outputs: o}}
}
