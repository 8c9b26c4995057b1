package chronos

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/disco"
	"github.com/hammr/hammr/sched/fair"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sched/schedtest"
	"pgregory.net/rapid"
)

// life applies random commands to a small cluster, with replicas and failures.
type life struct {
	*testCluster
	random   *rand.Rand
	allowed  int // number of attempts that may have been preempted so far
	preempts int // number of attempts that have been preempted
	wakes    int
	spent    map[cluster.AttemptID]bool // losses for which an attempt was preempted
}

const machines = "abcde"

func newLife(t *testing.T, seed uint64) *life {
	random := rand.New(rand.NewPCG(seed, 11))
	modes := []preempt.Mode{preempt.Kill, preempt.Split, preempt.Suspend, preempt.Checkpoint, preempt.Auto}
	l := &life{random: random, spent: make(map[cluster.AttemptID]bool), testCluster: newTestCluster(t, Config{
		Preempt: preempt.Config{Map: modes[random.IntN(len(modes))], Reduce: modes[random.IntN(len(modes))]},
		SameJob: seed%4 == 0, PriorityOnly: seed%3 == 0, Wait: 30, Reserve: 200,
	})}
	l.join(machines, 2, 1)
	return l
}

// step applies a random command.
func (l *life) step() {
	l.Now += l.random.Int64N(20)
	m := l.View().Machine(string(machines[l.random.IntN(len(machines))]))
	verb := l.random.IntN(13)
	switch {
	case verb == 0:
		hosts := make([]string, 1+l.random.IntN(8))
		for i := range hosts {
			for _, n := range l.random.Perm(len(machines))[:2+l.random.IntN(2)] {
				hosts[i] += machines[n : n+1]
			}
		}
		l.job(l.random.IntN(4), hosts...)
	case verb == 1 && !m.Lost:
		l.fail(m)
	case verb == 2:
		l.do(cluster.JoinMachine{Name: m.Name, Hosts: m.Hosts, Slots: m.Offered, Instance: m.Instance})
	case verb == 3 && len(m.Attempts) > 0:
		l.do(cluster.FailAttempt{Attempt: m.Attempts[0].ID, Uncharged: true})
	case verb < 6:
		l.heartbeat(map[string]float64{"1m.0": l.random.Float64()})
	case verb < 8:
		l.apply()
	case verb == 8:
		l.succeed()
	case len(m.Attempts) > 0:
		l.leave(m.Attempts[l.random.IntN(len(m.Attempts))])
	}
}

// leave ends an attempt as it was ordered to.
func (l *life) leave(a *cluster.Attempt) {
	switch {
	case !a.Active():
		l.do(cluster.ExitAttempt{Attempt: a.ID})
	case a.Preempting() && !a.Splitting():
		l.do(cluster.CheckpointAttempt{Attempt: a.ID})
	case !a.Suspended():
		l.finish(a.ID, l.random.Int64N(9))
	}
}

// succeed replaces the policy by an equal policy. The bound on preemptions does not
// increase.
func (l *life) succeed() {
	before := l.policy
	conf := before.conf
	conf.Inner = fifo.New(sched.Placement{})
	l.policy = New(conf)
	l.policy.Reset(l.Now, l.PolicyView())
	l.policy.TransferFrom(before)
}

// fail loses a machine, and counts what is lost with it: running attempts, output, and
// promised slots.
func (l *life) fail(m *cluster.Machine) {
	for _, promise := range l.policy.promises {
		if promise.machine == m.Name && l.Now+1 < promise.until {
			l.allowed++
			delete(l.spent, promise.loss)
		}
	}
	delta := l.do(cluster.ExpireMachine{Name: m.Name, Epoch: m.Epoch})
	for _, id := range slices.Concat(delta.Ended, delta.Revoked) {
		if _, _, a, _ := l.View().Attempt(id); a.Lost() {
			l.allowed++
		}
	}
}

