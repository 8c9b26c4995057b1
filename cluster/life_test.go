package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
)

// randomDAG returns a valid graph of up to five stages, each joined to earlier ones by edges
// of all kinds.
func randomDAG(r *rand.Rand) dag.Graph {
	for {
		var g dag.Graph
		for i := range 1 + r.IntN(5) {
			s := dag.Stage{Name: fmt.Sprintf("s%d", i), Nodes: 1 + r.IntN(3), Slots: dag.SlotKind(r.IntN(3))}
			for from := range i {
				if r.IntN(2) == 0 {
					e := dag.Edge{From: g.Stages[from].Name, To: s.Name, Channel: dag.Channel(max(r.IntN(5)-2, 0)), Connection: dag.Connection(r.IntN(5))}
					if r.IntN(4) == 0 {
						e.Channel, e.Connection = dag.ChannelFile, dag.PerMachine
					}
					g.Edges = append(g.Edges, e)
				}
			}
			g.Stages = append(g.Stages, s)
		}
		if g.Validate() == nil {
			return g
		}
	}
}

// lifetime runs one job with enough slots for all of it, in any order and with any failures.
type lifetime struct {
	t         *testing.T
	s         *State
	j         *Job
	random    *rand.Rand
	failOneIn int // one of that many steps is a failure; 0 is none
}

func (l *lifetime) apply(c Command) bool {
	_, err := l.s.Apply(Entry{At: 1, Command: c})
	if problem := l.s.CheckInvariants(); problem != nil {
		l.t.Fatalf("after %T %+v: %v", c, c, problem)
	}
	return err == nil
}

// starts returns all starts that the state should accept.
func (l *lifetime) starts() (commands []Command) {
	machine := func() string { return fmt.Sprintf("n%d", l.random.IntN(3)) }
	for _, b := range l.j.Bundles {
		for _, n := range l.j.WaitingBundles(b) {
			commands = append(commands, bundleStart(l.j, b.Index, n, machine(), machine()))
		}
	}
	for _, stage := range l.j.Stages {
		for t := range stage.Pending() {
			if c := (StartAttempt{Task: t.ID, Machine: machine()}); stage.StartsAlone() && l.j.Ready(stage) {
				if t.Split >= 0 {
					c.Range = l.j.RangeOf(t)
				}
				commands = append(commands, c)
			}
		}
	}
	return commands
}

// ends returns the reports that active attempts may send: that they have finished, if their
// input is complete; that they have written a checkpoint or declined, if they were asked; or
// that they are lost.
func (l *lifetime) ends() (commands []Command) {
	for m := range l.s.View().Machines() {
		for _, a := range m.Attempts {
			_, stage, task, _ := l.s.View().Task(a.ID.Task)
			switch {
			case !a.Active():
				commands = append(commands, ExitAttempt{Attempt: a.ID})
			case a.Preempting():
				commands = append(commands, CheckpointAttempt{Attempt: a.ID}, DeclinePreemption{Attempt: a.ID})
				fallthrough
			case !slices.ContainsFunc(stage.upstream, func(up upstream) bool { return !up.stage.Complete() }):
				commands = append(commands, FinishAttempt{Attempt: a.ID, Range: task.Range, Output: Manifest{Bytes: 1}})
			}
		}
	}
	return commands
}

func (l *lifetime) machineFailure() Command {
	machine := fmt.Sprintf("n%d", l.random.IntN(3))
	m := l.s.byName[machine]
	if l.random.IntN(4) == 0 {
		if m.Lost {
			return JoinMachine{Name: machine, Instance: fmt.Sprint(m.Epoch), Hosts: m.Hosts, Slots: m.Offered}
		}
		return ExpireMachine{Name: machine, Epoch: m.Epoch}
	}
	stage := l.j.Stages[l.random.IntN(len(l.j.Stages))]
	t := stage.Tasks[l.random.IntN(len(stage.Tasks))]
	if len(t.Attempts) == 0 {
		return SetPolicy{Name: "fifo"}
	}
	a := t.Attempts[l.random.IntN(len(t.Attempts))].ID
	return []Command{
		FailAttempt{Attempt: a, Failure: Failure{Cause: "bad"}, OnMachine: l.random.IntN(2) == 0, BadCheckpoint: l.random.IntN(2) == 0},
		KillAttempt{Attempt: a, Cause: "enough"}, LoseOutput{a, "unreadable"}, RestoreOutput{Attempt: a, Range: t.Range}, ExitAttempt{Attempt: a},
		PreemptAttempt{Attempt: a, Mode: preempt.Checkpoint}, PreemptAttempt{Attempt: a, Mode: preempt.Checkpoint}, PreemptAttempt{Attempt: a, Mode: preempt.Checkpoint},
	}[l.random.IntN(8)]
}

// step applies one command, and reports whether any command could make progress.
func (l *lifetime) step() bool {
	if l.failOneIn > 0 && l.random.IntN(l.failOneIn) == 0 && l.apply(l.machineFailure()) {
		return true
	}
	all := append(l.starts(), l.ends()...)
	for m := range l.s.View().Machines() {
		if m.Lost {
			all = append(all, JoinMachine{Name: m.Name, Instance: fmt.Sprint(m.Epoch), Hosts: m.Hosts, Slots: m.Offered})
		}
	}
	l.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return slices.ContainsFunc(all, l.apply)
}

// TestEveryGraphEnds runs random graphs in random orders. While there are slots, a command
// can always make progress, and when failures stop, the job ends.
func TestEveryGraphEnds(t *testing.T) {
	gangs, groups, shares := 0, 0, 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := New("1")
		spec := submit(0, 0)
		spec.Spec.Graph, spec.Spec.MaxAttempts, spec.Spec.SlowStartPPM = randomDAG(r), [2]int{999, 999}, r.IntN(3)*500_000
		for n := range 3 {
			name := fmt.Sprintf("n%d", n)
			mustApply(t, s, JoinMachine{Name: name, Hosts: []string{name}, Slots: Slots{100, 100}})
		}
		mustApply(t, s, spec)
		loadSplits(s)
		mustApply(t, s, StartJob{job1})
		l := &lifetime{t, s, s.jobs.live[0], r, int(seed%3) * 2}
		for steps := 0; l.j.State == JobRunning; steps++ {
			if steps == 150 {
				l.failOneIn = 0
			}
			if !l.step() || steps > 2000 {
				t.Fatalf("seed %d: stuck after %d steps\n%+v\n%s", seed, steps, l.j.Spec.Graph, dump(s))
			}
		}
		if l.j.State != JobCommitting {
			t.Fatalf("seed %d: the job is %v: %s", seed, l.j.State, l.j.Cause)
		}
		for _, stage := range l.j.Stages {
			shares += len(stage.combineSets)
			if stage.Bundle.Gang {
				gangs++
			} else if !stage.StartsAlone() {
				groups++
			}
		}
	}
	if gangs < 100 || groups < 100 || shares < 20 {
		t.Errorf("%d stages in gangs, %d in groups, %d per machine", gangs, groups, shares)
	}
}
