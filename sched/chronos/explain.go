package chronos

import (
	"maps"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// maxExplained limits how many tasks of a job Explain lists.
const maxExplained = 10

// Explain implements sched.Explainer. It adds to the explanation of the wrapped policy what
// the job's tasks to be recovered wait for.
func (p *Policy) Explain(now int64, view sched.View, job *cluster.Job) (details []sched.Detail) {
	if inner, ok := p.conf.Inner.(sched.Explainer); ok {
		details = inner.Explain(now, view, job)
	}
	listed := 0
	for _, id := range slices.SortedFunc(maps.Keys(p.status), cluster.TaskID.Compare) {
		if id.Job == job.ID && listed < maxExplained {
			details = append(details, sched.Detail{Name: "recovery of " + id.String(), Value: p.status[id]})
			listed++
		}
	}
	return details
}
