package board

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"pgregory.net/rapid"
)

// TestPreemptionsAreTheCountersOfTheJobs applies random commands. The sums over all rows of the ledger
// are those that the stages keep, and a board that follows a copy of the log has the same rows. A slot
// that is given up counts for the pool from which it was ordered, also if the job has moved since.
func TestPreemptionsAreTheCountersOfTheJobs(t *testing.T) {
	all, runs := cluster.PreemptionStats{}, 0 // of all runs
	rapid.Check(t, func(t *rapid.T) {
		runs++
		c := newRandomCluster(t)
		leader, follower := testBoard(), testBoard()
		gone := make(map[cluster.JobID]cluster.PreemptionStats) // of archived jobs
		for range steps {
			before := statsOf(c.view)
			e, delta, ok := c.apply()
			if !ok {
				continue
			}
			leader.Commit(e, delta, c.view)
			follower.Commit(e, delta, c.view)
			for _, id := range append(delta.Archived, delta.Retired...) {
				gone[id] = maxStats(gone[id], before[id])
			}
		}
		var want, got cluster.PreemptionStats
		for _, sums := range []map[cluster.JobID]cluster.PreemptionStats{statsOf(c.view), gone} {
			for _, s := range sums {
				want = plusStats(want, s)
			}
		}
		rows, _ := leader.Preemptions()
		for _, r := range rows {
			got = plusStats(got, cluster.PreemptionStats{Requested: r.Asked, Checkpoints: r.Checkpoints, CheckpointBytes: r.CheckpointBytes,
				CheckpointMillis: r.CheckpointMillis, LostMillis: r.LostMillis, KeptMillis: r.KeptMillis})
			if r.Granted < int(r.Latency.Counts[0]) || r.Mode == preempt.Suspend && (r.Granted != r.Asked || r.Latency.Millis != 0) {
				t.Errorf("row %+v", r)
			}
		}
		if got != want {
			t.Errorf("the ledger has %+v, the stages %+v: %+v", got, want, rows)
		}
		if other, _ := follower.Preemptions(); !slices.Equal(rows, other) {
			t.Errorf("a follower has %+v, want %+v", other, rows)
		}
		all = plusStats(all, want)
	})
	if all.Requested < runs || all.KeptMillis == 0 || all.LostMillis == 0 || all.CheckpointBytes == 0 {
		t.Errorf("the commands preempt too little: %+v", all)
	}
}

// statsOf returns the sums over the stages of each job.
func statsOf(view cluster.View) map[cluster.JobID]cluster.PreemptionStats {
	sums := make(map[cluster.JobID]cluster.PreemptionStats)
	for j := range view.Jobs() {
		for _, s := range j.Stages {
			sums[j.ID] = plusStats(sums[j.ID], s.Preemption)
		}
	}
	return sums
}

func plusStats(a, b cluster.PreemptionStats) cluster.PreemptionStats {
	return cluster.PreemptionStats{
		Requested: a.Requested + b.Requested, Checkpoints: a.Checkpoints + b.Checkpoints, CheckpointBytes: a.CheckpointBytes + b.CheckpointBytes,
		CheckpointMillis: a.CheckpointMillis + b.CheckpointMillis, LostMillis: a.LostMillis + b.LostMillis, KeptMillis: a.KeptMillis + b.KeptMillis,
	}
}

func maxStats(a, b cluster.PreemptionStats) cluster.PreemptionStats {
	return cluster.PreemptionStats{
		Requested: max(a.Requested, b.Requested), Checkpoints: max(a.Checkpoints, b.Checkpoints), CheckpointBytes: max(a.CheckpointBytes, b.CheckpointBytes),
		CheckpointMillis: max(a.CheckpointMillis, b.CheckpointMillis), LostMillis: max(a.LostMillis, b.LostMillis), KeptMillis: max(a.KeptMillis, b.KeptMillis),
	}
}

