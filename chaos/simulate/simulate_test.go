package simulate_test

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/simulate"
)

func parse(t *testing.T, lines ...string) *chaos.Plan {
	t.Helper()
	p, err := chaos.Parse("p", []byte("hammr-plan 1\njob j1 wordcount\njob j2 terasort\n"+strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestLossesArePlayed has two machines go, one of them for good.
func TestLossesArePlayed(t *testing.T) {
	r, err := simulate.Run(t.Context(), parse(t,
		"fault at 500ms do kill machine 2",
		"fault when j2 map 50% do restart tasknode 1",
		"fault at 1s do clock tasknode 3 by 5s",
		"fault at 1s do kill jobmaster leader for 1s",
		"fault when j1 spill 3 do kill tasknode 1",
		"fault at 1s do failpoint tasknode 1 at task/done by error@2",
	))
	if err != nil {
		t.Fatal(err)
	}
	if !r.Good || len(r.Played) != 2 || len(r.NotModelled) != 4 || len(r.Result.Lost) != 2 {
		t.Fatalf("%+v", r)
	}
	if l := r.Result.Lost[0]; l.Node != 1 || l.At != 500 || l.Back != -1 || l.Running == 0 {
		t.Errorf("machine 2: %+v", l)
	}
	if l := r.Result.Lost[1]; l.Node != 0 || l.Back != l.At+300 {
		t.Errorf("machine 1: %+v", l)
	}
	for i, want := range []string{"clock is not modelled", "the loss of a jobmaster is not modelled", "the trigger is not modelled", "failpoint is not modelled"} {
		if !strings.HasSuffix(r.NotModelled[i], want) {
			t.Errorf("%q, want %q", r.NotModelled[i], want)
		}
	}
}

// TestRandomPlansEndWell plays the plans of many seeds.
func TestRandomPlansEndWell(t *testing.T) {
	played := 0
	for seed := range uint64(100) {
		r, err := simulate.Run(t.Context(), chaos.Random(seed, nil))
		if err != nil || !r.Good {
			t.Fatalf("seed %d: %v, %+v", seed, err, r)
		}
		played += len(r.Played)
	}
	if played < 20 {
		t.Errorf("only %d faults were played", played)
	}
}

// TestSilencesArePlayed has machines that stand still or are cut off for long, and not
// those that nobody misses.
func TestSilencesArePlayed(t *testing.T) {
	r, err := simulate.Run(t.Context(), parse(t,
		"fault at 500ms do stop machine 2 for 2s",
		"fault at 600ms do partition tasknode 1 for 2s",
		"fault at 700ms do stop tasknode 3 for 900ms",
		"fault at 30s do kill tasknode 3",
		"limit 40s",
	))
	if err != nil {
		t.Fatal(err)
	}
	if !r.Good || len(r.Played) != 2 || len(r.Result.Lost) != 2 || r.WorkLost == 0 || r.Recovery <= 0 {
		t.Fatalf("%+v", r)
	}
	for i, want := range []string{"as nobody is given up for it", "its trigger never came"} {
		if !strings.HasSuffix(r.NotModelled[i], want) {
			t.Errorf("%q, want %q", r.NotModelled[i], want)
		}
	}
}

// TestJobsThatNeverEnd are a bad verdict, and no error.
func TestJobsThatNeverEnd(t *testing.T) {
	r, err := simulate.Run(t.Context(), parse(t, "tasknodes 1", "fault at 1s do kill machine 1"))
	if err != nil || r.Good || !strings.Contains(r.Wrong, "nothing more happens, and 2 jobs are not over") {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestFaultyPlan(t *testing.T) {
	if _, err := simulate.Run(t.Context(), chaos.NewPlan()); err == nil || !strings.Contains(err.Error(), "no job") {
		t.Errorf("got %v", err)
	}
}
