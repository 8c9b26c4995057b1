package disco

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
	"pgregory.net/rapid"
)

// TestModel checks the invariants of plans under random commands with jobs of all kinds.
func TestModel(t *testing.T) {
	gangs := 0
	rapid.Check(t, func(rt *rapid.T) {
		conf := Config{
			Placement:     rapid.SampledFrom(placements).Draw(rt, "placement"),
			Preempt:       rapid.SampledFrom(config).Draw(rt, "means"),
			ReserveMillis: rapid.Int64Range(1, 200).Draw(rt, "hold"),
		}
		l := &schedtest.ModelTest{Cluster: schedtest.New(t), Random: rt, Policy: New(conf)}
		l.SoftState = schedtest.FullKnowledge{}
		l.Policy.Reset(l.Now, l.PolicyView())
		p := l.Policy.(*Policy)
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			l.Step()
			plan := p.Decide(l.Now, l.PolicyView())
			wake := p.NextWake()
			checkSame(rt, l, conf, plan)
			if again := p.Decide(l.Now, l.PolicyView()); !reflect.DeepEqual(plan, again) || p.NextWake() != wake {
				rt.Fatalf("a second look gives %+v after %+v", again, plan)
			}
			checkShares(rt, p)
			checkPreempts(rt, l.View(), p, plan)
			after := l.StateAfter(plan)
			kept, _ := p.reserve(l.Now, l.View())
			waits := conf.Placement.Method == sched.Delay || conf.Placement.Patience > 0
			if len(plan.Starts)+len(plan.Bundles)+len(plan.Resumes)+len(plan.Preempts) == 0 && len(kept) == 0 && (!waits || wake == 0) {
				checkNothingIdle(rt, p, after)
			}
			gangs += len(plan.Bundles)
		}
	})
	if gangs < 10 { // the cases are random
		t.Errorf("only %d bundles have been started", gangs)
	}
}

// checkSame compares a policy that has observed with one that is reset. The reset policy
// does not know which slots were freed for which job.
func checkSame(rt *rapid.T, l *schedtest.ModelTest, conf Config, plan sched.Plan) {
	known, found := l.Policy.(*Policy), New(conf)
	found.Reset(l.Now, l.PolicyView())
	again := found.Decide(l.Now, l.PolicyView())
	if slices.ContainsFunc(known.jobs, func(j *job) bool { return !j.preemptedFor.IsZero() }) {
		again.Preempts = plan.Preempts // preemptions requested earlier are not repeated
	}
	if !reflect.DeepEqual(plan, again) && conf.Placement.Method != sched.Delay {
		rt.Fatalf("observing gives %q and takes %v, reset gives %q and takes %v", schedtest.Lines(plan), plan.Preempts, schedtest.Lines(again), again.Preempts)
	}
	if diff := cmp.Diff(found.jobs, known.jobs, cmp.AllowUnexported(job{}, progress{}), cmpopts.IgnoreFields(job{}, "preemptedFor", "treeEntry"), cmpopts.EquateEmpty()); diff != "" {
		rt.Fatalf("what is found and what has been observed (-, +):\n%s", diff)
	}
}

// checkShares checks that all slots are divided among the jobs that take part, none with
// more than one slot beyond another, nor more than an older one.
func checkShares(rt *rapid.T, p *Policy) {
	for kind, all := range p.slots {
		sum, first, last := 0, -1, 0
		for _, j := range p.jobs {
			switch n := j.share[kind]; {
			case !j.participates[kind] && n > 0:
				rt.Fatalf("job %v has a share of %d and needs none", j.Job, n)
			case !j.participates[kind]:
			case first < 0:
				first, last, sum = n, n, n
			case n > last || n < first-1:
				rt.Fatalf("job %v has a share of %d after %d to %d", j.Job, n, first, last)
			default:
				last, sum = n, sum+n
			}
		}
		if first >= 0 && sum != all {
			rt.Fatalf("shares of %d of %d slots", sum, all)
		}
	}
}

// checkPreempts checks that no job falls below its share, that no attempt is taken twice,
// and that nothing is taken without a new job.
func checkPreempts(rt rapid.TB, view cluster.View, p *Policy, plan sched.Plan) {
	lost := make(map[cluster.JobID]cluster.Slots)
	seen := make(map[cluster.AttemptID]bool)
	for _, pre := range plan.Preempts {
		_, stage, t, ok := view.Task(pre.Attempt.Task)
		if !ok || pre.Cause == "" || seen[pre.Attempt] {
			rt.Fatalf("%+v makes no sense", pre)
		}
		seen[pre.Attempt] = true
		need := stage.Slots
		if stage.Bundle.Gang {
			need = cluster.Slots{}
			for _, mate := range stage.Bundle.TasksOf(stage.Bundle.NumberOf(stage, t)) {
				if mate.State == cluster.TaskRunning {
					_, s, _, _ := view.Task(mate.ID)
					need = need.Plus(s.Slots)
				}
			}
		}
		lost[pre.Attempt.Task.Job] = lost[pre.Attempt.Task.Job].Plus(need)
	}
	anyNew := false
	for _, j := range p.jobs {
		anyNew = anyNew || j.isNew()
		for kind, n := range lost[j.Job] {
			if n > 0 && j.Running[kind]-n < j.share[kind] {
				rt.Fatalf("job %v loses %d of %d slots and has a share of %d", j.Job, n, j.Running[kind], j.share[kind])
			}
		}
	}
	if len(lost) > 0 && !anyNew {
		rt.Fatal("slots are taken without a new job")
	}
}

// checkNothingIdle checks that there is a reason for each free slot when nothing more is
// planned while some job could use it: a waiting bundle, or a failed task that avoids
// machines.
func checkNothingIdle(rt *rapid.T, p *Policy, view cluster.View) {
	for _, j := range p.jobs {
		if j.Bundled > 0 {
			return
		}
	}
	for _, known := range p.jobs {
		j := view.Job(known.Job)
		for _, s := range j.Stages {
			if !s.StartsAlone() || !j.Ready(s) || !schedtest.WaitsUncharged(s) || len(view.Avoided(j, 0)) > 0 {
				continue
			}
			for m := range view.MachinesWithFree(s.Slot) {
				if m.Free(s.Slot) > 0 {
					rt.Fatalf("%s of %v waits beside free slots on %s", s.Name, j.ID, m.Name)
				}
			}
		}
	}
}
