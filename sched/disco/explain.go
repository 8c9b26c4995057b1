package disco

import (
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// Explain implements sched.Explainer.
func (p *Policy) Explain(_ int64, view sched.View, of *cluster.Job) (details []sched.Detail) {
	j := p.find(of.ID)
	if j == nil {
		return nil
	}
	p.computeShares(view.View)
	for kind, share := range j.share {
		name := cluster.Slot(kind).String()
		if !j.participates[kind] {
			details = append(details, sched.Detail{Name: name + " slots", Value: "none needed now"})
			continue
		}
		details = append(details,
			sched.Detail{Name: name + " slots", Value: fmt.Sprintf("%d of a share of %d, %d more wanted", j.Running[kind], share, j.Waiting[kind])},
			sched.Detail{Name: name + " turn", Value: p.turn(j, kind)},
		)
	}
	return details
}

// turn describes the place of a job in the order.
func (p *Policy) turn(j *job, kind int) string {
	switch {
	case j.Waiting[kind] > 0 && j.launched[kind] < j.share[kind]:
		return fmt.Sprintf("new, with %d slots so far: jobs above their share lose slots to it", j.launched[kind])
	case j.Waiting[kind] == 0 && j.upcoming[kind] > 0:
		return fmt.Sprintf("between two stages: free slots are reserved for it up to its share, %d ms each", p.conf.ReserveMillis)
	case j.below(kind, j.Running):
		return "below its share: before jobs at their share, and before those with more slots"
	}
	return "at its share: after jobs below theirs, and after those with fewer slots"
}

// Precedes implements sched.JobComparer: a job below its share precedes a job above its
// share.
func (p *Policy) Precedes(_ int64, view sched.View, kind cluster.Slot, a, b *cluster.Job) bool {
	p.computeShares(view.View)
	one, other := p.find(a.ID), p.find(b.ID)
	return one != nil && other != nil && one.below(int(kind), one.Running) && other.Running[kind] > other.share[kind]
}
