package disco

import (
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/sched/schedtest"
)

func newRandomCluster(t *testing.T, seed uint64, conf Config) *schedtest.RandomCluster {
	b := schedtest.NewRandomCluster(t, seed, New(conf))
	b.SoftState = schedtest.FullKnowledge{}
	return b
}

// TestEveryJobEnds runs jobs of all kinds at the same time, with readers that start early,
// or with tasks that fail, but not both: a task that avoids a machine may find all others
// full of readers that wait for it.
func TestEveryJobEnds(t *testing.T) {
	killed, reservations := 0, 0
	for seed := range testlevel.Seeds(56, 400) {
		b := newRandomCluster(t, seed, Config{Placement: placements[seed%4], Preempt: config[seed/4%2*3], ReserveMillis: int64(1 + seed%7*20)})
		early := int(seed / 8 % 2 * 1_000_000) // lowers the slow-start fraction
		if early > 0 {
			b.FailOneIn = 0
		}
		submit := func() *cluster.Job {
			s := schedtest.Spec(b.RandomGraph())
			s.SlowStartPPM -= early
			return b.Submit(s)
		}
		var jobs []*cluster.Job
		for range 2 + b.Random.IntN(6) {
			jobs = append(jobs, submit())
		}
		b.RunAll(jobs, func() {
			if b.Random.IntN(5) == 0 && len(jobs) < 12 {
				jobs = append(jobs, submit())
			}
			p := b.Policy.(*Policy)
			kept, _ := p.reserve(b.Now, b.View())
			plan := p.Decide(b.Now, b.PolicyView())
			checkPreempts(t, b.View(), p, plan)
			reservations, killed = reservations+len(kept), killed+len(plan.Preempts)
		})
	}
	if least := testlevel.Choose(40, 300); reservations < least || killed < least {
		t.Errorf("slots have been kept on %d machines, and taken from %d attempts", reservations, killed)
	}
}
