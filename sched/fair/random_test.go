package fair

import (
	"reflect"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/sched/schedtest"
	"pgregory.net/rapid"
)

// soon contains time-outs of a step or two.
const soon = `<defaultMinSharePreemptionTimeout>0.001</defaultMinSharePreemptionTimeout>
	<fairSharePreemptionTimeout>0.001</fairSharePreemptionTimeout><defaultFairSharePreemptionThreshold>1</defaultFairSharePreemptionThreshold>`

// files lists allocation files with pools of all kinds, from which tests draw.
var files = []string{
	soon,
	"<pool name='a'><weight>0</weight></pool><pool name='b'><minMaps>3</minMaps><maxReduces>2</maxReduces></pool><poolMaxJobsDefault>2</poolMaxJobsDefault>" + soon,
	soon + "<defaultPoolSchedulingMode>fifo</defaultPoolSchedulingMode><pool name='c'><maxMaps>4</maxMaps></pool><userMaxJobsDefault>2</userMaxJobsDefault>",
	`<queue name='x'><weight>2.5</weight><schedulingPolicy>drf</schedulingPolicy><maxResources>7 map, 4 reduce</maxResources>
		<queue name='y'><minResources>2 vcores</minResources></queue><queue name='z'/></queue><queue name='b'><schedulingPolicy>drf</schedulingPolicy></queue>
` + soon,
}

func drawConfig(rt *rapid.T) Config {
	c := Config{
		Allocations: allocations(rt, rapid.SampledFrom(files).Draw(rt, "pools")),
		Placement:   rapid.SampledFrom(placements).Draw(rt, "placement"),
		Preemption:  rapid.IntRange(0, 3).Draw(rt, "preemption") > 0, SizeBasedWeight: rapid.Bool().Draw(rt, "size"), NewJobBoost: rapid.Bool().Draw(rt, "boost"),
		LoadMaxDiff: rapid.SampledFrom([]float64{0, .2, 1}).Draw(rt, "diff"), BoostMillis: 40,
	}
	if c.ConserveShares = !c.Preemption; c.ConserveShares {
		mode := rapid.SampledFrom([]preempt.Mode{preempt.Kill, preempt.Suspend, preempt.Checkpoint, preempt.Auto}).Draw(rt, "mode")
		c.Preempt = preempt.Config{Map: mode, Reduce: mode, MinRunMillis: 3, Costs: preempt.Costs{SlotFreeLatency: 1}}
	}
	return c
}

func newLife(t *testing.T, rt *rapid.T, conf Config) *schedtest.ModelTest {
	l := &schedtest.ModelTest{Cluster: newCluster(t), Random: rt, Policy: New(conf)}
	l.SoftState = schedtest.FullKnowledge{}
	l.Draw = func(s *cluster.JobSpec) {
		s.Pool = rapid.SampledFrom(pools).Draw(rt, "pool")
		s.User = rapid.SampledFrom([]string{"amy", "bob"}).Draw(rt, "user")
	}
	l.Policy.Reset(l.Now, l.PolicyView())
	return l
}

// step returns a step of a ModelTest, or a change that concerns jobs in pools.
func step(l *schedtest.ModelTest) {
	jobs := 0
	for range l.View().Jobs() {
		jobs++
	}
	if jobs == 0 || rapid.IntRange(0, 7).Draw(l.Random, "change") > 0 {
		l.Step()
		return
	}
	job := cluster.JobID{Cluster: "1", Number: rapid.IntRange(1, jobs).Draw(l.Random, "job")}
	switch rapid.IntRange(0, 2).Draw(l.Random, "what") {
	case 0:
		l.Try(cluster.SetPool{Job: job, Pool: rapid.SampledFrom(pools).Draw(l.Random, "to")})
	case 1:
		l.Try(cluster.SetPriority{Job: job, Priority: rapid.IntRange(-2, 2).Draw(l.Random, "priority")})
	case 2:
		l.Try(cluster.KillJob{Job: job, Cause: "test"})
	}
}

