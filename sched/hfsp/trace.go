package hfsp

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/share"
)

// shares returns the slots of the phases on the virtual clusters, in order of jobs, as
// of the last event there: the share that each would have of the real cluster.
func (m *model) shares(now int64) (out []sched.Decision) {
	for kind := range m.virtual {
		v := &m.virtual[kind]
		claims := make([]share.Claim, len(v.members))
		for i, s := range v.members {
			claims[i] = share.Claim{Weight: s.weight, Demand: s.most}
		}
		for i, slots := range share.Fill(v.slots, claims) {
			out = append(out, sched.Decision{
				At: now, Kind: sched.DecisionShare, Job: v.members[i].id.job, Slot: cluster.Slot(kind), Share: slots,
			})
		}
	}
	return out
}
