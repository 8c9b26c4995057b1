package hfsp

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/share"
)

// shares are the slots that phases have on the virtual clusters, in order of their
// jobs, as of the last change there: what each ought to have of the real one, were
// it shared.
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
