package sim

import (
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sched/fifo"
)

// playWithMasters runs a job on three machines and three masters, with faults.
func playWithMasters(t *testing.T, change func(*Config)) *Result {
	t.Helper()
	cfg := configOf(3, 2, 1)
	cfg.Policy, cfg.CheckInvariants, cfg.Tasks = new(fifo.Policy), true, true
	cfg.Masters, cfg.ReportInterval, cfg.Latency, cfg.Expiry, cfg.CommitTime = 3, 70, 10, 2000, 50
	change(&cfg)
	j := jobOf("a", 0, 10, 3, 700)
	r, err := Run(t.Context(), cfg, workloadOf(j))
	must.Do(t, err)
	if j := r.Jobs[0]; j.State != cluster.JobSucceeded || j.OutputError != "" {
		t.Fatalf("%+v", j)
	}
	return r
}

// at does something at a time.
func at(ms int64, do func(w *Simulation)) func(*Simulation) int64 {
	return func(w *Simulation) int64 {
		if w.Time() < ms {
			return ms - w.Time()
		}
		do(w)
		return 0
	}
}

// TestNewLeaderRerunsNothing changes the leader at any time, while attempts start, run, end
// and are committed.
func TestNewLeaderRerunsNothing(t *testing.T) {
	end := playWithMasters(t, func(*Config) {}).End
	for when := int64(0); when < end; when += 13 {
		r := playWithMasters(t, func(c *Config) {
			c.ElectionTime = 1 + when%7*150
			c.InjectFaults = at(when, func(w *Simulation) { w.IsolateMaster(w.Leader()) })
		})
		if len(r.Elections) != 2 || r.Elections[1] <= when || len(r.Tasks) != 13 {
			t.Fatalf("at %d: leads %v, %d attempts", when, r.Elections, len(r.Tasks))
		}
	}
}

// TestLeaderLostAtEveryEntry isolates the leader before each of its writes. Nothing is lost
// or done twice.
func TestLeaderLostAtEveryEntry(t *testing.T) {
	for n := 1; ; n++ {
		batches := 0
		r := playWithMasters(t, func(c *Config) {
			c.OnFailpoint = func(w *Simulation, v FailpointHit) Effect {
				if v.Failpoint != AtAppend || v.Master != w.Leader() {
					return Effect{}
				}
				if batches++; batches == n {
					end := w.IsolateMaster(v.Master)
					w.After(300, end)
				}
				return Effect{}
			}
			c.InjectFaults = func(*Simulation) int64 { return 0 }
		})
		if batches < n {
			if n < 10 {
				t.Errorf("only %d batches", batches)
			}
			return
		}
		if len(r.Elections) != 2 || len(r.Tasks) != 13 {
			t.Fatalf("before batch %d: leads %v, %d attempts", n, r.Elections, len(r.Tasks))
		}
	}
}

// TestNoDecisionsWithoutMajority isolates followers, and then one too many.
func TestNoDecisionsWithoutMajority(t *testing.T) {
	r := playWithMasters(t, func(c *Config) {
		c.InjectFaults = at(500, func(w *Simulation) { w.IsolateMaster(1) })
	})
	if len(r.Elections) != 1 || r.Jobs[0].Finish != playWithMasters(t, func(*Config) {}).Jobs[0].Finish {
		t.Errorf("without one follower: %v", r.Elections)
	}
	r = playWithMasters(t, func(c *Config) {
		c.InjectFaults = at(500, func(w *Simulation) {
			w.IsolateMaster(1)
			w.After(4000, w.IsolateMaster(2))
		})
	})
	if !slices.Equal(r.Elections, []int64{0, 5500}) || len(r.Tasks) != 13 {
		t.Errorf("without both: %v, %d attempts", r.Elections, len(r.Tasks))
	}
}