// ledgerLines returns the rows, a line for each.
func (s *story) ledgerLines() string {
	rows, _ := s.board.Preemptions()
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%s for %q by %s: asked %d, granted %d, declined %d, kept %d, lost %d, checkpoints %d %d %d, copied %d, freed after %d\n",
			r.Pool, r.For, r.Mode, r.Asked, r.Granted, r.Declined, r.KeptMillis, r.LostMillis, r.Checkpoints, r.CheckpointBytes, r.CheckpointMillis, r.CopiedBytes, r.Latency.Millis)
	}
	return b.String()
}

// TestWhoTookTheSlots preempts tasks in every mode, for a job, for a pool, and by a user.
func TestWhoTookTheSlots(t *testing.T) {
	s := newStory(t, 4, 0)
	jobTwo := cluster.JobID{Cluster: "1", Number: 2}
	s.do(cluster.SetPools{Names: []string{"adhoc"}})
	s.do(cluster.SubmitJob{Spec: cluster.JobSpec{Pool: "adhoc", Graph: s.state.View().Job(jobOne).Spec.Graph, MaxAttempts: [2]int{4, 4}}})
	forTwo, forPool := cluster.Beneficiary{Job: jobTwo}, cluster.Beneficiary{Pool: "etl"}
	for task := range 4 {
		s.start(task, "a", true)
	}
	s.do(cluster.PreemptAttempt{Attempt: try(0, 0), Mode: preempt.Suspend, For: forTwo})
	s.do(cluster.ResumeAttempt{Attempt: try(0, 0)})
	s.do(cluster.PreemptAttempt{Attempt: try(0, 0), Mode: preempt.Checkpoint, For: forPool})
	s.at -= 1000 // both have one time, as the leader proposes them at once
	s.do(cluster.DeclinePreemption{Attempt: try(0, 0)})
	s.at -= 1000
	s.do(cluster.PreemptAttempt{Attempt: try(0, 0), Mode: preempt.Suspend})
	s.do(cluster.PreemptAttempt{Attempt: try(1, 0), Mode: preempt.Checkpoint, For: forTwo})
	s.do(cluster.CheckpointAttempt{Attempt: try(1, 0), Checkpoint: cluster.Checkpoint{Path: "c", Bytes: 5}})
	s.start(1, "b", false)
	s.do(cluster.PreemptAttempt{Attempt: try(2, 0), Mode: preempt.Kill, For: forPool})
	s.do(cluster.ExitAttempt{Attempt: try(2, 0)})
	s.do(cluster.PreemptAttempt{Attempt: try(3, 0), Mode: preempt.Kill})
	s.do(cluster.ExpireMachine{Name: "a", Epoch: 1})
	want := `default for "" by kill: asked 1, granted 1, declined 0, kept 0, lost 9000, checkpoints 0 0 0, copied 0, freed after 0
default for "adhoc" by checkpoint: asked 1, granted 1, declined 0, kept 7000, lost 0, checkpoints 1 5 1000, copied 5, freed after 1000
default for "adhoc" by suspend: asked 1, granted 1, declined 0, kept 4000, lost 0, checkpoints 0 0 0, copied 0, freed after 0
default for "etl" by checkpoint: asked 1, granted 0, declined 1, kept 0, lost 0, checkpoints 0 0 0, copied 0, freed after 0
default for "etl" by suspend: asked 1, granted 1, declined 0, kept 5000, lost 0, checkpoints 0 0 0, copied 0, freed after 0
default for "etl" by kill: asked 1, granted 1, declined 0, kept 0, lost 8000, checkpoints 0 0 0, copied 0, freed after 1000
`
	if got := s.ledgerLines(); got != want {
		t.Errorf("the ledger has\n%swant\n%s", got, want)
	}
	var who []string
	for _, e := range events(s.board.Snapshot(), jobOne) {
		if slices.Contains([]string{"order", "suspend", "preempt"}, e.Kind) {
			attempt, _ := cluster.ParseAttemptID(e.Attempt)
			job, _ := cluster.ParseJobID(e.For) // zero for none
			who = append(who, fmt.Sprintf("%s m%d %d %s", e.Kind, attempt.Task.Number, job.Number, e.ForPool))
		} else if e.For+e.ForPool != "" {
			t.Errorf("%s has a beneficiary", e.Kind)
		}
	}
	if want := []string{"suspend m0 2 adhoc", "order m0 0 etl", "suspend m0 0 etl", "order m1 2 adhoc", "preempt m2 0 etl", "preempt m3 0 "}; !slices.Equal(who, want) {
		t.Errorf("slots were taken for %q, want %q", who, want)
	}
	s.board.Restore(s.state.View())
	if got := s.ledgerLines(); got != want {
		t.Errorf("after a snapshot the ledger has\n%s", got)
	}
}

