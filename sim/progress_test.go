package sim

import (
	"math"
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sim/workload"
	"pgregory.net/rapid"
)

// TestProgressIsFromLastReport suspends a map that reports every three seconds, and checks the
// progress that the policy sees.
func TestProgressIsFromLastReport(t *testing.T) {
	cfg := configOf(1, 1, 1)
	cfg.Latency = 10 // it starts at 10
	known := make(map[int64]sched.Progress)
	s := &script{mode: preempt.Suspend, victim: "m_000000", at: 4000, until: 6000, wakes: []int64{3019, 3020, 3500, 5900, 9000, 9100}}
	s.look = func(now int64, view sched.View) {
		if id, found := s.find(view); found {
			known[now], _ = view.Progress(id)
		}
	}
	perform(t, cfg, s, oneMapJob("a", 0))
	early := sched.Progress{ReportedAt: epoch + 3010, Fraction: 0.3}
	for at, want := range map[int64]sched.Progress{
		0: {}, 3019: {}, 3020: early, 3500: early, 5900: early, 9000: early,
		9100: {ReportedAt: epoch + 9010, Fraction: 0.7}, // it resumes at 6010, with four seconds done
	} {
		if got := known[at]; got.ReportedAt != want.ReportedAt || math.Abs(got.Fraction-want.Fraction) > 1e-9 || got.ReducingSince != 0 {
			t.Errorf("at %d: %+v, want %+v", at, got, want)
		}
	}
}

// TestProbe makes all attempts report when a machine expires.
func TestProbe(t *testing.T) {
	cfg := configOf(2, 1, 1)
	cfg.Latency, cfg.ProgressInterval, cfg.Expiry = 10, -1, 2000
	cfg.Failures = []Failure{{Machine: 1, At: 3000}}
	known := make(map[int64]sched.Progress)
	s := &script{at: 50_000, until: 50_000, victim: "m_000000", wakes: []int64{5019, 5020}}
	s.look = func(now int64, view sched.View) {
		if m := view.Machine("n0001"); m != nil && len(m.Attempts) > 0 {
			known[now], _ = view.Progress(m.Attempts[0].ID)
		}
	}
	perform(t, cfg, s, oneMapJob("a", 0), oneMapJob("b", 0))
	if want := (sched.Progress{ReportedAt: epoch + 5010, Fraction: 0.5}); known[5019] != (sched.Progress{}) || known[5020] != want {
		t.Errorf("%+v, %+v", known[5019], known[5020])
	}
}

// TestReducing checks since when a reduce is known to work.
func TestReducing(t *testing.T) {
	cfg := configOf(1, 1, 1)
	known := make(map[int64]sched.Progress)
	s := &script{at: 50_000, until: 50_000, victim: "r_000000", wakes: []int64{10_900, 13_500, 17_000}}
	s.look = func(now int64, view sched.View) {
		if id, found := s.find(view); found {
			known[now], _ = view.Progress(id)
		}
	}
	perform(t, cfg, s, oneMapJob("a", 1)) // copies from 10,000 to 11,000
	want := map[int64]sched.Progress{
		10_900: {},
		13_500: {ReportedAt: epoch + 13_000, Fraction: 2./3 + 0.2/3, ReducingSince: epoch + 13_000},
		17_000: {ReportedAt: epoch + 16_000, Fraction: 2./3 + 0.5/3, ReducingSince: epoch + 13_000},
	}
	for at, want := range want {
		if got := known[at]; got.ReportedAt != want.ReportedAt || got.ReducingSince != want.ReducingSince || math.Abs(got.Fraction-want.Fraction) > 1e-9 {
			t.Errorf("at %d: %+v, want %+v", at, got, want)
		}
	}
}

// reporter sends one event for each report of an attempt: the dumb twin of what the
// simulator computes on request.
type reporter struct {
	b        *body
	begun    map[*attempt]int64 // start of the current run of each attempt
	reported map[cluster.AttemptID]sched.Progress
}

