package schedtest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sched"
)

// RandomCluster runs jobs in virtual time. A task ends when it has run for a random time
// and all its input is written; an attempt that is ordered to checkpoint ends with a
// checkpoint. Liveness tests use it: if nothing runs and the policy starts nothing,
// RunAll fails the test.
type RandomCluster struct {
	*Cluster               // the state, and the present time
	Random    *rand.Rand   // random numbers from the seed: the same seed gives the same run
	Memory    *rand.Rand   // draws the memory of tasks; nil if the machines have any amount
	Policy    sched.Policy // policy under test
	FailOneIn int          // one task in FailOneIn fails; 0 is none

	ends map[cluster.AttemptID]int64 // earliest times at which attempts end, ms
}

// NewRandomCluster returns a cluster of three machines, m0 to m2, with two to four map
// slots and one to three reduce slots each. On one seed in three the memory of a machine is
// used up before its slots.
func NewRandomCluster(t testing.TB, seed uint64, policy sched.Policy) *RandomCluster {
	b := &RandomCluster{Cluster: New(t), Random: rand.New(rand.NewPCG(seed, 5)), Policy: policy, FailOneIn: 20, ends: make(map[cluster.AttemptID]int64)}
	if seed%3 == 1 {
		b.Memory = rand.New(rand.NewPCG(seed, 6))
	}
	for i := range 3 {
		name := fmt.Sprintf("m%d", i)
		c := cluster.JoinMachine{Name: name, Hosts: []string{name}, Slots: cluster.Slots{2 + b.Random.IntN(3), 1 + b.Random.IntN(3)}}
		if b.Memory != nil {
			c.MemoryMB = leastMemory
		}
		b.Do(c)
	}
	b.Now = 1 // at 0, an attempt that resumes would count as one that never has
	b.Policy.Reset(b.Now, b.PolicyView())
	return b
}

// leastMemory is what two maps and one reduce of the largest size take, so that every graph of
// RandomGraph fits the cluster, MiB.
const leastMemory = 2*2 + 4

// Do applies a command at the present time. The policy observes it once all machines have
// joined.
func (b *RandomCluster) Do(c cluster.Command) cluster.Delta {
	b.T.Helper()
	delta, err := b.State.Apply(cluster.Entry{At: b.Now, Command: c})
	if err != nil {
		b.T.Fatalf("%+v: %v", c, err)
	}
	for _, id := range delta.Started {
		b.ends[id] = b.Now + 1 + b.Random.Int64N(50)
	}
	for _, id := range delta.Freed {
		delete(b.ends, id)
	}
	if b.ready() {
		b.Policy.Observe(b.Now, b.PolicyView(), delta)
	}
	return delta
}

// ready reports whether all machines have joined, so that the policy can be reset. Before
// that it observes nothing.
func (b *RandomCluster) ready() bool {
	machines := 0
	for range b.View().Machines() {
		machines++
	}
	return machines == 3
}

// Submit starts a job. Its tasks never run out of tries: otherwise FailOneIn could end the
// job before the test is over.
func (b *RandomCluster) Submit(s cluster.JobSpec) *cluster.Job {
	b.T.Helper()
	if b.Memory != nil {
		s.MemoryMB = [2]int64{1 + b.Memory.Int64N(2), 1 + b.Memory.Int64N(4)}
	}
	return b.SubmitAs(s)
}

// SubmitAs is like Submit, with the memory that the spec gives.
func (b *RandomCluster) SubmitAs(s cluster.JobSpec) *cluster.Job {
	b.T.Helper()
	s.MaxAttempts = [2]int{99, 99}
	id := b.Do(cluster.SubmitJob{Spec: s}).Submitted
	LoadAll(b.T, b.State)
	b.Do(cluster.StartJob{Job: id})
	return b.View().Job(id)
}

