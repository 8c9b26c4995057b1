package fifo

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// Precedes implements sched.JobComparer: who is first in line comes before who is
// behind.
func (p *Policy) Precedes(_ int64, _ sched.View, _ cluster.Slot, a, b *cluster.Job) bool {
	one, other := p.byID[a.ID], p.byID[b.ID]
	return one != nil && other != nil && one.compare(other) < 0
}
