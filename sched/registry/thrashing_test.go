package registry

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

// contention is a cluster in virtual time whose jobs want more slots than there are, and whose
// attempts obey preemptions at once. Tasks last for ever unless a test ends them. Every
// preemption is checked against the rules of all policies.
type contention struct {
	*schedtest.Cluster
	random *rand.Rand
	policy sched.Policy

	wentOn    map[cluster.AttemptID]int64 // since when resumed attempts run
	taken     int                         // attempts that have been preempted
	last      int64                       // time of the last preemption
	preempted map[preempt.Mode]int
}

// rest is the least time for which a resumed attempt runs, in ms.
const rest = 1000

// tried lists settings with which policies take slots soon.
var tried = map[string]map[string]string{
	"fair": {
		"mapred.fairscheduler.preemption": "true", AllocationFile: "fair.xml", Allocations: `<allocations>
			<pool name="a"><weight>2</weight><minMaps>2</minMaps></pool><pool name="b"><schedulingMode>fifo</schedulingMode></pool><pool name="c"><schedulingMode>hfsp</schedulingMode></pool>
			<defaultMinSharePreemptionTimeout>1</defaultMinSharePreemptionTimeout><fairSharePreemptionTimeout>2</fairSharePreemptionTimeout>
			<defaultFairSharePreemptionThreshold>1</defaultFairSharePreemptionThreshold></allocations>`,
	},
	"fair, conserving": {
		AllocationFile: "fair.xml", Allocations: `<allocations>
			<pool name="a"><weight>2</weight><minMaps>2</minMaps></pool><pool name="b"><schedulingMode>fifo</schedulingMode></pool><pool name="c"><schedulingMode>hfsp</schedulingMode></pool></allocations>`,
	},
	"hammr": {"hammr.scheduler.preemption.timeout": "1500"},
	"hfsp": {
		"mapred.hfsp-scheduler.initial-map-duration": "2000", "mapred.hfsp-scheduler.initial-reduce-duration": "3000",
		"mapred.hfsp-scheduler.sojourn-trainer.reduce.time": "5000",
	},
	"disco": nil,
}

var modes = []preempt.Mode{preempt.Kill, preempt.Split, preempt.Checkpoint, preempt.Suspend, preempt.Auto}

// newContention returns a cluster of three machines under a policy, alone or wrapped by chronos.
func newContention(t *testing.T, name string, seed uint64) *contention {
	s := &contention{
		Cluster: schedtest.New(t), random: rand.New(rand.NewPCG(seed, 6)),
		wentOn: make(map[cluster.AttemptID]int64), preempted: make(map[preempt.Mode]int),
	}
	config := preempt.Config{Map: modes[s.random.IntN(len(modes))], Reduce: modes[s.random.IntN(len(modes))], MinRunMillis: rest}
	conf := tried[name]
	name, _, _ = strings.Cut(name, ",")
	if seed%2 == 1 {
		name = chronosPrefix + name
	}
	var err error
	if s.policy, err = New(name, conf, sched.Setup{Placement: sched.Placement{}, Preempt: config}); err != nil {
		t.Fatal(err)
	}
	s.SoftState = s
	for i := range 3 {
		s.Join(fmt.Sprintf("m%d", i), 2+s.random.IntN(3), 1+s.random.IntN(2))
	}
	s.Apply(cluster.SetPools{Names: []string{"a", "b", "c"}})
	s.policy.Reset(s.Now, s.PolicyView())
	return s
}

// Progress implements sched.SoftState: maps are a third done, reduces run the user's
// function.
func (s *contention) Progress(id cluster.AttemptID) (sched.Progress, bool) {
	_, _, a, ok := s.View().Attempt(id)
	if !ok {
		return sched.Progress{}, false
	}
	p := sched.Progress{ReportedAt: s.Now, Fraction: .3}
	if a.Slot == cluster.ReduceSlot {
		p.Fraction, p.ReducingSince = .8, a.StartedAt
	}
	return p, true
}

