package chaos

import "slices"

// Shrink looks for a plan with fewer faults that still fails. It leaves out halves of the
// faults, then quarters, down to single ones, as long as that helps. fails plays a plan, at
// most budget times. The returned plan has failed whenever it was played.
//
// The method is delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating
// Failure-Inducing Input", 2002) without its tests of single subsets: the faults of a plan
// are few, and a drill takes seconds. A failure that is not reproduced each time costs
// tries and leaves more faults than necessary, but the result is a plan that has failed.
//
//	faults  1 2 3 4 5 6      size 3: without 1 2 3 it passes, without 4 5 6 it fails
//	        1 2 3            size 1: without 1 it fails
//	          2 3            without 2 it passes, without 3 it fails
//	          2              one fault is rest
func Shrink(plan *Plan, budget int, fails func(*Plan) bool) *Plan {
	for size := max(1, (len(plan.Faults)+1)/2); ; size = max(1, size/2) {
		smaller := false
		for from := 0; from < len(plan.Faults) && len(plan.Faults) > 1 && budget > 0; {
			rest := slices.Delete(slices.Clone(plan.Faults), from, min(from+size, len(plan.Faults)))
			if len(rest) == 0 {
				break
			}
			budget--
			if candidate := plan.With(rest); fails(candidate) {
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
