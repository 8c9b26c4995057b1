package tasknode

import (
	"slices"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// job is what a node knows of a job.
type job struct {
	outputs map[int32]*edgeOutputs // by place in the graph's edges
	removed bool                   // the job is over and goes with its last attempt
	busy    int                    // attempts that run, whose logs are not kept yet, or whose files are copied or removed
}

// edgeOutputs is where the outputs are that finished tasks wrote for an edge that is
// a file.
type edgeOutputs struct {
	outputs  []*taskproc.MapOutput // that can be read, one a writing Node
	revision uint64                // of the jobmaster's log up to which outputs goes
	complete bool
}

func (n *Daemon) job(id string) *job {
	j := n.jobs[id]
	if j == nil {
		j = &job{outputs: make(map[int32]*edgeOutputs)}
		n.jobs[id] = j
	}
	return j
}

// outputsOf is what is known of an edge.
func (j *job) outputsOf(edge int32) *edgeOutputs {
	w := j.outputs[edge]
	if w == nil {
		w = new(edgeOutputs)
		j.outputs[edge] = w
	}
	return w
}

// addOutputs takes in a part of the log of an edge and passes it on to those who
// read it.
func (n *Daemon) addOutputs(o *wire.Order_Outputs) {
	w := n.job(o.JobId).outputsOf(o.Edge)
	revoked := o.Revoked
	switch o.Revision {
	case 0: // a master begins anew
		revoked = append(revoked, missingAttempts(w.outputs, o.Outputs)...)
		w.outputs = nil
	case w.revision:
	default:
		return // it came before
	}
	w.revision = o.Next
	w.outputs = slices.DeleteFunc(w.outputs, func(m *taskproc.MapOutput) bool { return slices.Contains(o.Revoked, m.Attempt) })
	w.outputs = append(w.outputs, o.Outputs...)
	w.complete = o.Complete
	news := outputsMessage(&taskproc.Outputs{Edge: o.Edge, Outputs: o.Outputs, Revoked: revoked, Complete: o.Complete})
	for _, a := range n.attempts {
		if a.start.JobId == o.JobId && slices.Contains(a.reads, o.Edge) {
			a.inbox.Put(news)
		}
	}
}

// missingAttempts are the attempts whose outputs are in before and not in now.
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

// sendKnownOutputs tells an attempt all that is known of the edges that it reads.
func (j *job) sendKnownOutputs(a *attempt) {
	for _, edge := range a.reads {
		w := j.outputsOf(edge)
		a.inbox.Put(outputsMessage(&taskproc.Outputs{Edge: edge, Outputs: slices.Clone(w.outputs), Complete: w.complete}))
	}
}

func outputsMessage(o *taskproc.Outputs) *taskproc.ToTask {
	return &taskproc.ToTask{Message: &taskproc.ToTask_Outputs{Outputs: o}}
}