func (s *contention) do(c cluster.Command) cluster.Delta {
	s.T.Helper()
	delta := s.Apply(c)
	for _, id := range delta.Started {
		_, t, _, _ := s.View().Attempt(id)
		if t.Checkpoint != nil || t.Part != t.ID.Number {
			s.wentOn[id] = s.Now
		}
	}
	if r, ok := c.(cluster.ResumeAttempt); ok {
		s.wentOn[r.Attempt] = s.Now
	}
	s.policy.Observe(s.Now, s.PolicyView(), delta)
	return delta
}

// submit starts a job of splittable tasks in some pool. The job may preempt no others, and
// may disallow modes.
func (s *contention) submit() *cluster.Job {
	spec := schedtest.Spec(s.graph())
	spec.SlowStartPPM, spec.Priority = s.random.IntN(2)*1_000_000, s.random.IntN(3)-1
	spec.Pool = []string{"a", "b", "c"}[s.random.IntN(3)]
	spec.Passive = s.random.IntN(3) == 0
	for range spec.Graph.Stages {
		spec.DisallowedModes = append(spec.DisallowedModes, preempt.ModeSet(s.random.IntN(3)/2*s.random.IntN(int(preempt.AllModes)+1)))
	}
	spec.MaxAttempts = [2]int{99, 99}
	id := s.do(cluster.SubmitJob{Spec: spec}).Submitted
	splits := make([]cluster.Split, spec.Graph.Stages[0].Nodes)
	for i := range splits {
		splits[i] = cluster.Split{Bytes: 1 << 40, Range: dag.Range{End: dag.Position{Offset: 1 << 40}}}
	}
	must.Do(s.T, s.State.Load(id, splits))
	s.do(cluster.StartJob{Job: id})
	return s.View().Job(id)
}

func (s *contention) graph() dag.Graph {
	switch n := 1 + s.random.IntN(4); s.random.IntN(8) {
	case 0:
		return schedtest.TwoSlotGroups(n)
	case 1:
		return schedtest.Streamed(n, 1)
	default:
		return dag.MapReduce(3*n, s.random.IntN(4))
	}
}

// pass advances the time, by at most the given ms, until the policy wakes, and applies its
// plans.
func (s *contention) pass(most int64) {
	s.T.Helper()
	s.settle()
	until := s.Now + most
	if wake := s.policy.NextWake(); wake > s.Now && wake < until {
		until = wake
	}
	s.Now = until
	s.settle()
}

// settle applies plans, which attempts obey, until one is empty.
func (s *contention) settle() {
	s.T.Helper()
	for {
		plan := s.policy.Decide(s.Now, s.PolicyView())
		s.check(plan)
		all := append(plan.Commands(s.View()), s.answers()...)
		if len(all) == 0 {
			return
		}
		for _, c := range all {
			s.do(c)
		}
	}
}

// answers returns the commands by which attempts obey their orders to end.
func (s *contention) answers() (all []cluster.Command) {
	for m := range s.View().Machines() {
		for _, a := range m.Attempts {
			_, t, _, _ := s.View().Attempt(a.ID)
			middle := dag.Position{Offset: (t.Range.Start.Offset + t.Range.End.Offset) / 2}
			switch {
			case !a.Active():
				all = append(all, cluster.ExitAttempt{Attempt: a.ID})
			case a.Preempting() && a.Splitting() && t.Range.Start.Less(middle):
				all = append(all, cluster.SplitTask{Attempt: a.ID, At: middle},
					cluster.FinishAttempt{Attempt: a.ID, Range: dag.Range{Start: t.Range.Start, End: middle}})
			case a.Preempting():
				all = append(all, cluster.CheckpointAttempt{Attempt: a.ID, Checkpoint: cluster.Checkpoint{Path: "c"}})
			}
		}
	}
	return all
}