// tick visits all attempts at the end of a millisecond. An attempt that stalls in the
// millisecond of a report has still sent it.
func (r *reporter) tick() {
	for id, a := range r.b.attempts {
		began, running := r.begun[a]
		if !running && !a.stalled && !a.ended {
			began = a.reportsFrom
			r.begun[a] = began
		}
		if elapsed := r.b.now - began; began > 0 && elapsed > 0 && elapsed%r.b.cfg.ProgressInterval == 0 {
			r.report(id, a)
		}
		if a.stalled || a.ended {
			delete(r.begun, a)
		}
	}
}

func (r *reporter) report(id cluster.AttemptID, a *attempt) {
	p := sched.Progress{ReportedAt: r.b.now, Fraction: a.fractionAt(r.b.now), ReducingSince: r.reported[id].ReducingSince}
	if p.ReducingSince == 0 && p.Fraction > sched.ReducePhaseStart && a.kind == cluster.ReduceSlot {
		p.ReducingSince = p.ReportedAt
	}
	r.reported[id] = p
}

// TestProgressMatchesEventReports steps clusters millisecond by millisecond and compares the
// computed report of each attempt with the events.
func TestProgressMatchesEventReports(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := &script{
			mode:   rapid.SampledFrom([]preempt.Mode{preempt.Suspend, preempt.Split, preempt.Checkpoint}).Draw(rt, "how"),
			victim: rapid.SampledFrom([]string{"m_000000", "m_000002", "r_000000"}).Draw(rt, "victim"),
			at:     rapid.Int64Range(0, 300).Draw(rt, "at"),
		}
		s.until = s.at + rapid.Int64Range(1, 100).Draw(rt, "for")
		cfg := configOf(2, 2, 1)
		cfg.Policy, cfg.ProgressInterval = s, rapid.Int64Range(5, 40).Draw(rt, "progress")
		cfg.Costs = preempt.Costs{TaskBytes: 1e6, MemoryShort: rapid.Bool().Draw(rt, "short")}
		cfg.Failures = []Failure{{Machine: 1, At: rapid.Int64Range(0, 500).Draw(rt, "fails"), BackAfter: 50}}
		job := jobOf("a", 0, 5, 2, rapid.Int64Range(1, 200).Draw(rt, "millis"))
		for i := range job.Reduces {
			job.Reduces[i].Bytes = 2e6
		}
		checkProgress(rt, cfg, job)
	})
}

func checkProgress(rt *rapid.T, cfg Config, jobs ...workload.Job) {
	cfg.ensureDefaults()
	b := newBody(cfg, workloadOf(jobs...))
	r := &reporter{b, make(map[*attempt]int64), make(map[cluster.AttemptID]sched.Progress)}
	for at := int64(epoch); b.unfinished > 0; at++ {
		if at > epoch+100_000 {
			rt.Fatal("it does not end")
		}
		b.queue.plan(at, func() {}) // so that every ms is a step
		must.Do(rt, b.step())
		for b.now < at || len(b.events) > 0 {
			b.advance()
			must.Do(rt, b.step())
		}
		for due, ok := b.queue.next(); ok && due <= b.now; due, ok = b.queue.next() {
			b.advance()
			must.Do(rt, b.step())
		}
		r.tick()
		r.compare(rt)
	}
}

func (r *reporter) compare(rt *rapid.T) {
	for id, a := range r.b.attempts {
		if slices.Contains(r.b.probes, r.b.now) && !a.ended && r.reported[id].ReportedAt < r.b.now {
			r.report(id, a) // the answer to a probe
		}
		got, ok := r.b.Progress(id)
		want := r.reported[id]
		if ok == (want.Fraction > 0) && !ok {
			continue // no work done counts as unknown
		}
		if got.ReportedAt != want.ReportedAt || got.ReducingSince != want.ReducingSince || math.Abs(got.Fraction-want.Fraction) > 1e-9 {
			rt.Fatalf("at %d, %v: %+v, want %+v; it is %+v", r.b.time(), id, got, want, a)
		}
	}
}
