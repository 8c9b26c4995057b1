package fifo

import (
	"slices"
	"strconv"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// Explain implements sched.Explainer.
func (p *Policy) Explain(_ int64, view sched.View, job *cluster.Job) []sched.Detail {
	e := p.byID[job.ID]
	if e == nil {
		return nil
	}
	before := p.queue[:slices.Index(p.queue, e)]
	var wanted sched.Slots
	for _, other := range before {
		for w := range sched.Wants(view.Job(other.job)) {
			wanted = wanted.Plus(w.TotalNeed())
		}
	}
	return []sched.Detail{
		{Name: "priority", Value: strconv.Itoa(e.priority)},
		{Name: "jobs whose turn is before it", Value: strconv.Itoa(len(before))},
		{Name: "slots that those wait for", Value: strconv.Itoa(wanted[cluster.MapSlot]) + " map, " + strconv.Itoa(wanted[cluster.ReduceSlot]) + " reduce"},
	}
}