// apply applies a plan, which must be accepted.
func (l *life) apply() {
	plan := l.policy.Decide(l.Now, l.PolicyView())
	for _, one := range plan.Preempts {
		l.preempts++
		l.spent[l.policy.requested[one.Attempt].loss] = true
	}
	for _, c := range plan.Commands(l.View()) {
		l.do(c)
	}
}

// check checks the invariants of the next plan.
func (l *life) check() {
	p := l.policy
	plan := p.Decide(l.Now, l.PolicyView())
	if again := p.Decide(l.Now, l.PolicyView()); !reflect.DeepEqual(plan, again) {
		l.T.Fatalf("it plans %v, then %v", linesOf(plan), linesOf(again))
	}
	if wake := p.NextWake(); wake != 0 {
		l.wakes++
		if wake <= l.Now || len(p.lost) == 0 {
			l.T.Fatalf("at %d it wakes at %d, with %d tasks to recover", l.Now, wake, len(p.lost))
		}
	}
	l.checkReset(plan)
	inner := fifo.New(sched.Placement{})
	inner.Reset(l.Now, l.PolicyView())
	if plain := inner.Decide(l.Now, l.PolicyView()); len(p.lost) == 0 && !reflect.DeepEqual(plan, plain) {
		l.T.Fatalf("without losses it plans %v, and the policy inside %v", linesOf(plan), linesOf(plain))
	}
	if l.preempts+len(plan.Preempts) > l.allowed {
		l.T.Fatalf("%d attempts preempted and %v now, for %d that were lost", l.preempts, linesOf(plan), l.allowed)
	}
	for _, one := range plan.Preempts {
		if loss := p.requested[one.Attempt].loss; l.spent[loss] {
			l.T.Fatalf("%v is preempted for %v, for which another one was", one.Attempt, loss)
		}
	}
	l.checkPromises(plan)
}

// checkReset compares with a policy that has just been reset, while no slot is being freed.
func (l *life) checkReset(plan sched.Plan) {
	conf := l.policy.conf
	conf.Inner = fifo.New(sched.Placement{})
	fresh := New(conf)
	fresh.Reset(l.Now, l.PolicyView())
	if len(fresh.promises)+len(l.policy.promises) > 0 {
		return
	}
	if again := fresh.Decide(l.Now, l.PolicyView()); !reflect.DeepEqual(plan, again) || fresh.NextWake() != l.policy.NextWake() {
		l.T.Fatalf("it plans %v, wakes at %d, and when it is reset %v and %d", linesOf(plan), l.policy.NextWake(), linesOf(again), fresh.NextWake())
	}
}

// checkPromises finds starts in slots that are promised to other tasks, and tasks that start
// elsewhere than in their promised slot.
func (l *life) checkPromises(plan sched.Plan) {
	starts := make(map[cluster.TaskID]string)
	for _, s := range plan.Starts {
		if starts[s.Task] != "" {
			l.T.Fatalf("%v starts twice", s.Task)
		}
		starts[s.Task] = s.Machine
	}
	promised := make(map[cluster.TaskID]bool)
	waits := make(map[slotKey]cluster.TaskID)
	for loss, promise := range l.policy.promises {
		j, stage, _, _ := l.View().Task(loss.Task)
		if !promise.isValid(l.Now, l.PolicyView()) || !j.Ready(stage) {
			continue
		}
		promised[loss.Task] = true
		switch on := starts[loss.Task]; on {
		case "":
			waits[slotKey{promise.machine, stage.Slot}] = loss.Task
		case promise.machine:
		default:
			l.T.Fatalf("%v was promised a slot on %s and starts on %s", loss.Task, promise.machine, on)
		}
	}
	for _, s := range plan.Starts {
		_, stage, _, _ := l.View().Task(s.Task)
		if t, waiting := waits[slotKey{s.Machine, stage.Slot}]; waiting && !promised[s.Task] {
			l.T.Fatalf("%v takes a slot on %s that was promised to %v", s.Task, s.Machine, t)
		}
	}
}