// check checks the preemptions of a plan against the rules.
func (s *contention) check(plan sched.Plan) {
	s.T.Helper()
	claims := s.claims()
	for _, p := range plan.Preempts {
		_, stage, _, _ := s.View().Task(p.Attempt.Task)
		if at, ok := s.wentOn[p.Attempt]; ok && s.Now-at < rest {
			s.T.Fatalf("%v gives up its slot by %s %d ms after it resumed: %s", p.Attempt, p.Mode, s.Now-at, p.Cause)
		}
		if b := disallowed(stage); b.Has(p.Mode) {
			s.T.Fatalf("%v gives up its slot by %s, and its job rules out %b", p.Attempt, p.Mode, b)
		}
		if claims[stage.Slot]--; claims[stage.Slot] < 0 && !stage.Bundle.Gang {
			s.T.Fatalf("%v is preempted by %s for no job: %s", p.Attempt, p.Mode, p.Cause)
		}
		s.taken, s.last = s.taken+1, s.Now
		s.preempted[p.Mode]++
	}
}

// claims returns how many slots jobs want that may preempt others.
func (s *contention) claims() (n cluster.Slots) {
	for j := range s.View().Jobs() {
		for w := range sched.Wants(j) {
			if !j.Spec.Passive {
				n = n.Plus(w.TotalNeed())
			}
		}
	}
	return n
}

// disallowed returns the modes that a stage, or a stage in a bundle with it, disallows.
func disallowed(s *cluster.Stage) (w preempt.ModeSet) {
	w = s.DisallowedModes
	for _, mate := range s.Bundle.Stages {
		if s.Bundle.Gang {
			w |= mate.DisallowedModes
		}
	}
	return w
}

// end finishes a running task, if there is one.
func (s *contention) end() {
	for m := range s.View().Machines() {
		for _, a := range m.Attempts {
			_, t, _, _ := s.View().Attempt(a.ID)
			if a.Active() && !a.Suspended() && s.random.IntN(4) == 0 {
				s.do(cluster.FinishAttempt{Attempt: a.ID, Range: t.Range})
				return
			}
		}
	}
}

// TestSlotsDoNotAlternateBetweenJobs submits jobs and ends tasks for a while, and then
// nothing more: soon no policy takes slots from any job, in any mode. It lives until each mode has
// been used.
func TestSlotsDoNotAlternateBetweenJobs(t *testing.T) {
	for name := range tried {
		t.Run(name, func(t *testing.T) {
			expected := modes[:4]
			if name == "fair, conserving" {
				expected = slices.DeleteFunc(slices.Clone(expected), func(m preempt.Mode) bool { return m == preempt.Kill })
			}
			preempted, lives := make(map[preempt.Mode]int), 0
			for seed := range testlevel.Seeds(100, 200) {
				newContention(t, name, seed).calmDown(seed, preempted)
				unused := slices.ContainsFunc(expected, func(m preempt.Mode) bool { return preempted[m] == 0 })
				if lives++; lives >= testlevel.Choose(15, 200) && !unused {
					break
				}
			}
			for _, mode := range modes[:4] {
				if (preempted[mode] > 0) != slices.Contains(expected, mode) {
					t.Errorf("%d attempts were preempted by %s", preempted[mode], mode)
				}
			}
		})
	}
}

// calmDown lives one life and counts the preemptions. HFSP preempts for a job once more when it sizes the
// job, and when the job is late, so the life lasts until nothing has been preempted for a while.
func (s *contention) calmDown(seed uint64, preempted map[preempt.Mode]int) {
	const calm, most = 1_000_000, 200 // ms, preemptions
	for range 4 + s.random.IntN(40) {
		switch s.random.IntN(5) {
		case 0, 1:
			s.submit()
		case 2:
			s.end()
		}
		s.pass(s.random.Int64N(1500))
	}
	before, begin := s.taken, s.Now
	for s.Now < max(begin+calm, s.last+calm/2) && s.taken-before <= most {
		s.pass(5000)
	}
	if s.taken-before > most {
		s.T.Fatalf("seed %d: nothing happens, and %d attempts are preempted, the last after %d ms", seed, s.taken-before, s.last-begin)
	}
	for mode, n := range s.preempted {
		preempted[mode] += n
	}
}