// TestOutputCommittedOnce isolates the leader at each step of a commit.
func TestOutputCommittedOnce(t *testing.T) {
	for step := range 5 { // it begins, renames three parts, and ends
		steps := 0
		r := playWithMasters(t, func(c *Config) {
			c.OnFailpoint = func(w *Simulation, v FailpointHit) Effect {
				if v.Failpoint < AtCommitBegin {
					return Effect{}
				}
				if steps++; steps == step+1 {
					w.IsolateMaster(v.Master)
				}
				return Effect{}
			}
		})
		if steps != 5+step+1 || len(r.Elections) != 2 || len(r.Tasks) != 13 {
			t.Errorf("step %d: %d steps, leads %v", step, steps, r.Elections)
		}
	}
}

// TestPartitionedTasknode partitions a tasknode for less and for more than the expiry. Tasks
// that it finishes meanwhile count.
func TestPartitionedTasknode(t *testing.T) {
	for _, c := range []struct {
		silent int64
		lost   int
	}{{300, 0}, {1900, 0}, {2500, 1}} {
		restored := 0 // tasks that ran twice
		for when := int64(0); when < 3000; when += 53 {
			r := playWithMasters(t, func(cfg *Config) {
				cfg.InjectFaults = at(when, func(w *Simulation) { w.After(c.silent, w.Partition(1)) })
			})
			for _, again := range r.Tasks {
				if again.Attempt == 1 && again.Outcome == Killed {
					restored++
				}
			}
			if c.lost == 0 && (len(r.Lost) != 0 || len(r.Tasks) != 13) || len(r.Lost) > c.lost {
				t.Fatalf("silent at %d for %d: %+v, %d attempts", when, c.silent, r.Lost, len(r.Tasks))
			}
		}
		if (restored > 0) != (c.lost > 0) {
			t.Errorf("silent for %d: %d tasks need not have run again", c.silent, restored)
		}
	}
}

// TestRestartedTasknodeKeepsItsOutput restarts a tasknode. Its finished attempts do not run
// again; its running attempts do.
func TestRestartedTasknodeKeepsItsOutput(t *testing.T) {
	for _, back := range []int64{300, 4000} { // before and after its expiry
		running := 0
		r := playWithMasters(t, func(c *Config) {
			c.InjectFaults = at(1000, func(w *Simulation) {
				running = len(w.AttemptsOn(0))
				w.FailMachine(0, back)
			})
		})
		if r.Lost[0].Running != running || running == 0 || back < 2000 && (r.Lost[0].Outputs != 0 || len(r.Tasks) != 13+running) {
			t.Errorf("back after %d: %d ran, %d attempts: %+v", back, running, len(r.Tasks), r.Lost[0])
		}
	}
}

// TestDamagedOutputRunsAgain corrupts the output of a map while reduces copy.
func TestDamagedOutputRunsAgain(t *testing.T) {
	damaged := false
	r := playWithMasters(t, func(c *Config) {
		c.InjectFaults = at(1000, func(w *Simulation) { damaged = w.CorruptOutput(0) })
	})
	outcomes := make(map[Outcome]int)
	for _, a := range r.Tasks {
		outcomes[a.Outcome]++
	}
	if !damaged || outcomes[OutputLost] != 1 || outcomes[Finished] != 13 || outcomes[Killed] == 0 {
		t.Errorf("%v, %v", damaged, outcomes)
	}
}

// TestStoppedProcess stops a process in every phase. It makes no progress until it
// continues.
func TestStoppedProcess(t *testing.T) {
	plain := playWithMasters(t, func(*Config) {})
	for when := int64(0); when < 2500; when += 31 {
		r := playWithMasters(t, func(c *Config) {
			c.InjectFaults = at(when, func(w *Simulation) {
				for _, id := range w.AttemptsOn(0) {
					w.After(5000, w.StopProcess(id))
				}
			})
		})
		if len(r.Tasks) != 13 || r.End > plain.End+6000 {
			t.Fatalf("at %d: %d attempts, over at %d", when, len(r.Tasks), r.End)
		}
	}
}

func TestInvalidMasters(t *testing.T) {
	cfg := configOf(1, 1, 1)
	cfg.Masters, cfg.CommitTime = -1, -1
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "-1 masters") {
		t.Error(err)
	}
}