func TestModel(t *testing.T) {
	preempts, wakes := 0, 0
	for seed := range testlevel.Seeds(20, 240) {
		l := newLife(t, seed)
		for range 200 {
			l.step()
			l.check()
		}
		preempts, wakes = preempts+l.preempts, wakes+l.wakes
	}
	if least := testlevel.Choose(8, 200); preempts < least || wakes < least {
		t.Errorf("%d attempts were preempted, and %d times it waited for something", preempts, wakes)
	}
}

// TestModelOfAllGraphs includes gangs and groups, in which nothing is preempted, and applies
// every plan to a copy of the state, which must accept it.
func TestModelOfAllGraphs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := New(Config{Inner: fifo.New(sched.Placement{}), Preempt: preempt.Config{Map: preempt.Suspend}, Wait: 3})
		l := &schedtest.ModelTest{Cluster: schedtest.New(t), Random: rt, Policy: p}
		l.SoftState = halfDone{l.Cluster}
		p.Reset(0, l.PolicyView())
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			l.Step()
			plan := p.Decide(l.Now, l.PolicyView())
			l.StateAfter(plan)
			for _, one := range plan.Preempts {
				if _, stage, _, _ := l.View().Task(one.Attempt.Task); !stage.StartsAlone() {
					rt.Fatalf("%v is preempted, which runs in a bundle", one.Attempt)
				}
			}
		}
	})
}

// halfDone lets all attempts report that they are half done.
type halfDone struct{ *schedtest.Cluster }

func (w halfDone) Progress(cluster.AttemptID) (sched.Progress, bool) {
	return sched.Progress{ReportedAt: w.Now, Fraction: .5}, true
}

// TestEveryJobEnds runs jobs of all kinds while machines are lost and come back.
func TestEveryJobEnds(t *testing.T) {
	for seed := range testlevel.Seeds(36, 300) {
		conf := Config{
			Inner:   fifo.New(sched.DefaultPlacement()),
			Preempt: preempt.Config{Map: preempt.Modes[seed%6], Reduce: preempt.Modes[seed/6%6]},
			SameJob: seed%2 == 0, Wait: int64(1 + seed%40),
		}
		switch seed % 3 {
		case 0:
			conf.Inner = fair.New(fair.Config{Preemption: seed%2 == 0})
		case 1:
			conf.Inner = disco.New(disco.Config{Preempt: conf.Preempt})
		}
		b := schedtest.NewRandomCluster(t, seed, New(conf))
		b.SoftState = halfDone{b.Cluster}
		var jobs []*cluster.Job
		for n := range 2 + b.Random.IntN(6) {
			s := schedtest.Spec(dag.MapReduce(2+b.Random.IntN(9), b.Random.IntN(4)))
			if seed%2 == 1 {
				s = schedtest.Spec(graph(b))
			}
			s.SlowStartPPM = n % 2 * 500_000
			jobs = append(jobs, b.Submit(s))
		}
		dead := ""
		b.RunAll(jobs, func() {
			if dead != "" {
				back(b, dead)
				dead = ""
			} else if b.Random.IntN(8) == 0 {
				dead = fmt.Sprintf("m%d", b.Random.IntN(3))
				b.Do(cluster.ExpireMachine{Name: dead, Epoch: b.View().Machine(dead).Epoch})
				if seed%2 == 1 { // a gang may need all machines
					back(b, dead)
					dead = ""
				}
			}
		})
	}
}

// graph returns a random graph, except those whose readers may occupy the slots that lost
// writers need again: the controller breaks such deadlocks.
func graph(b *schedtest.RandomCluster) dag.Graph {
	n := 1 + b.Random.IntN(3)
	graphs := []dag.Graph{schedtest.Streamed(n, n), schedtest.Pairs(2 * n), schedtest.TwoSlotGroups(2 * n), dag.MapReduce(3*n, 2*n)}
	return graphs[b.Random.IntN(len(graphs))]
}

func back(b *schedtest.RandomCluster, name string) {
	m := b.View().Machine(name)
	b.Do(cluster.JoinMachine{Name: name, Hosts: m.Hosts, Slots: m.Offered, MemoryMB: m.MemoryMB, Instance: m.Instance})
}
