package chronos

import (
	"maps"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// explained is of how many tasks of a job Explain tells.
const explained = 10

// ask notes whom a slot will be promised to when its attempt is told to leave.
func (p *Policy) ask(about *promise) {
	if p.asked == nil {
		p.asked = make(map[cluster.AttemptID]*promise)
	}
	p.asked[about.victim] = about
}

// tell notes what becomes of a task that does not start now.
func (p *Policy) tell(t *task, text string) {
	if p.status == nil {
		p.status = make(map[cluster.TaskID]string)
	}
	p.status[t.ID] = text
}

// Explain implements sched.Explainer: what the policy inside says, and what the
// tasks of the job wait for that are to be recovered.
func (p *Policy) Explain(now int64, view sched.View, job *cluster.Job) (facts []sched.Detail) {
	if inner, ok := p.conf.Inner.(sched.Explainer); ok {
		facts = inner.Explain(now, view, job)
	}
	told := 0
	for _, id := range slices.SortedFunc(maps.Keys(p.status), cluster.TaskID.Compare) {
		if id.Job == job.ID && told < explained {
			facts = append(facts, sched.Detail{Name: "recovery of " + id.String(), Value: p.status[id]})
			told++
		}
	}
	return facts
}
