// Package placement finds the machines for the tasks that a policy has chosen. The
// policy decides the order of jobs and offers slots in that order, within a Round:
//
//	r := placer.Round(now, view)
//	for each want in the order of the policy, while r.Remaining() > 0 {
//		r.Offer(want, count)
//	}
//	plan, wake := r.Finish()
//
// Tasks that are offered slots first get them first. But the machines are chosen for several
// stages together, so that as few bytes as possible are transferred:
//
//	Offer ──► assigner of map slots    ──┬─► min-cost flow    (Method Flow)
//	      ──► assigner of reduce slots ──┼─► delay scheduling (Method Delay)
//	      │                              └─► evenly           (Method None, reduces)
//	      └─► bundles: all tasks at once, or a reservation of the free slots
//
// A task starts only where its memory is free too. Memory is given out together with slots
// (memory.go).
//
// A Placer lives as long as its policy, which passes Reset and Observe on to it. A
// Round lives for one decision.
package placement
