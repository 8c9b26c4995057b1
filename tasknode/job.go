package tasknode

import (
	"slices"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// job is what a node knows of a job: where the outputs of its maps are.
type job struct {
	outputs  []*taskproc.MapOutput // that can be read, one a map task
	revision uint64                // of the jobmaster's log up to which outputs goes
	complete bool
	removed  bool // the job is over and goes with its last attempt
	busy     int  // attempts that run, or whose logs are not kept yet
}

func (n *Node) job(id string) *job {
	j := n.jobs[id]
	if j == nil {
		j = new(job)
		n.jobs[id] = j
	}
	return j
}

// publish takes in a part of the log and passes it on to the reduces that run.
func (n *Node) publish(o *wire.Order_Outputs) {
	j := n.job(o.JobId)
	revoked := o.Revoked
	switch o.Revision {
	case 0: // a master begins anew
		revoked = append(revoked, gone(j.outputs, o.Outputs)...)
		j.outputs = nil
	case j.revision:
	default:
		return // it came before
	}
	j.revision = o.Next
	j.outputs = slices.DeleteFunc(j.outputs, func(m *taskproc.MapOutput) bool { return slices.Contains(o.Revoked, m.Attempt) })
	j.outputs = append(j.outputs, o.Outputs...)
	j.complete = o.Complete
	news := &taskproc.ToTask{Message: &taskproc.ToTask_Outputs{Outputs: &taskproc.Outputs{Outputs: o.Outputs, Revoked: revoked, Complete: o.Complete}}}
	for _, a := range n.attempts {
		if a.start.JobId == o.JobId && a.start.Kind == taskproc.Kind_REDUCE {
			a.inbox.Put(news)
		}
	}
}

// gone are the attempts whose outputs are in before and not in now.
func gone(before, now []*taskproc.MapOutput) (attempts []string) {
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

// all is the first message about outputs to a reduce.
func (j *job) all() *taskproc.ToTask {
	return &taskproc.ToTask{Message: &taskproc.ToTask_Outputs{Outputs: &taskproc.Outputs{
		Outputs: slices.Clone(j.outputs), Complete: j.complete,
	}}}
}
