package sim

import "github.com/hammr/hammr/sched"

// reportDecisions passes on what was decided, by the clock of the run.
func (b *body) reportDecisions(decisions []sched.Decision) {
	for _, d := range decisions {
		d.At -= epoch
		if d.Until != 0 {
			d.Until -= epoch
		}
		b.cfg.OnDecision(d)
	}
}
