package hfsp

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
	"pgregory.net/rapid"
)

// placements lists all methods except delay scheduling, whose clocks a reset restarts.
var placements = []sched.Placement{{}, {Patience: 100}, {Method: sched.None}}

var everyConfig = []preempt.Config{
	{}, waits, suspends, kills, {Map: preempt.Auto, Reduce: preempt.Auto}, {Map: preempt.Split, Reduce: preempt.Checkpoint},
	{Map: preempt.Suspend, Reduce: preempt.Wait},
}

func drawConfig(rt *rapid.T) Config {
	config := rapid.SampledFrom(everyConfig).Draw(rt, "means")
	config.MinRunMillis = 5
	return Config{
		Placement:         rapid.SampledFrom(placements).Draw(rt, "placement"),
		Preempt:           config,
		Estimator:         rapid.SampledFrom([]Estimator{Mean{}, Lognormal{}, sized, NoisyEstimator{Estimator: Mean{}, Error: 1}}).Draw(rt, "estimator"),
		Samples:           [2]int{rapid.IntRange(1, 3).Draw(rt, "samples"), rapid.IntRange(1, 3).Draw(rt, "samples")},
		TrainSlots:        [2]int{rapid.IntRange(-1, 3).Draw(rt, "train"), rapid.IntRange(-1, 3).Draw(rt, "train")},
		UnknownSizeFactor: [2]float64{rapid.SampledFrom([]float64{1, 2, math.Inf(1)}).Draw(rt, "doubt"), 1},
		DeltaMillis:       -1, // the state has no record of progress

		InitialMillis: rapid.SampledFrom([][2]int64{{3, 4}, {20_000, 30_000}}).Draw(rt, "initial"),
	}
}

// newLife returns a ModelTest of three machines that join at the start and stay.
func newLife(t *testing.T, rt *rapid.T, conf Config) *schedtest.ModelTest {
	l := &schedtest.ModelTest{Cluster: schedtest.New(t), Random: rt, Policy: &watcher{Policy: New(conf)}}
	l.SoftState = schedtest.FullKnowledge{}
	for i, name := range []string{"m0", "m1", "m2"} {
		l.Apply(cluster.JoinMachine{Name: name, Hosts: []string{name}, Slots: cluster.Slots{1 + i, 2}})
	}
	l.Now *= 3 // a ModelTest counts time this way
	l.Policy.Reset(l.Now, l.PolicyView())
	return l
}

// watcher is a policy that is reset after changes of which the state has no record: former
// numbers of slots, and samples that have been revoked.
type watcher struct{ *Policy }

func (w *watcher) Observe(now int64, view sched.View, delta cluster.Delta) {
	w.Policy.Observe(now, view, delta)
	if len(delta.Machines)+len(delta.Revoked) > 0 {
		w.Reset(now, view)
	}
}

// TestModel checks the invariants of plans under random commands with jobs of all kinds.
func TestModel(t *testing.T) {
	started, late, sizes := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		conf := drawConfig(rt)
		l := newLife(t, rt, conf)
		p := l.Policy.(*watcher).Policy
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			l.Step()
			plan := p.Decide(l.Now, l.PolicyView())
			wake := p.NextWake()
			checkSame(rt, l, conf, plan, wake)
			if again := p.Decide(l.Now, l.PolicyView()); !reflect.DeepEqual(plan, again) || p.NextWake() != wake {
				rt.Fatalf("a second look gives %+v after %+v", again, plan)
			}
			checkPreempts(rt, l, plan)
			after := l.StateAfter(plan)
			if reflect.DeepEqual(plan, sched.Plan{}) && conf.Placement.Patience == 0 {
				checkNothingIdle(rt, p, after)
			}
			started += len(plan.Starts)
			for _, ph := range p.queues[cluster.MapSlot].all {
				if ph.late(l.Now) {
					late++
				}
				if ph.sized == measured {
					sizes++
				}
			}
		}
	})
	if started < 10 || late == 0 || sizes == 0 { // the cases are random
		t.Errorf("%d tasks started; phases were late %d times, and sized %d times", started, late, sizes)
	}
}

// checkSame compares a policy that has observed with one that is reset.
func checkSame(rt *rapid.T, l *schedtest.ModelTest, conf Config, plan sched.Plan, wake int64) {
	known, fresh := l.Policy.(*watcher).Policy, New(conf)
	fresh.Reset(l.Now, l.PolicyView())
	fresh.full = known.full
	again := fresh.Decide(l.Now, l.PolicyView())
	for kind := range known.queues {
		known.inLine(cluster.Slot(kind)) // computes when phases are done
		fresh.inLine(cluster.Slot(kind))
	}
	for id, f := range fresh.phases {
		k := known.phases[id]
		if k == nil || k.size != f.size || k.aged != f.aged || k.done != f.done || k.sized != f.sized || k.entered != f.entered || k.over != f.over {
			rt.Fatalf("phase %v is known as %+v, and found as %+v", id, k, f)
		}
	}
	if !reflect.DeepEqual(plan, again) || wake != fresh.NextWake() {
		rt.Fatalf("observing gives %q, %v, %d; reset gives %q, %v, %d",
			schedtest.Lines(plan), plan.Preempts, wake, schedtest.Lines(again), again.Preempts, fresh.NextWake())
	}
}

// checkPreempts checks that attempts that lose slots are running, in phases that are not
// late.
func checkPreempts(rt *rapid.T, l *schedtest.ModelTest, plan sched.Plan) {
	p := l.Policy.(*watcher).Policy
	seen := make(map[cluster.AttemptID]bool)
	for _, pre := range plan.Preempts {
		_, _, a, ok := l.View().Attempt(pre.Attempt)
		if !ok || !a.Active() || a.Suspended() || pre.Cause == "" || pre.Mode == preempt.Wait || seen[a.ID] {
			rt.Fatalf("%+v makes no sense", pre)
		}
		seen[a.ID] = true
		if ph := p.phases[phaseID{a.ID.Task.Job, a.Slot}]; ph.late(l.Now) {
			rt.Fatalf("%+v takes a slot from a phase that is late", pre)
		}
	}
}

// checkNothingIdle checks that there is a reason for each free slot when nothing more is
// planned while some job could use it: a waiting bundle, a failed task that avoids machines,
// or maps that wait themselves.
func checkNothingIdle(rt *rapid.T, p *Policy, view cluster.View) {
	for j := range view.Jobs() {
		for w := range sched.Wants(j) {
			if w.Bundle != nil {
				return
			}
		}
	}
	for j := range view.Jobs() {
		for _, s := range j.Stages {
			if !s.StartsAlone() || !j.Ready(s) || !canWork(s) || !schedtest.WaitsUncharged(s) || len(view.Avoided(j, 0)) > 0 {
				continue
			}
			for m := range view.MachinesWithFree(s.Slot) {
				rt.Fatalf("%s of %v waits beside free slots on %s", s.Name, j.ID, m.Name)
			}
		}
	}
}

// everyPlacement includes delay scheduling.
var everyPlacement = append(slices.Clone(placements), sched.Placement{Method: sched.Delay, Delay: locality.Delay{MachineWait: 30, RackWait: 40}})
