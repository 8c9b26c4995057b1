package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/testlevel"
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
	s         *replicated
	j         *Job
	random    *rand.Rand
	failOneIn int // one of that many steps is an event that the job does not need; 0 is none
	now       int64

	favorites     uint64 // kinds of events that come often, as a set
	snapshotOneIn int    // one of that many steps is followed by a snapshot
}

// apply applies a command some time after the last one, and reports whether the state has accepted it. Some commands
// are requests of clients.
func (l *lifetime) apply(c Command) bool {
	e := Entry{At: l.now, Command: c}
	if l.random.IntN(10) == 0 {
		e.Client, e.Sequence = fmt.Sprint("client", l.random.IntN(3)), uint64(len(l.s.log))
	}
	_, err := l.s.apply(e)
	l.now += int64(l.random.IntN(2000))
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
			if c := (StartAttempt{Task: t.ID, Machine: machine(), Local: l.random.IntN(3) == 0, RackLocal: true}); stage.StartsAlone() && l.j.Ready(stage) {
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
			p, _ := l.s.attempt(a.ID)
			switch {
			case !a.Active():
				commands = append(commands, ExitAttempt{Attempt: a.ID})
			case a.Preempting():
				if commands = append(commands, l.checkpointOf(a)); l.random.IntN(4) > 0 {
					continue
				}
				commands = append(commands, DeclinePreemption{Attempt: a.ID})
				fallthrough
			case !slices.ContainsFunc(p.stage.upstream, func(up upstream) bool { return !up.stage.Complete() }):
				commands = append(commands, l.report(p))
			}
		}
	}
	return commands
}

// step applies one command, and reports whether any command could make progress.
func (l *lifetime) step() bool {
	if l.failOneIn > 0 && l.random.IntN(l.failOneIn) == 0 && l.apply(l.event()) {
		return true
	}
	all := slices.Concat(l.starts(), l.ends())
	if l.random.IntN(4) == 0 {
		all = append(all, l.remedies()...)
	}
	l.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return slices.ContainsFunc(all, l.apply) || slices.ContainsFunc(l.remedies(), l.apply)
}

// newLifetime starts a job with a random graph on three machines. If notZero is not nil, replicas of the state are
// compared, and events are frequent.
func newLifetime(t *testing.T, seed uint64, notZero map[string]bool) *lifetime {
	l := &lifetime{t: t, s: replicate(New("1"), notZero), random: rand.New(rand.NewPCG(seed, 1)), failOneIn: int(seed%3) * 2, now: 1_000_000, snapshotOneIn: 8}
	if notZero != nil {
		l.failOneIn = 2
	}
	l.favorites = l.random.Uint64() & l.random.Uint64()
	for n := range 3 {
		l.must(l.join(fmt.Sprintf("n%d", n)))
	}
	l.must(l.fullSpec())
	loadSplits(l.s.State)
	l.must(StartJob{job1})
	if notZero != nil && seed%4 == 3 {
		l.restoreBackup()
	}
	l.j = l.s.jobs[0]
	return l
}

// must applies a command that the state should accept.
func (l *lifetime) must(c Command) {
	if !l.apply(c) {
		l.t.Fatalf("%T %+v is refused", c, c)
	}
}

// live runs the job until its output is complete. Failures stop after 150 steps.
func (l *lifetime) live(most int) {
	for steps := 0; l.j.State == JobRunning; steps++ {
		if steps == 150 {
			l.failOneIn = 0
		}
		if l.random.IntN(l.snapshotOneIn) == 0 {
			l.s.snapshot(l.t)
		}
		if !l.step() || steps > most {
			l.t.Fatalf("stuck after %d steps\n%+v\n%s", steps, l.j.Spec.Graph, dump(l.s.State))
		}
	}
	if l.j.State != JobCommitting {
		l.t.Fatalf("the job is %v: %s", l.j.State, l.j.Cause)
	}
}

// TestEveryGraphEnds runs random graphs in random orders. While there are slots, a command
// can always make progress, and when failures stop, the job ends.
func TestEveryGraphEnds(t *testing.T) {
	gangs, groups, shares := 0, 0, 0
	for seed := range testlevel.Seeds(400, 6000) {
		l := newLifetime(t, seed, nil)
		l.live(2000)
		for _, stage := range l.j.Stages {
			shares += len(stage.CombineSets)
			if stage.Bundle.Gang {
				gangs++
			} else if !stage.StartsAlone() {
				groups++
			}
		}
	}
	if gangs < testlevel.Choose(20, 300) || groups < testlevel.Choose(4, 100) || shares < testlevel.Choose(4, 60) {
		t.Errorf("%d stages in gangs, %d in groups, %d per machine", gangs, groups, shares)
	}
}
