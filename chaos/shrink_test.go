package chaos_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hammr/hammr/chaos"
)

// TestShrinkFindsTheCulprits plays plans that fail if all culprits are in them. Shrinking
// keeps exactly those.
func TestShrinkFindsTheCulprits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 300 {
		plan := chaos.NewPlan()
		n := 1 + r.IntN(9)
		var culprits []int
		for i := range n {
			plan.Faults = append(plan.Faults, chaos.Fault{Line: i})
			if r.IntN(4) == 0 {
				culprits = append(culprits, i)
			}
		}
		if len(culprits) == 0 {
			culprits = []int{r.IntN(n)}
		}
		fails := func(p *chaos.Plan) bool {
			for _, c := range culprits {
				if !slices.ContainsFunc(p.Faults, func(f chaos.Fault) bool { return f.Line == c }) {
					return false
				}
			}
			return true
		}
		small := chaos.Shrink(plan, 1000, fails)
		if !fails(small) || len(small.Faults) != len(culprits) {
			t.Fatalf("round %d: of %d faults, %v cause the failure; the shrunk plan has %v", round, n, culprits, small.Faults)
		}
	}
}

// TestShrinkObeysItsBudget checks that Shrink keeps to its budget and returns a plan that
// fails.
func TestShrinkObeysItsBudget(t *testing.T) {
	plan := chaos.NewPlan()
	plan.Faults = make([]chaos.Fault, 40)
	calls := 0
	small := chaos.Shrink(plan, 3, func(*chaos.Plan) bool { calls++; return calls%2 == 0 })
	if calls != 3 || len(small.Faults) != 20 {
		t.Errorf("%d calls, %d faults", calls, len(small.Faults))
	}
}
