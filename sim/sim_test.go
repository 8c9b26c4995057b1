package sim

import (
	"context"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sim/workload"
)

// jobOf makes a job of equal tasks.
func jobOf(id string, submit int64, maps, reduces int, millis int64) workload.Job {
	j := workload.Job{ID: id, Submit: submit, SlowStart: -1}
	for range maps {
		j.Maps = append(j.Maps, workload.Task{Millis: millis, Bytes: 1 << 20})
	}
	for range reduces {
		j.Reduces = append(j.Reduces, workload.Task{Millis: millis, Bytes: 50e6})
	}
	return j
}

func workloadOf(jobs ...workload.Job) *workload.Workload {
	return &workload.Workload{Name: "test", Jobs: jobs}
}

// play runs jobs under FIFO and checks the state after every change.
func play(t testing.TB, cfg Config, jobs ...workload.Job) *Result {
	t.Helper()
	cfg.Policy, cfg.CheckInvariants = new(fifo.Policy), true
	r, err := Run(t.Context(), cfg, workloadOf(jobs...))
	must.Do(t, err)
	return r
}

// configOf returns a cluster without delays.
func configOf(nodes, mapSlots, reduceSlots int) Config {
	return Config{Machines: nodes, MapSlots: mapSlots, ReduceSlots: reduceSlots, Latency: -1}
}

// TestMapTimes runs three local maps on two slots.
func TestMapTimes(t *testing.T) {
	r := play(t, configOf(1, 2, 1), jobOf("a", 100, 3, 0, 1000))
	j := r.Jobs[0]
	if j.Submit != 100 || j.Start != 100 || j.Finish != 2100 || j.LocalMaps != 3 || j.Alone != 1500 || j.State != cluster.JobSucceeded {
		t.Errorf("%+v", j)
	}
}

// TestReduceTimes copies 50 MB in a second, the last quarter after the last map has
// finished, and works for another second.
func TestReduceTimes(t *testing.T) {
	j := play(t, configOf(1, 1, 1), jobOf("a", 0, 4, 1, 1000)).Jobs[0]
	if j.Finish != 4000+250+1000 {
		t.Errorf("%+v", j)
	}
	cfg := configOf(1, 4, 1)
	if j := play(t, cfg, jobOf("a", 0, 4, 1, 1000)).Jobs[0]; j.Finish != 1000+1000+1000 {
		t.Errorf("a reduce that starts after the maps: %+v", j)
	}
}

// TestSharedSlots runs a reduce that waits for the maps' slots. It copies for a second and
// works for another.
func TestSharedSlots(t *testing.T) {
	cfg := configOf(1, 2, -1)
	cfg.SharedSlots = true
	j := play(t, cfg, jobOf("a", 0, 4, 1, 1000)).Jobs[0]
	if j.MapFinish != 2000 || j.ReduceStart != 2000 || j.Finish != 4000 || j.Alone != 3000 {
		t.Errorf("%+v", j)
	}
}

// TestRemoteInputTakesLonger runs maps on machines without their input, with one copy of
// each block.
func TestRemoteInputTakesLonger(t *testing.T) {
	cfg := configOf(2, 1, 1)
	cfg.Replication, cfg.RemoteRate = 1, 1<<20
	j := play(t, cfg, jobOf("a", 0, 2, 0, 1000)).Jobs[0]
	if want := int64(1000 * (3 - j.LocalMaps)); j.LocalMaps < 1 || j.Finish != want {
		t.Errorf("%+v, want it to take %d ms", j, want)
	}
}

// TestMessageLatency adds a report interval and a round trip.
func TestMessageLatency(t *testing.T) {
	cfg := Config{Machines: 1, MapSlots: 1, Latency: 10, ReportInterval: 300}
	j := play(t, cfg, jobOf("a", 0, 2, 0, 1000)).Jobs[0]
	if j.Finish < 2040 || j.Finish > 2640 {
		t.Errorf("%+v", j)
	}
}

// TestLostMachine loses the only copies of finished maps while a reduce waits.
func TestLostMachine(t *testing.T) {
	cfg := configOf(2, 1, 1)
	cfg.Failures, cfg.Expiry = []Failure{{Machine: 0, At: 1500}}, 1000
	j := play(t, cfg, jobOf("a", 0, 6, 1, 1000)).Jobs[0]
	if j.State != cluster.JobSucceeded || j.Finish < 7000 {
		t.Errorf("%+v: the lost half was not run again", j)
	}
	cfg.Failures[0].BackAfter = 200 // before the expiry
	if back := play(t, cfg, jobOf("a", 0, 6, 1, 1000)).Jobs[0]; back.Finish >= j.Finish {
		t.Errorf("%+v where the machine is back, %+v where it is not", back, j)
	}
}

// TestStuck runs reduces on a cluster without reduce slots.
func TestStuck(t *testing.T) {
	cfg := configOf(1, 1, -1)
	cfg.Policy = new(fifo.Policy)
	_, err := Run(t.Context(), cfg, workloadOf(jobOf("a", 0, 2, 1, 1000)))
	if err == nil || !strings.Contains(err.Error(), "a: RUNNING, map: 0 waiting, 0 running, 2 of 2 finished, reduce: 1 waiting") {
		t.Error(err)
	}
}

func TestInvalidConfig(t *testing.T) {
	_, err := Run(t.Context(), Config{Racks: -1, Failures: []Failure{{Machine: 3}}}, workloadOf(jobOf("a", -1, 1, 0, 1)))
	for _, want := range []string{"no policy", "0 machines", "-1 racks", "failure of machine n0004"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

func TestContextCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cfg := configOf(1, 1, 1)
	cfg.Policy = new(fifo.Policy)
	if _, err := Run(ctx, cfg, workloadOf(jobOf("a", 0, 10_000, 0, 1))); err != context.Canceled {
		t.Error(err)
	}
}
