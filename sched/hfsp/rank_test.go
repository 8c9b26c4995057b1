package hfsp

import (
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// ranked returns the order of all jobs if one pool has them all.
func (s *fixture) ranked(at int64, conf Config) (order []int) {
	r := NewRanker(conf)
	r.Reset(at, s.PolicyView())
	queue := sched.Queue{Kind: cluster.MapSlot}
	for j := range s.View().Jobs() {
		queue.Jobs = append(queue.Jobs, &sched.Claimant{Job: j, Running: cluster.Slots{len(s.attempts(j, cluster.MapSlot)), 0}})
	}
	slices.SortFunc(queue.Jobs, r.Rank(at, s.PolicyView(), queue))
	for _, c := range queue.Jobs {
		order = append(order, c.Job.ID.Number)
	}
	return order
}

// TestRanks checks the order: samples, then late jobs, then the others.
func TestRanks(t *testing.T) {
	conf := Config{Placement: blind, Estimator: Oracle(func(j *cluster.Job, _ cluster.Slot) (int64, bool) {
		return []int64{0, 50_000, 20_000, 100, 0}[j.ID.Number], j.ID.Number < 4
	})}
	s := newFixture(t, conf, 1, 2, 1)
	for range 4 {
		s.submit(1000, 9, 0)
	}
	for at, want := range map[int64][]int{1000: {4, 3, 2, 1}, 1000 + 30_000: {4, 3, 2, 1}, 1000 + 400_000: {4, 3, 2, 1}} {
		if order := s.ranked(at, conf); !slices.Equal(order, want) {
			t.Errorf("at %d the order is %v, want %v", at, order, want)
		}
	}
	late := s.View().Job(cluster.JobID{Cluster: "1", Number: 3})
	task := late.Stages[0].Tasks[0]
	s.do(500_000, cluster.StartAttempt{Task: task.ID, Machine: "m0", Range: late.RangeOf(task)})
	if order := s.ranked(500_000, conf); !slices.Equal(order, []int{4, 2, 1, 3}) {
		t.Errorf("all are late, and the third has a slot: %v", order)
	}
}

func TestExplain(t *testing.T) {
	s := newFixture(t, Config{Placement: blind, Samples: [2]int{2, 2}, TrainSlots: [2]int{2, 2}}, 1, 4, 1)
	first := s.submit(1000, 4, 1)
	second := s.submit(1000, 40, 0)
	s.settle(1000)
	s.finish(61_000, first, cluster.MapSlot, 1)
	explained := func(at int64, j *cluster.Job) string {
		var lines []string
		for _, f := range s.Explain(at, s.PolicyView(), j) {
			lines = append(lines, f.Name+": "+f.Value)
		}
		return strings.Join(lines, "\n")
	}
	for _, c := range []struct {
		at   int64
		job  *cluster.Job
		want string
	}{
		{61_000, first, `map size: 240.0 slot-seconds, a guess, in training
map remaining size on the virtual cluster: 240.0 slot-seconds
map end on the virtual cluster: in 60.0 s
map rank: 1 of 2
map weight: 1
map training: 1 of 2 samples have finished
reduce phase: has not begun`},
		{131_000, second, `map size: 2400.0 slot-seconds, a guess, in training
map remaining size on the virtual cluster: 2400.0 slot-seconds
map end on the virtual cluster: in 530.0 s
map rank: 2 of 2
map weight: 1
map training: 0 of 2 samples have finished`},
	} {
		if got := explained(c.at, c.job); got != c.want {
			t.Errorf("at %d job %v is explained as\n%s\nwant\n%s", c.at, c.job.ID, got, c.want)
		}
	}
	if got := explained(131_000, first); !strings.Contains(got, "map end on the virtual cluster: 10.0 s ago: it is late") {
		t.Errorf("a late job is explained as\n%s", got)
	}
	if !s.Precedes(61_000, s.PolicyView(), cluster.MapSlot, first, second) || s.Precedes(61_000, s.PolicyView(), cluster.MapSlot, second, first) {
		t.Error("the second job precedes the first")
	}
}