// RandomGraph returns a random graph that fits the cluster, even on the smallest
// machines: a job that could never start would look like a fault of the policy.
func (b *RandomCluster) RandomGraph() dag.Graph {
	n := 1 + b.Random.IntN(3)
	switch b.Random.IntN(6) {
	case 0:
		return Streamed(n, 1+b.Random.IntN(3))
	case 1:
		return Pairs(2 * n)
	case 2:
		return TwoSlotGroups(2 * n)
	case 3: // a gang that reads the files of other tasks, and a last stage that takes map slots
		g := dag.MapReduce(2*n, 2)
		g.Stages = append(g.Stages, dag.Stage{Name: "sum", Nodes: 1}, dag.Stage{Name: "top", Nodes: 3, Slots: dag.SlotMap})
		g.Edges = append(g.Edges, dag.Edge{From: "reduce", To: "sum", Channel: dag.ChannelTCP, Connection: dag.Gather}, dag.Edge{From: "sum", To: "top"})
		return g
	}
	return dag.MapReduce(3*n, 2*n)
}

// ApplyPlans applies plans of the policy until one is empty. Plans follow each other at
// the same time, as in a controller: a preemption in one lets a task start in the next.
func (b *RandomCluster) ApplyPlans() {
	b.T.Helper()
	for {
		plan := b.Policy.Decide(b.Now, b.PolicyView())
		if err := plan.Check(b.PolicyView()); err != nil {
			b.T.Fatal(err)
		}
		all := plan.Commands(b.View())
		if len(all) == 0 {
			return
		}
		for _, c := range all {
			b.Do(c)
		}
	}
}

// Advance moves the time to the next event and ends attempts. It returns false if nothing
// can ever happen again: no attempt ends and the policy wants no wake-up. A wake-up of
// the policy counts as an event, even if its next plan is empty.
func (b *RandomCluster) Advance() bool {
	b.T.Helper()
	for {
		if b.endSome() {
			return true
		}
		next := b.Policy.NextWake()
		for _, at := range b.ends {
			if at > b.Now && (next <= b.Now || at < next) {
				next = at
			}
		}
		if next <= b.Now {
			return false
		}
		b.Now = next
		if b.Policy.NextWake() == next {
			return true
		}
	}
}

// endSome ends the attempts whose time has come, and reports whether there were any. An
// attempt that is ordered to checkpoint ends after a random number of calls.
func (b *RandomCluster) endSome() (some bool) {
	view := b.View()
	for m := range view.Machines() {
		for _, a := range append([]*cluster.Attempt(nil), m.Attempts...) {
			_, stage, _, _ := view.Task(a.ID.Task)
			switch {
			case !a.OnMachine():
			case !a.Active(): // the attempt was ordered to end
				b.Do(cluster.ExitAttempt{Attempt: a.ID})
			case a.Preempting() && b.Random.IntN(2) == 0:
				b.Do(cluster.CheckpointAttempt{Attempt: a.ID})
			case b.ends[a.ID] > b.Now || !written(stage):
				continue
			case b.FailOneIn > 0 && b.Random.IntN(b.FailOneIn) == 0:
				b.Do(cluster.FailAttempt{Attempt: a.ID, Failure: cluster.Failure{Cause: "bad luck"}})
			default:
				_, t, _, _ := view.Attempt(a.ID)
				b.Do(cluster.FinishAttempt{Attempt: a.ID, Range: t.Range})
			}
			some = true
		}
	}
	return some
}

// written reports whether all input of a stage has been written. Reduces that start early do
// not end before that.
func written(s *cluster.Stage) bool {
	for up := range s.Upstream() {
		if !up.Complete() {
			return false
		}
	}
	return true
}

// RunAll runs until all jobs are over, and calls step after each advance of the time. It
// fails if nothing can happen any more, and logs what each stage of each job still has to
// do.
func (b *RandomCluster) RunAll(jobs []*cluster.Job, step func()) {
	b.T.Helper()
	for running := len(jobs); running > 0; {
		b.ApplyPlans()
		if !b.Advance() {
			for _, j := range jobs {
				for _, s := range j.Stages {
					b.T.Logf("%v %v %s: %d of %d finished, %d running", j.ID, j.State, s.Name, s.Finished, len(s.Tasks), s.Running)
				}
			}
			b.T.Fatal("nothing runs, nothing starts and the policy has no wake-up time")
		}
		running = 0
		step()
		for _, j := range jobs {
			if j.State == cluster.JobRunning {
				running++
			}
		}
	}
}
