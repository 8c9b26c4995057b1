package sim

import (
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched/fifo"
)

// led plays a job on three machines and three masters, while somebody breaks things.
func led(t *testing.T, change func(*Config)) *Result {
	t.Helper()
	cfg := quick(3, 2, 1)
	cfg.Policy, cfg.CheckInvariants, cfg.Tasks = new(fifo.Policy), true, true
	cfg.Masters, cfg.Heartbeat, cfg.Latency, cfg.Expiry, cfg.Commit = 3, 70, 10, 2000, 50
	change(&cfg)
	j := jobOf("a", 0, 10, 3, 700)
	r, err := Run(t.Context(), cfg, workloadOf(j))
	if err != nil {
		t.Fatal(err)
	}
	if j := r.Jobs[0]; j.State != cluster.JobSucceeded || j.Wrong != "" {
		t.Fatalf("%+v", j)
	}
	return r
}

// at has something happen at a time.
func at(ms int64, do func(w *World)) func(*World) int64 {
	return func(w *World) int64 {
		if w.Time() < ms {
			return ms - w.Time()
		}
		do(w)
		return 0
	}
}

// TestNewControllerRunsNothingAgain has another master lead at any time, with attempts
// that begin, run, end and are committed meanwhile.
func TestNewControllerRunsNothingAgain(t *testing.T) {
	end := led(t, func(*Config) {}).End
	for when := int64(0); when < end; when += 13 {
		r := led(t, func(c *Config) {
			c.Election = 1 + when%7*150
			c.Disturb = at(when, func(w *World) { w.TakeMaster(w.Leader()) })
		})
		if len(r.Leads) != 2 || r.Leads[1] <= when || len(r.Tasks) != 13 {
			t.Fatalf("at %d: leads %v, %d attempts", when, r.Leads, len(r.Tasks))
		}
	}
}

// TestLeaderIsLostAtEveryEntry has the leader be gone whenever it is about to write
// something, and nothing of that is lost or done twice.
func TestLeaderIsLostAtEveryEntry(t *testing.T) {
	for n := 1; ; n++ {
		batches := 0
		r := led(t, func(c *Config) {
			c.Visited = func(w *World, v Visit) Effect {
				if v.Place != AtAppend || v.Master != w.Leader() {
					return Effect{}
				}
				if batches++; batches == n {
					end := w.TakeMaster(v.Master)
					w.After(300, end)
				}
				return Effect{}
			}
			c.Disturb = func(*World) int64 { return 0 }
		})
		if batches < n {
			if n < 10 {
				t.Errorf("only %d batches", batches)
			}
			return
		}
		if len(r.Leads) != 2 || len(r.Tasks) != 13 {
			t.Fatalf("before batch %d: leads %v, %d attempts", n, r.Leads, len(r.Tasks))
		}
	}
}

// TestNobodyDecidesWithoutAMajority takes followers, and then one too many.
func TestNobodyDecidesWithoutAMajority(t *testing.T) {
	r := led(t, func(c *Config) {
		c.Disturb = at(500, func(w *World) { w.TakeMaster(1) })
	})
	if len(r.Leads) != 1 || r.Jobs[0].Finish != led(t, func(*Config) {}).Jobs[0].Finish {
		t.Errorf("without one follower: %v", r.Leads)
	}
	r = led(t, func(c *Config) {
		c.Disturb = at(500, func(w *World) {
			w.TakeMaster(1)
			w.After(4000, w.TakeMaster(2))
		})
	})
	if !slices.Equal(r.Leads, []int64{0, 5500}) || len(r.Tasks) != 13 {
		t.Errorf("without both: %v, %d attempts", r.Leads, len(r.Tasks))
	}
}

// TestCommitIsDecidedOnce loses the leader at each step of a commit.
func TestCommitIsDecidedOnce(t *testing.T) {
	for step := range 5 { // it begins, names three parts, and ends
		steps := 0
		r := led(t, func(c *Config) {
			c.Visited = func(w *World, v Visit) Effect {
				if v.Place < AtCommitBegin {
					return Effect{}
				}
				if steps++; steps == step+1 {
					w.TakeMaster(v.Master)
				}
				return Effect{}
			}
		})
		if steps != 5+step+1 || len(r.Leads) != 2 || len(r.Tasks) != 13 {
			t.Errorf("step %d: %d steps, leads %v", step, steps, r.Leads)
		}
	}
}

// TestSilence has a tasknode be silent for less and for more than it takes to be given
// up. What it has finished meanwhile counts.
func TestSilence(t *testing.T) {
	for _, c := range []struct {
		silent int64
		lost   int
	}{{300, 0}, {1900, 0}, {2500, 1}} {
		restored := 0 // tasks that ran again in vain
		for when := int64(0); when < 3000; when += 53 {
			r := led(t, func(cfg *Config) {
				cfg.Disturb = at(when, func(w *World) { w.After(c.silent, w.Silence(1)) })
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

// TestRestartedTasknodeKeepsItsOutput has one begin again: what it had finished does not
// run again, what ran does.
func TestRestartedTasknodeKeepsItsOutput(t *testing.T) {
	for _, back := range []int64{300, 4000} { // before it is given up, and behind that
		running := 0
		r := led(t, func(c *Config) {
			c.Disturb = at(1000, func(w *World) {
				running = len(w.Running(0))
				w.Lose(0, back)
			})
		})
		if r.Lost[0].Running != running || running == 0 || back < 2000 && (r.Lost[0].Outputs != 0 || len(r.Tasks) != 13+running) {
			t.Errorf("back after %d: %d ran, %d attempts: %+v", back, running, len(r.Tasks), r.Lost[0])
		}
	}
}

// TestDamagedOutputRunsAgain damages the output of a map while reduces copy.
func TestDamagedOutputRunsAgain(t *testing.T) {
	damaged := false
	r := led(t, func(c *Config) {
		c.Disturb = at(1000, func(w *World) { damaged = w.Damage(0) })
	})
	outcomes := make(map[Outcome]int)
	for _, a := range r.Tasks {
		outcomes[a.Outcome]++
	}
	if !damaged || outcomes[OutputLost] != 1 || outcomes[Finished] != 13 || outcomes[Killed] == 0 {
		t.Errorf("%v, %v", damaged, outcomes)
	}
}

// TestFrozenAttempt stands still for as long as it is frozen, in whatever it does.
func TestFrozenAttempt(t *testing.T) {
	plain := led(t, func(*Config) {})
	for when := int64(0); when < 2500; when += 31 {
		r := led(t, func(c *Config) {
			c.Disturb = at(when, func(w *World) {
				for _, id := range w.Running(0) {
					w.After(5000, w.Freeze(id))
				}
			})
		})
		if len(r.Tasks) != 13 || r.End > plain.End+6000 {
			t.Fatalf("at %d: %d attempts, over at %d", when, len(r.Tasks), r.End)
		}
	}
}

func TestFaultyMasters(t *testing.T) {
	cfg := quick(1, 1, 1)
	cfg.Masters, cfg.Commit = -1, -1
	if err := cfg.Check(); err == nil || !strings.Contains(err.Error(), "-1 masters") {
		t.Error(err)
	}
}