// TestModel checks the invariants of plans under random commands with pools and jobs of all
// kinds.
func TestModel(t *testing.T) {
	lives, killed, gangs := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		lives++
		conf := drawConfig(rt)
		l := newLife(t, rt, conf)
		for range rapid.IntRange(20, 60).Draw(rt, "steps") {
			step(l)
			plan := l.Policy.Decide(l.Now, l.PolicyView())
			wake := l.Policy.NextWake()
			checkSame(rt, l, conf, plan, wake)
			if again := l.Policy.Decide(l.Now, l.PolicyView()); !reflect.DeepEqual(plan, again) || l.Policy.NextWake() != wake {
				rt.Fatalf("a second look gives %+v after %+v", again, plan)
			}
			if conf.ConserveShares {
				checkConserved(rt, l, plan)
			} else {
				checkPreempts(rt, l, plan)
				killed += len(plan.Preempts)
			}
			waits := conf.Placement.Method == sched.Delay || conf.Placement.Patience > 0
			after := l.StateAfter(plan)
			checkMaxima(rt, l.View(), after, conf.Allocations)
			if len(plan.Starts)+len(plan.Bundles)+len(plan.Preempts) == 0 && (!waits || wake <= l.Now) {
				checkNothingIdle(rt, l.Policy.(*Policy), after)
			}
			gangs += len(plan.Bundles)
		}
	})
	if lives >= 100 && killed == 0 || gangs < 10 { // the cases are random
		t.Errorf("only %d attempts have been preempted and %d bundles started", killed, gangs)
	}
}

// checkSame compares a policy that has observed with one that is reset. Only their clocks
// may differ: those of preemption, and those of delay scheduling, which decide which tasks
// start.
func checkSame(rt *rapid.T, l *schedtest.ModelTest, conf Config, plan sched.Plan, wake int64) {
	fresh := New(conf)
	fresh.Reset(l.Now, l.PolicyView())
	again := fresh.Decide(l.Now, l.PolicyView())
	if !conf.ConserveShares && len(again.Preempts) > 0 {
		rt.Fatalf("after a reset %+v are preempted at once", again.Preempts)
	}
	if !conf.ConserveShares {
		again.Preempts = plan.Preempts
	}
	if conf.Placement.Method != sched.Delay && (!reflect.DeepEqual(plan, again) || !conf.Preemption && wake != fresh.NextWake()) {
		rt.Fatalf("observing gives %q and a look at %d, reset gives %q and %d", schedtest.Lines(plan), wake, schedtest.Lines(again), fresh.NextWake())
	}
	known, found := l.Policy.(*Policy), fresh
	known.computeShares()
	found.computeShares()
	for name, q := range found.tree.byName {
		if k := known.tree.byName[name]; k == nil || k.tally != q.tally || k.wanted != q.wanted || k.share != q.share {
			rt.Fatalf("pool %q is known as %+v, and found as %+v", name, k, q)
		}
	}
	if len(known.tree.byName) != len(found.tree.byName) || len(known.jobs) != len(found.jobs) {
		rt.Fatalf("%d pools and %d jobs are known, %d and %d are there", len(known.tree.byName), len(known.jobs), len(found.tree.byName), len(found.jobs))
	}
}

// checkConserved checks that no work is lost, and that each slot is wanted by a task that can
// work.
func checkConserved(rt *rapid.T, l *schedtest.ModelTest, plan sched.Plan) {
	view := l.View()
	var ready cluster.Slots
	for j := range view.Jobs() {
		for w := range sched.Wants(j) {
			if !w.Stage.StartsEarly() && !j.Spec.Passive {
				ready = ready.Plus(w.TotalNeed())
			}
		}
	}
	for _, pre := range plan.Preempts {
		_, s, _, _ := view.Task(pre.Attempt.Task)
		if ready[s.Slot]--; pre.Mode == preempt.Kill || pre.Mode == preempt.Wait || pre.Cause == "" || ready[s.Slot] < 0 || !s.StartsAlone() {
			rt.Fatalf("%+v makes no sense, with %d ready tasks more", pre, ready[s.Slot])
		}
	}
}

