package sim

import (
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/chronos"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sim/workload"
)

// wordCount returns a job of the Chronos paper: its maps read 256 MB each and last about a
// minute.
func wordCount(id string, submit int64, maps, reduces int) workload.Job {
	j := workload.Job{ID: id, Submit: submit, SlowStart: 1}
	for n := range maps {
		j.Maps = append(j.Maps, workload.Task{Millis: 60_000 + int64(hashOf(1, id, n, 0)%12_000), Bytes: 256 << 20})
	}
	for range reduces {
		j.Reduces = append(j.Reduces, workload.Task{Millis: 20_000, Bytes: 24 << 20})
	}
	return j
}

// runPaperJobs runs two word counts of 17 and 56 GB on the cluster of the Chronos paper
// (section 5). Machines fail when half of the first job's maps have finished.
func runPaperJobs(t *testing.T, policy sched.Policy, failures ...Failure) *Result {
	t.Helper()
	for i := range failures {
		failures[i].Job, failures[i].Phase, failures[i].Percent = "first", "map", 50
	}
	r, err := Run(t.Context(), Config{
		Policy: policy, Machines: 8, MapSlots: 8, ReduceSlots: 4, Replication: 1 + len(failures),
		ReportInterval: 300, ProgressInterval: 1000, Expiry: 25_000, Failures: failures, CheckInvariants: true,
	}, workloadOf(wordCount("first", 0, 68, 32), wordCount("second", 1000, 224, 32)))
	must.Do(t, err)
	return r
}

// recoveriesOf returns the mean wait of a job's maps for their recovery, in ms, and how many
// of all of them started next to their input.
func recoveriesOf(r *Result, job string) (wait int64, local, all int) {
	for _, one := range r.Recovered {
		if one.Job != job {
			continue
		}
		wait += one.Wait()
		all++
		if one.Local {
			local++
		}
	}
	return wait / int64(max(all, 1)), local, all
}

// chronosOverFIFO returns Chronos over FIFO, as in the paper.
func chronosOverFIFO() sched.Policy {
	return chronos.New(chronos.Config{
		Inner:   fifo.New(sched.DefaultPlacement()),
		Preempt: preempt.Config{Map: preempt.Split, Reduce: preempt.Checkpoint},
	})
}

func TestChronosRecoversAtOnceAndLocally(t *testing.T) {
	plain := runPaperJobs(t, fifo.New(sched.DefaultPlacement()), Failure{Machine: 3})
	better := runPaperJobs(t, chronosOverFIFO(), Failure{Machine: 3})

	waited, localBefore, count := recoveriesOf(plain, "first")
	waits, local, all := recoveriesOf(better, "first")
	t.Logf("recovery of %d and %d maps waits for %d ms, then %d ms; local %d, then %d", count, all, waited, waits, localBefore, local)
	for i, job := range []string{"first", "second"} {
		t.Logf("%s: %d ms, then %d ms", job, plain.Jobs[i].Sojourn(), better.Jobs[i].Sojourn())
	}
	if waited < 10_000 || waits > 2500 {
		t.Errorf("recovery waits for %d ms under FIFO and %d ms under Chronos", waited, waits)
	}
	if all == 0 || local < all {
		t.Errorf("%d of %d recovered maps are local", local, all)
	}
	if before, now := plain.Jobs[0].Sojourn(), better.Jobs[0].Sojourn(); float64(now) > .9*float64(before) {
		t.Errorf("the first job takes %d ms, and %d ms under FIFO", now, before)
	}
	if lost := len(better.Preempted); lost == 0 || lost > better.Lost[0].Running+better.Lost[0].Outputs {
		t.Errorf("%d attempts are preempted, and %d with %d outputs were lost", lost, better.Lost[0].Running, better.Lost[0].Outputs)
	}
	if better.Jobs[0].WorkLost+better.Jobs[1].WorkLost != 0 {
		t.Error("work of preempted attempts is lost")
	}
}

// TestChronosUnderTwoFailures loses a second machine together with the first, or while slots
// are freed for the first one's tasks (section 6.5).
func TestChronosUnderTwoFailures(t *testing.T) {
	for _, later := range testlevel.Choose([]int64{400}, []int64{0, 400, 1000}) {
		r := runPaperJobs(t, chronosOverFIFO(), Failure{Machine: 3}, Failure{Machine: 4, At: later})
		waits, local, all := recoveriesOf(r, "first")
		lost := 0
		for _, m := range r.Lost {
			lost += m.Running + m.Outputs
		}
		if waits > 2500 || local < all || len(r.Preempted) == 0 || len(r.Preempted) > lost {
			t.Errorf("%d ms later: recovery waits for %d ms, %d of %d are local, %d attempts are preempted for %d", later, waits, local, all, len(r.Preempted), lost)
		}
	}
}

// TestChronosCostsNothingWithoutFailure checks that without failures the whole results are
// equal.
func TestChronosCostsNothingWithoutFailure(t *testing.T) {
	run := func(policy sched.Policy) *Result {
		r, err := Run(t.Context(), Config{Policy: policy, Machines: 8, MapSlots: 8, ReduceSlots: 4, Replication: 2},
			workloadOf(wordCount("first", 0, 68, 32), wordCount("second", 1000, 224, 32)))
		must.Do(t, err)
		return r
	}
	plain, wrapped := run(fifo.New(sched.DefaultPlacement())), run(chronos.New(chronos.Config{Inner: fifo.New(sched.DefaultPlacement())}))
	if plain.Steps != wrapped.Steps {
		t.Errorf("%d steps under FIFO, %d with Chronos around it", plain.Steps, wrapped.Steps)
	}
	for i := range plain.Jobs {
		if plain.Jobs[i] != wrapped.Jobs[i] {
			t.Errorf("%+v under FIFO, %+v with Chronos around it", plain.Jobs[i], wrapped.Jobs[i])
		}
	}
}
