package fifo

import (
	"reflect"
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
	"pgregory.net/rapid"
)

// TestRandomPlansOfBundles holds plans to what they promise, in random lives of
// clusters whose jobs are of all kinds.
func TestRandomPlansOfBundles(t *testing.T) {
	started := make(map[bool]int)
	rapid.Check(t, func(rt *rapid.T) {
		placement := rapid.SampledFrom(placements).Draw(rt, "placement")
		l := &schedtest.Life{World: schedtest.New(t), Random: rt, Policy: New(placement)}
		l.Policy.Reset(0, seen(l.State.View()))
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			l.Step()
			plan := l.Policy.Decide(l.Now, seen(l.State.View()))
			fresh := New(placement)
			fresh.Reset(l.Now, seen(l.State.View()))
			if again := fresh.Decide(l.Now, seen(l.State.View())); !reflect.DeepEqual(plan, again) || l.Policy.NextWake() != fresh.NextWake() {
				rt.Fatalf("observing gives %q, reset gives %q", schedtest.Lines(plan), schedtest.Lines(again))
			}
			waits := placement.Method == sched.Delay || placement.Patience > 0
			if after := l.After(plan); !waits || fresh.NextWake() <= l.Now {
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

// checkNothingIdle wants a reason for each slot that is free after a plan while
// somebody could use it: a bundle that waits, or a task that has failed and so
// avoids a machine. The bundle whose turn is first must not fit at all.
func checkNothingIdle(rt *rapid.T, view cluster.View, plan sched.Plan) {
	wanted := make(map[int]bool) // kinds of slots that bundles wait for
	for _, j := range inOrder(view) {
		for _, stage := range j.Stages {
			b := stage.Bundle
			if !stage.Alone() && b.Stages[0] == stage && len(j.WaitingBundles(b))+len(j.StandingStill(b)) > 0 {
				if len(wanted) == 0 && len(uncharged(j, b)) > 0 && fitsNow(view, j, b) {
					rt.Fatalf("a bundle %s of %v waits and would fit after %q", stage.Name, j.ID, schedtest.Lines(plan))
				}
				for _, still := range b.Stages[0].Suspended() {
					if len(wanted) == 0 && view.HasRoomFor(still) && !view.Machine(still.Machine).Excluded {
						rt.Fatalf("%v stands still and could go on after %q", still.ID, schedtest.Lines(plan))
					}
				}
				for _, s := range b.Stages {
					for kind, n := range s.Slots {
						wanted[kind] = wanted[kind] || n > 0
					}
				}
			}
			if stage.Alone() && j.Ready(stage) && !wanted[int(stage.Slot)] && waitsUncharged(stage) {
				for m := range view.MachinesWithFree(stage.Slot) {
					rt.Fatalf("%s of %v waits beside free slots on %s after %q", stage.Name, j.ID, m.Name, schedtest.Lines(plan))
				}
			}
		}
	}
}

func waitsUncharged(s *cluster.Stage) bool {
	for t := range s.Pending() {
		if t.Charged == 0 {
			return true
		}
	}
	return false
}

// uncharged are the bundles that may start of which no task has failed.
func uncharged(j *cluster.Job, b *cluster.Bundle) []int {
	return slices.DeleteFunc(j.WaitingBundles(b), func(n int) bool {
		return slices.ContainsFunc(b.TasksOf(n), func(t *cluster.Task) bool { return t.Charged > 0 })
	})
}

// inOrder are the jobs that run, in the order of their turn.
func inOrder(view cluster.View) (jobs []*cluster.Job) {
	for j := range view.Jobs() {
		if j.State == cluster.JobRunning {
			jobs = append(jobs, j)
		}
	}
	slices.SortStableFunc(jobs, func(a, b *cluster.Job) int { return b.Spec.Priority - a.Spec.Priority })
	return jobs
}

// fitsNow tries all machines for all tasks of a bundle.
func fitsNow(view cluster.View, j *cluster.Job, b *cluster.Bundle) bool {
	var machines []*cluster.Machine
	free := make(map[*cluster.Machine][2]int)
	for m := range view.Machines() {
		machines = append(machines, m)
		free[m] = [2]int{m.Free(cluster.MapSlot), m.Free(cluster.ReduceSlot)}
	}
	var needs [][2]int
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
		for _, m := range machines {
			room := free[m]
			left := [2]int{room[0] - needs[i][0], room[1] - needs[i][1]}
			if (needs[i][0] > 0 && left[0] < 0) || (needs[i][1] > 0 && left[1] < 0) {
				continue
			}
			free[m] = left
			if place(i + 1) {
				return true
			}
			free[m] = room
		}
		return false
	}
	return !avoids(view, j) && place(0)
}

// avoids reports whether a job avoids machines, whatever the time.
func avoids(view cluster.View, j *cluster.Job) bool { return len(view.Avoided(j, 0)) > 0 }
