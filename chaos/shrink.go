package chaos

import "slices"

// Shrink looks for a plan with fewer faults that still fails. It leaves out halves of the
// faults, then quarters, down to single ones, as long as that helps. fails plays a plan, at
// most budget times. The returned plan has failed whenever it was played.
func Shrink(plan *Plan, budget int, fails func(*Plan) bool) *Plan {
	for size := max(1, (len(plan.Faults)+1)/2); ; size = max(1, size/2) {
		smaller := false
		for from := 0; from < len(plan.Faults) && len(plan.Faults) > 1 && budget > 0; {
			left := slices.Delete(slices.Clone(plan.Faults), from, min(from+size, len(plan.Faults)))
			if len(left) == 0 {
				break
			}
			budget--
			if candidate := plan.With(left); fails(candidate) {
				plan, smaller = candidate, true
			} else {
				from += size
			}
		}
		if budget <= 0 || len(plan.Faults) <= 1 || size == 1 && !smaller {
			return plan
		}
	}
}
