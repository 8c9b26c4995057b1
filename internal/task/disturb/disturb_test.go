package disturb

import (
	"context"
	"slices"
	"testing"
)

// TestPlans draws a plan, and repeats a part of it.
func TestPlans(t *testing.T) {
	plan := From(With(context.Background(), Draw(3)))
	count := make(map[Action]int)
	for node := range 200 {
		d := plan.Of("map", node, 0)
		if again := Draw(3).Of("map", node, 0); again != d {
			t.Fatalf("drawn %v, then %v", d, again)
		}
		if count[d.Action]++; d.Action != None {
			plan.Note(d)
			plan.Note(d)
		}
	}
	if len(count) != int(actions) {
		t.Errorf("actions %v", count)
	}
	happened := plan.Happened()
	if len(happened) != 200-count[None] {
		t.Errorf("%d have happened, of %v", len(happened), count)
	}
	one := These(happened[:1])
	if d := happened[0]; one.Of(d.Stage, d.Node, d.Attempt) != d {
		t.Errorf("the plan of %v has %v", d, one.Of(d.Stage, d.Node, d.Attempt))
	}
	if d := happened[1]; one.Of(d.Stage, d.Node, d.Attempt).Action != None {
		t.Errorf("the plan of %v has %v", happened[0], d)
	}
	if d := plan.Of("map", 0, maxAttempts); d.Action != None {
		t.Errorf("a late attempt: %v", d)
	}
	if From(context.Background()).Of("map", 0, 0).Action != None || !slices.Equal(These(nil).Happened(), nil) {
		t.Error("a context without a plan disturbs")
	}
}
