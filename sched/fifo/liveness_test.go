package fifo

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sched"
)

// bustle runs jobs under virtual time. A task ends when it has run for long
// enough and all that it reads is written.
type bustle struct {
	*world
	random *rand.Rand
	policy *Policy
	ends   map[cluster.AttemptID]int64
}

func newBustle(t *testing.T, seed uint64, placement sched.Placement) *bustle {
	b := &bustle{newWorld(t), rand.New(rand.NewPCG(seed, 5)), New(placement), make(map[cluster.AttemptID]int64)}
	for i := range 3 {
		name := fmt.Sprintf("m%d", i)
		b.do(cluster.JoinMachine{Name: name, Hosts: []string{name}, Slots: [2]int{2 + b.random.IntN(3), 1 + b.random.IntN(3)}})
	}
	b.policy.Reset(b.now, seen(b.state.View()))
	return b
}

// do applies a command at the present moment.
func (b *bustle) do(c cluster.Command) cluster.Delta {
	b.t.Helper()
	delta, err := b.state.Apply(cluster.Entry{At: b.now, Command: c})
	if err != nil {
		b.t.Fatalf("%+v: %v", c, err)
	}
	for _, id := range delta.Started {
		b.ends[id] = b.now + 1 + b.random.Int64N(50)
	}
	for _, id := range delta.Freed {
		delete(b.ends, id)
	}
	b.policy.Observe(b.now, seen(b.state.View()), delta)
	return delta
}

func (b *bustle) submit(g dag.Graph, slowStart int) *cluster.Job {
	s := spec(0, 0)
	s.Graph, s.SlowStartPPM, s.MaxAttempts = g, slowStart, [2]int{99, 99}
	id := b.do(cluster.SubmitJob{Spec: s}).Submitted
	loadAll(b.t, b.state)
	b.do(cluster.StartJob{Job: id})
	return b.state.View().Job(id)
}

// randomGraph is one that fits the cluster.
func (b *bustle) randomGraph() dag.Graph {
	n := 1 + b.random.IntN(3)
	switch b.random.IntN(6) {
	case 0:
		return streamed(n, 1+b.random.IntN(3))
	case 1:
		return pairs(2 * n)
	case 2:
		return wide(2 * n)
	case 3: // a gang that others write for, and a last stage that takes map slots
		g := dag.MapReduce(2*n, 2)
		g.Stages = append(g.Stages, dag.Stage{Name: "sum", Nodes: 1}, dag.Stage{Name: "top", Nodes: 3, Slots: dag.SlotMap})
		g.Edges = append(g.Edges, dag.Edge{From: "reduce", To: "sum", Channel: dag.ChannelTCP, Connection: dag.Gather}, dag.Edge{From: "sum", To: "top"})
		return g
	}
	return dag.MapReduce(3*n, 2*n)
}

// plan applies what the policy wants until that is nothing.
func (b *bustle) plan() {
	for {
		all := commands(b.state.View(), b.policy.Decide(b.now, seen(b.state.View())))
		if len(all) == 0 {
			return
		}
		for _, c := range all {
			b.do(c)
		}
	}
}

// pass lets some time pass and tasks end. It returns false when nothing can ever
// happen again.
func (b *bustle) pass() bool {
	for {
		if b.endSome() {
			return true
		}
		next := b.policy.NextWake()
		for _, at := range b.ends {
			if at > b.now && (next <= b.now || at < next) {
				next = at
			}
		}
		if next <= b.now {
			return false
		}
		b.now = next
		if b.policy.NextWake() == next {
			return true
		}
	}
}

// endSome ends the attempts whose time has come, and reports whether there were
// any.
func (b *bustle) endSome() (some bool) {
	view := b.state.View()
	for m := range view.Machines() {
		for _, a := range append([]*cluster.Attempt(nil), m.Attempts...) {
			_, stage, _, _ := view.Task(a.ID.Task)
			switch {
			case !a.OnMachine:
			case a.State != cluster.AttemptRunning: // told to end
				b.do(cluster.EndAttempt{Attempt: a.ID})
			case b.ends[a.ID] > b.now || !written(stage):
				continue
			case b.random.IntN(20) == 0:
				b.do(cluster.FailAttempt{Attempt: a.ID, Failure: cluster.Failure{Cause: "bad luck"}})
			default:
				_, t, _, _ := view.Attempt(a.ID)
				b.do(cluster.FinishAttempt{Attempt: a.ID, Range: t.Range})
			}
			some = true
		}
	}
	return some
}

// written reports whether all that a stage reads has been written.
func written(s *cluster.Stage) bool {
	for up := range s.Upstream() {
		if !up.Complete() {
			return false
		}
	}
	return true
}

// TestEveryJobEnds runs jobs of all kinds beside each other, with readers that
// start early and tasks that fail, and priorities that change.
func TestEveryJobEnds(t *testing.T) {
	for seed := range uint64(120) {
		b := newBustle(t, seed, placements[seed%uint64(len(placements))])
		var jobs []*cluster.Job
		for range 2 + b.random.IntN(6) {
			jobs = append(jobs, b.submit(b.randomGraph(), b.random.IntN(2)*500_000))
		}
		for running := len(jobs); running > 0; {
			b.plan()
			if !b.pass() {
				for _, j := range jobs {
					for _, s := range j.Stages {
						t.Logf("%v %v %s: %d of %d finished, %d running", j.ID, j.State, s.Name, s.Finished, len(s.Tasks), s.Running)
					}
				}
				t.Fatalf("seed %d: nothing runs, nothing starts and nobody wakes up", seed)
			}
			if running = 0; b.random.IntN(5) == 0 {
				b.do(cluster.SetPriority{Job: jobs[b.random.IntN(len(jobs))].ID, Priority: b.random.IntN(3)})
			}
			for _, j := range jobs {
				if j.State == cluster.JobRunning {
					running++
				}
			}
		}
	}
}

// TestSmallJobsStarveNoGang has one gang among small jobs of which there are
// always more than the cluster can run.
func TestSmallJobsStarveNoGang(t *testing.T) {
	small := map[string]func(b *bustle) dag.Graph{
		"maps and reduces": func(b *bustle) dag.Graph { return dag.MapReduce(1+b.random.IntN(3), 1+b.random.IntN(2)) },
		"maps":             func(*bustle) dag.Graph { return dag.MapReduce(2, 0) },
		"of all kinds":     (*bustle).randomGraph,
	}
	for name, graph := range map[string]dag.Graph{"streamed": streamed(6, 3), "wide": wide(3), "pairs": pairs(3)} {
		for kind, of := range small {
			for seed := range uint64(8) {
				b := newBustle(t, seed, placements[seed%uint64(len(placements))])
				for range 8 {
					b.submit(of(b), 0)
				}
				gang := b.submit(graph, 0)
				for round := 0; gang.State == cluster.JobRunning; round++ {
					for range 2 {
						b.submit(of(b), 0)
					}
					b.plan()
					if !b.pass() || round > 500 {
						t.Fatalf("%s among %s, seed %d: %d tasks are left after %d rounds", name, kind, seed, gang.Stages[0].Waiting(), round)
					}
				}
			}
		}
	}
}