// checkPreempts checks that no pool falls below its fair share.
func checkPreempts(rt *rapid.T, l *schedtest.ModelTest, plan sched.Plan) {
	p := l.Policy.(*Policy)
	lost := make(map[*queue]cluster.Slots)
	for _, pre := range plan.Preempts {
		j, stage, t, ok := l.View().Task(pre.Attempt.Task)
		if !ok || pre.Cause == "" {
			rt.Fatalf("%+v makes no sense", pre)
		}
		need := stage.Slots
		if stage.Bundle.Gang {
			need = cluster.Slots{}
			for _, mate := range stage.Bundle.TasksOf(stage.Bundle.NumberOf(stage, t)) {
				if mate.State == cluster.TaskRunning {
					_, s, _, _ := l.View().Task(mate.ID)
					need = need.Plus(s.Slots)
				}
			}
		}
		q := p.tree.queue(j.Spec.Pool)
		lost[q] = lost[q].Plus(need)
	}
	for q, n := range lost {
		for kind := range n {
			if n[kind] > 0 && float64(q.running[kind]-n[kind]) < q.share[kind] {
				rt.Fatalf("pool %s loses %d of %d slots and has a share of %v", q.Name, n[kind], q.running[kind], q.share[kind])
			}
		}
	}
}

// occupied returns the slots that the jobs of pools occupy, summed up the tree.
func occupied(view cluster.View, a *pool.Allocations) map[string]cluster.Slots {
	out := make(map[string]cluster.Slots)
	for m := range view.Machines() {
		for _, attempt := range m.Attempts {
			if !attempt.OccupiesSlot() {
				continue
			}
			j, s, _, _ := view.Task(attempt.ID.Task)
			for p := a.Find(j.Spec.Pool); p != nil; p = p.Parent {
				out[p.Name] = out[p.Name].Plus(s.Slots)
			}
		}
	}
	return out
}

// checkMaxima checks that no pool exceeds its maximum.
func checkMaxima(rt *rapid.T, before, after cluster.View, a *pool.Allocations) {
	had, has := occupied(before, a), occupied(after, a)
	for j := range after.Jobs() {
		for p := a.Find(j.Spec.Pool); p != nil; p = p.Parent {
			for kind, most := range p.Max {
				if n := has[p.Name][kind]; n > most && n > had[p.Name][kind] {
					rt.Fatalf("pool %s gets %d slots, and may have %d", p.Name, n, most)
				}
			}
		}
	}
}

// checkNothingIdle checks that there is a reason for each free slot when nothing more is
// planned while some job could use it: a limit, a waiting bundle, or a failed task that
// avoids machines.
func checkNothingIdle(rt *rapid.T, p *Policy, view cluster.View) {
	if p.tree.root.bundled > 0 {
		return
	}
	all := occupied(view, p.conf.Allocations)
	for _, e := range p.byPriority {
		j := view.Job(e.Job)
		for _, s := range j.Stages {
			if !s.StartsAlone() || !e.admitted || !j.Ready(s) || !schedtest.WaitsUncharged(s) || len(view.Avoided(j, 0)) > 0 {
				continue
			}
			limited := false
			for q := e.queue; q != nil; q = q.parent {
				limited = limited || all[q.Name][s.Slot] >= q.Max[s.Slot]
			}
			for m := range view.MachinesWithFree(s.Slot) {
				if !limited && m.Free(s.Slot) > 0 {
					rt.Fatalf("%s of %v waits beside free slots on %s", s.Name, j.ID, m.Name)
				}
			}
		}
	}
}
