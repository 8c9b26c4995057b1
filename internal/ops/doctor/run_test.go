package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestChecksHaveNamesAndFitTheHelp(t *testing.T) {
	var names []string
	for _, c := range Checks() {
		if slices.Contains(names, c.Name) || c.Name == "" || c.run == nil || len(c.About) > 59 || len(c.Name) > 17 {
			t.Errorf("check %q: %q", c.Name, c.About)
		}
		names = append(names, c.Name)
	}
}

func TestOnlyAndSkip(t *testing.T) {
	target := newTarget(t)
	made := func(o Options) (names []string) {
		for _, f := range Run(t.Context(), target, o).Findings {
			if !slices.Contains(names, f.Check) {
				names = append(names, f.Check)
			}
		}
		return names
	}
	if got := made(Options{Only: []string{"memory", "open-files", "masters"}}); !slices.Equal(got, []string{"open-files", "memory"}) {
		t.Errorf("checks %v: those of a cluster need a View", got)
	}
	if got := made(Options{Only: []string{"memory", "kernel"}, Skip: []string{"memory"}}); !slices.Equal(got, []string{"kernel"}) {
		t.Errorf("checks %v, want kernel", got)
	}
	err := Options{Only: []string{"memory", "moon"}, Skip: []string{"sun"}}.Validate()
	if err == nil || !strings.HasPrefix(err.Error(), "no check moon, sun; there are configuration, ") {
		t.Errorf("unknown checks: %v", err)
	}
}

// TestCheckThatHangs has a check whose system call does not return.
func TestCheckThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		returns := make(chan struct{})
		defer close(returns)
		c := Check{Name: "hangs", run: func(context.Context, *Target) []Finding { <-returns; return nil }}
		began := time.Now()
		expect(t, c.examine(t.Context(), new(Target)), want{Fault, "no result after 32s"})
		if took := time.Since(began); took != checkTimeout+checkGrace {
			t.Errorf("took %v", took)
		}
	})
}

// TestCheckThatEndsWithItsContext reports its own cause.
func TestCheckThatEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Check{Name: "late", run: func(ctx context.Context, _ *Target) []Finding {
			<-ctx.Done()
			return []Finding{fault("wait", "the name server does not answer")}
		}}
		expect(t, c.examine(t.Context(), new(Target)), want{Fault, "the name server"})
	})
}

func TestInterruptedReportIsShort(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := Run(ctx, newTarget(t), Options{}); len(r.Findings) > 0 {
		t.Errorf("findings %+v", r.Findings)
	}
}

func TestApplyFixes(t *testing.T) {
	done := 0
	act := func() error { done++; return nil }
	fail := func() error { return errors.New("disk is on fire") }
	expect(t, []Finding{
		fault("r", "broken").withFix("repaired it", act).apply(),
		warn("r", "worn").withFix("repaired it", fail).apply(),
		ok("fine").withFix("repaired it", act).apply(),
		fault("r", "lost").apply(),
	}, want{OK, "repaired it, because: broken"}, want{Warn, "worn; --fix failed: disk is on fire"}, want{OK, "fine"}, want{Fault, "lost"})
	if done != 1 {
		t.Errorf("%d fixes were carried out, want 1", done)
	}
}

func TestReportAsJSON(t *testing.T) {
	r := Report{Host: "h", Version: "v1", Time: 7, Findings: []Finding{
		{Check: "token", State: Fault, Detail: "d", Remedy: "r", Fix: &Fix{Done: "x"}}, {Check: "name", State: OK, Detail: "n", Fixed: true},
	}}
	text, err := json.Marshal(r)
	must.Do(t, err)
	const golden = `{"host":"h","version":"v1","time":7,"findings":[` +
		`{"check":"token","state":"fault","detail":"d","remedy":"r"},{"check":"name","state":"ok","detail":"n","fixed":true}]}`
	if string(text) != golden {
		t.Errorf("got %s", text)
	}
	var back Report
	if err := json.Unmarshal(text, &back); err != nil || back.Count(Fault) != 1 || back.Count(OK) != 1 || back.Findings[0].State != Fault {
		t.Errorf("%v: %+v", err, back)
	}
	if err := json.Unmarshal([]byte(`{"findings":[{"state":"perfect"}]}`), &back); err == nil || !strings.Contains(err.Error(), `state "perfect"`) {
		t.Errorf("an unknown state: %v", err)
	}
}
