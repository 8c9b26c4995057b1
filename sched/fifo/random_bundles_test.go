package fifo

import (
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
	"pgregory.net/rapid"
)

// TestRandomPlansOfBundles checks the invariants of plans under random commands with jobs of
// all kinds.
func TestRandomPlansOfBundles(t *testing.T) {
	started := make(map[bool]int)
	rapid.Check(t, func(rt *rapid.T) {
		placement := rapid.SampledFrom(placements).Draw(rt, "placement")
		l := &schedtest.ModelTest{Cluster: schedtest.New(t), Random: rt}
		policies := newObservers(placement, 0, seen(l.State.View()))
		l.Policy = policies
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			l.Step()
			if rapid.IntRange(0, 7).Draw(rt, "change") == 0 {
				l.Try(cluster.SetPriority{Job: cluster.JobID{Cluster: "1", Number: 1}, Priority: rapid.IntRange(0, 2).Draw(rt, "priority")})
			}
			plan := policies.checkSame(rt, l.Now, seen(l.State.View()))
			waits := placement.Method == sched.Delay || placement.Patience > 0
			if after := l.StateAfter(plan); !waits || policies.NextWake() <= l.Now {
				checkNothingIdle(rt, after, plan)
			}
			for _, b := range plan.Bundles {
				started[len(b.Starts) > 1]++
			}
		}
	})
	if started[true] < 10 || started[false] < 10 { // the cases are random
		t.Errorf("only %d gangs and %d groups have been planned", started[true], started[false])
	}
}

// checkNothingIdle checks that there is a reason for each slot that is free after a plan
// while some job could use it: a waiting bundle, or a failed task that avoids a machine. The
// first bundle in order must not fit at all.
func checkNothingIdle(rt *rapid.T, view cluster.View, plan sched.Plan) {
	wanted := make(map[int]bool) // kinds of slots that bundles wait for
	for _, j := range inOrder(view) {
		for _, stage := range j.Stages {
			b := stage.Bundle
			if !stage.StartsAlone() && b.Stages[0] == stage && len(j.WaitingBundles(b))+len(j.SuspendedBundles(b)) > 0 {
				if len(wanted) == 0 {
					checkBundlesWait(rt, view, j, b, plan)
				}
				for _, s := range b.Stages {
					for kind, n := range s.Slots {
						wanted[kind] = wanted[kind] || n > 0
					}
				}
			}
			if stage.StartsAlone() && j.Ready(stage) && !wanted[int(stage.Slot)] && schedtest.WaitsUncharged(stage) {
				for m := range view.MachinesWithFree(stage.Slot) {
					rt.Fatalf("%s of %v waits beside free slots on %s after %q", stage.Name, j.ID, m.Name, schedtest.Lines(plan))
				}
			}
		}
	}
}

// checkBundlesWait checks that bundles of a class, for which nothing is reserved yet, wait
// for missing slots. Slots reserved for suspended bundles on their machines do not count.
func checkBundlesWait(rt *rapid.T, view cluster.View, j *cluster.Job, b *cluster.Bundle, plan sched.Plan) {
	free := make(map[string]cluster.Slots)
	for m := range view.Machines() {
		free[m.Name] = m.FreeSlots()
	}
	for _, number := range j.SuspendedBundles(b) {
		needs := suspendedNeeds(b, number)
		resumes, could := true, true
		for name, need := range needs {
			resumes = resumes && need.FitsIn(free[name])
			could = could && need.FitsIn(view.Machine(name).Slots)
		}
		if resumes {
			rt.Fatalf("bundle %d of %s of %v is suspended and could resume after %q", number, b.Stages[0].Name, j.ID, schedtest.Lines(plan))
		}
		for name, need := range needs {
			if could {
				free[name] = withoutUpTo(need, free[name])
			}
		}
	}
	if mayStart(j, b) && fitsIn(view, free, j, b) {
		rt.Fatalf("a bundle %s of %v waits and would fit after %q", b.Stages[0].Name, j.ID, schedtest.Lines(plan))
	}
}

// suspendedNeeds returns the slots that a suspended bundle needs, by machine.
func suspendedNeeds(b *cluster.Bundle, number int) map[string]cluster.Slots {
	needs := make(map[string]cluster.Slots)
	for s, a := range b.Attempts(number) {
		if a.Suspended() {
			needs[a.Machine] = needs[a.Machine].Plus(s.Slots)
		}
	}
	return needs
}

// withoutUpTo returns the slots that remain after as many of the needed slots as are free
// are reserved.
func withoutUpTo(need, free cluster.Slots) cluster.Slots {
	for kind, n := range need {
		free[kind] -= max(min(n, free[kind]), 0)
	}
	return free
}

// mayStart reports whether a bundle without failed tasks may start, while no checkpointed
// bundle waits that avoids machines.
func mayStart(j *cluster.Job, b *cluster.Bundle) (some bool) {
	for _, n := range j.WaitingBundles(b) {
		failed := slices.ContainsFunc(b.TasksOf(n), func(t *cluster.Task) bool { return t.Charged > 0 })
		if failed && b.ResumesFromCheckpoint(n) {
			return false
		}
		some = some || !failed
	}
	return some
}

// inOrder returns the running jobs, in FIFO order.
func inOrder(view cluster.View) (jobs []*cluster.Job) {
	for j := range view.Jobs() {
		if j.State == cluster.JobRunning {
			jobs = append(jobs, j)
		}
	}
	slices.SortStableFunc(jobs, func(a, b *cluster.Job) int { return b.Spec.Priority - a.Spec.Priority })
	return jobs
}

// fitsIn tries all machines for all tasks of a bundle, in the free slots.
func fitsIn(view cluster.View, free map[string]cluster.Slots, j *cluster.Job, b *cluster.Bundle) bool {
	var needs []cluster.Slots
	for _, s := range b.Stages {
		for range b.TasksIn(s) {
			needs = append(needs, s.Slots)
		}
	}
	var place func(i int) bool
	place = func(i int) bool {
		if i == len(needs) {
			return true
		}
		for m, slots := range free {
			if !needs[i].FitsIn(slots) {
				continue
			}
			free[m] = slots.Minus(needs[i])
			if place(i + 1) {
				return true
			}
			free[m] = slots
		}
		return false
	}
	return !avoids(view, j) && place(0)
}

// avoids reports whether a job avoids machines, at any time.
func avoids(view cluster.View, j *cluster.Job) bool { return len(view.Avoided(j, 0)) > 0 }
