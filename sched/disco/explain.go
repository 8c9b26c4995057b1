package disco

import (
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// Explain implements sched.Explainer.
func (p *Policy) Explain(_ int64, view sched.View, of *cluster.Job) (facts []sched.Detail) {
	j := p.find(of.ID)
	if j == nil {
		return nil
	}
	p.computeShares(view.View)
	for kind, share := range j.share {
		name := cluster.Slot(kind).String()
		if !j.participates[kind] {
			facts = append(facts, sched.Detail{Name: name + " slots", Value: "none needed now"})
			continue
		}
		facts = append(facts,
			sched.Detail{Name: name + " slots", Value: fmt.Sprintf("%d of a share of %d, %d wanted beside", j.Running[kind], share, j.Waiting[kind])},
			sched.Detail{Name: name + " turn", Value: p.turn(j, kind)},
		)
	}
	return facts
}

// turn tells what a job can count on beside its share.
func (p *Policy) turn(j *job, kind int) string {
	switch {
	case j.Waiting[kind] > 0 && j.launched[kind] < j.share[kind]:
		return fmt.Sprintf("new, with %d slots so far: others above their share make room", j.launched[kind])
	case j.Waiting[kind] == 0 && j.upcoming[kind] > 0:
		return fmt.Sprintf("between two stages: slots of its share that come free are kept for it, %d ms each", p.conf.ReserveMillis)
	case j.below(kind, j.Running):
		return "below its share: before all that are not, or have more"
	}
	return "at its share: after all that are below theirs, or have less"
}

// Precedes implements sched.JobComparer: who is below its share comes before who is
// above it.
func (p *Policy) Precedes(_ int64, view sched.View, kind cluster.Slot, a, b *cluster.Job) bool {
	p.computeShares(view.View)
	one, other := p.find(a.ID), p.find(b.ID)
	return one != nil && other != nil && one.below(int(kind), one.Running) && other.Running[kind] > other.share[kind]
}
