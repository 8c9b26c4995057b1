package sim

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
)

// wakingPolicy assigns nothing and wakes itself repeatedly.
type wakingPolicy struct {
	fifo.Policy
	now int64
}

func (s *wakingPolicy) Decide(now int64, _ sched.View) (plan sched.Plan) {
	s.now = now
	return plan
}

func (s *wakingPolicy) NextWake() int64 { return s.now + 1000 }

func TestStuckWhilePolicyWakes(t *testing.T) {
	cfg := configOf(1, 1, 1)
	cfg.Policy = new(wakingPolicy)
	_, err := Run(t.Context(), cfg, workloadOf(jobOf("a", 0, 2, 1, 1000)))
	for _, want := range []string{"nothing more happens", "map: 2 waiting, 0 running, 0 of 2 finished (1 map slots are free)", "1 waiting, 0 running, 0 of 1 finished (not ready", "occupied by no job"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

// TestStuckWithSuspendedAttempts never resumes a suspended attempt.
func TestStuckWithSuspendedAttempts(t *testing.T) {
	cfg := configOf(1, 1, 1)
	cfg.Policy = &script{mode: preempt.Suspend, victim: "m_000000", at: 400, until: never}
	_, err := Run(t.Context(), cfg, workloadOf(jobOf("a", 0, 1, 0, 1000)))
	if want := "m_000000_0 is suspended since 400 ms and waits for one of the 1 map slots of n0001 (1 free)"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("no %q in %v", want, err)
	}
}

// TestSeries suspends a map for another job.
func TestSeries(t *testing.T) {
	s := &script{mode: preempt.Suspend, victim: "m_000000", at: 4000, until: 10_000, othersMay: true}
	r := perform(t, configOf(1, 1, 1), s, oneMapJob("a", 0), oneMapJob("b", 0))
	want := []Sample{
		{0, "a", cluster.DefaultPool, cluster.MapSlot, 1, 0}, {4000, "a", cluster.DefaultPool, cluster.MapSlot, 0, 1},
		{4000, "b", cluster.DefaultPool, cluster.MapSlot, 1, 0}, {14_000, "a", cluster.DefaultPool, cluster.MapSlot, 1, 0},
		{14_000, "b", cluster.DefaultPool, cluster.MapSlot, 0, 0}, {20_000, "a", cluster.DefaultPool, cluster.MapSlot, 0, 0},
	}
	if len(r.Series) != len(want) {
		t.Fatalf("%+v", r.Series)
	}
	for _, sample := range want {
		found := false
		for _, got := range r.Series {
			found = found || got == sample
		}
		if !found {
			t.Errorf("no %+v in %+v", sample, r.Series)
		}
	}
}
