package fair

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// shares returns the fair shares of all pools that jobs can be in, by name, as computed
// last.
func (p *Policy) shares(now int64) (out []sched.Decision) {
	for _, q := range p.tree.leaves() {
		for kind, share := range q.share {
			out = append(out, sched.Decision{
				At: now, Kind: sched.DecisionShare, Pool: q.Name, Slot: cluster.Slot(kind), Share: share,
			})
		}
	}
	return out
}
