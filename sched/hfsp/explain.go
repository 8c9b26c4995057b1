package hfsp

import (
	"fmt"
	"math"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/share"
)

// Explain implements sched.Explainer.
func (m *model) Explain(now int64, _ sched.View, job *cluster.Job) (details []sched.Detail) {
	for kind := range m.queues {
		p := m.phases[phaseID{job.ID, cluster.Slot(kind)}]
		if p == nil {
			continue
		}
		add := func(name, format string, args ...any) {
			details = append(details, sched.Detail{Name: cluster.Slot(kind).String() + " " + name, Value: fmt.Sprintf(format, args...)})
		}
		if !p.entered {
			add("phase", "has not begun")
			continue
		}
		order := m.inLine(cluster.Slot(kind)).all
		add("size", "%s slot-seconds, %v", seconds(p.size), p.sized)
		add("remaining size on the virtual cluster", "%s slot-seconds", seconds(p.leftAt(now)))
		add("end on the virtual cluster", "%s", p.endText(now))
		add("rank", "%d of %d", slices.Index(order, p)+1, len(order))
		add("weight", "%g", p.weight)
		if p.training() {
			add("training", "%d of %d samples have finished", min(p.finished, m.conf.Samples[kind]), min(m.conf.Samples[kind], p.tasks))
		}
	}
	return details
}

// leftAt returns an upper bound of what is left of a phase on the virtual cluster. The service
// since the last event on the virtual cluster is not counted.
func (p *phase) leftAt(now int64) float64 {
	if p.late(now) {
		return 0
	}
	return p.remaining()
}

func (p *phase) endText(now int64) string {
	switch ms := p.done - float64(now); {
	case math.IsInf(ms, 1):
		return "never: it has no slots"
	case ms <= 0:
		return fmt.Sprintf("%s s ago: it is late", seconds(-ms))
	default:
		return fmt.Sprintf("in %s s", seconds(ms))
	}
}

func seconds(ms float64) string { return fmt.Sprintf("%.1f", ms/1000) }

// Precedes implements sched.JobComparer: late phases precede others, and phases that
// finish earlier on the virtual cluster precede later ones.
func (m *model) Precedes(_ int64, _ sched.View, kind cluster.Slot, a, b *cluster.Job) bool {
	x, y := m.phases[phaseID{a.ID, kind}], m.phases[phaseID{b.ID, kind}]
	if x == nil || y == nil {
		return x != nil
	}
	m.inLine(kind)
	return m.compare(x, y) < 0
}

// shares returns the slots of the phases on the virtual clusters, in order of jobs, as of
// the last event there. They are the shares that the phases would have of the real cluster.
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