// TestPreemptionCountsForThePoolOfItsOrder moves a job between the order and the free slot.
func TestPreemptionCountsForThePoolOfItsOrder(t *testing.T) {
	s := newStory(t, 2, 0)
	s.do(cluster.SetPools{Names: []string{"adhoc"}})
	for task := range 2 {
		s.start(task, "a", true)
	}
	s.do(cluster.PreemptAttempt{Attempt: try(0, 0), Mode: preempt.Checkpoint, For: cluster.Beneficiary{Pool: "etl"}})
	s.do(cluster.PreemptAttempt{Attempt: try(1, 0), Mode: preempt.Kill})
	s.do(cluster.SetPool{Job: jobOne, Pool: "adhoc"})
	s.do(cluster.CheckpointAttempt{Attempt: try(0, 0), Checkpoint: cluster.Checkpoint{Path: "c", Bytes: 5}})
	s.do(cluster.ExitAttempt{Attempt: try(1, 0)})
	want := `default for "" by kill: asked 1, granted 1, declined 0, kept 0, lost 2000, checkpoints 0 0 0, copied 0, freed after 3000
default for "etl" by checkpoint: asked 1, granted 1, declined 0, kept 5000, lost 0, checkpoints 1 5 3000, copied 0, freed after 3000
`
	if got := s.ledgerLines(); got != want {
		t.Errorf("the ledger has\n%swant\n%s", got, want)
	}
}

// TestPoolsOfTheLedgerAreBounded takes slots for more pools than have rows of their own.
func TestPoolsOfTheLedgerAreBounded(t *testing.T) {
	s := newStory(t, 1, 0)
	s.start(0, "a", true)
	for n := range 2 * maxSeries {
		s.do(cluster.PreemptAttempt{Attempt: try(0, 0), Mode: preempt.Suspend, For: cluster.Beneficiary{Pool: fmt.Sprint("pool", n)}})
		s.do(cluster.ResumeAttempt{Attempt: try(0, 0)})
	}
	rows, since := s.board.Preemptions()
	if len(rows) != maxSeries || rows[0].For != OtherPools || rows[0].Asked != maxSeries+1 || since != 1000 {
		t.Errorf("%d rows since %d, the first %+v", len(rows), since, rows[0].PreemptionKey)
	}
}

// TestQuantilesOfLatency compares quantiles with those of a sorted list: both are in the same bucket.
func TestQuantilesOfLatency(t *testing.T) {
	var l Latency
	if l.Quantile(.5) != 0 {
		t.Error("of nothing")
	}
	r := rand.New(rand.NewPCG(1, 2))
	var all []int64
	for range 1000 {
		millis := int64(r.ExpFloat64() * 300)
		all = append(all, millis)
		l.observe(millis)
	}
	slices.Sort(all)
	for _, q := range []float64{.05, .5, .95, .999} {
		exact, about := all[int(q*1000)-1], l.Quantile(q)
		i, _ := slices.BinarySearch(LatencyBounds[:], exact)
		if j, _ := slices.BinarySearch(LatencyBounds[:], about); i != j {
			t.Errorf("quantile %v is about %d ms, exactly %d ms", q, about, exact)
		}
	}
	sum := l
	if sum.Add(&l); sum.Quantile(.5) != l.Quantile(.5) || sum.Millis != 2*l.Millis {
		t.Error("twice the same times have another median")
	}
	var late Latency
	late.observe(3_600_000)
	late.observe(-5)
	if late.Quantile(1) != 60_000 || late.Quantile(.5) != 0 || late.Millis != 3_600_000 {
		t.Errorf("of an hour and less than nothing: %d, %d, %d", late.Quantile(1), late.Quantile(.5), late.Millis)
	}
}
