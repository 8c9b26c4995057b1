package fair

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
)

// around is a policy that wraps another.
type around struct{ sched.Policy }

func (a around) Unwrap() sched.Policy { return a.Policy }

// TestTransferKeepsClocks replaces a policy when a pool has waited for half of its time-out.
func TestTransferKeepsClocks(t *testing.T) {
	s := newFixture(t, "", in("b", 9, 0))
	wantLine(t, s.after(60_000), "[]")
	before, file := s.policy, minutes+"<pool name='b'><weight>4</weight></pool>"
	s.policy = New(Config{Allocations: allocations(t, file), Preemption: true})
	s.policy.Reset(s.Now, s.PolicyView())
	s.policy.TransferFrom(around{around{before}})
	wantLine(t, s.after(120_000), "[]")
	wantLine(t, s.after(120_001), "[9 8 7 6 5 4 3 2]")

	s.policy = New(Config{Allocations: allocations(t, file), Preemption: true})
	s.policy.Reset(s.Now, s.PolicyView())
	s.policy.TransferFrom(new(fifo.Policy))
	wantLine(t, s.after(130_000), "[]")
}

// TestExplain checks the details of a job in the pools of a file.
func TestExplain(t *testing.T) {
	w := newCluster(t)
	w.Join("m", 4, 0)
	w.Run(in("a", 9, 0))
	first, second := w.Run(in("b", 2, 0)), w.Run(in("b", 2, 0))
	p := New(Config{Allocations: allocations(t, "<pool name='b'><weight>3</weight><maxRunningJobs>1</maxRunningJobs><maxMaps>3</maxMaps></pool>")})
	p.Reset(w.Now, w.PolicyView())
	progress := func(progress []sched.Detail) string {
		var lines []string
		for _, f := range progress {
			lines = append(lines, f.Name+"="+f.Value)
		}
		return strings.Join(lines, "; ")
	}
	got := progress(p.Explain(w.Now, w.PolicyView(), first))
	for _, want := range []string{"pool=b; may run=yes", "map slots of the pool=0 of a fair share of 2", "map slots of the job=0, wants 2", "map slots, maximum of the pool=3"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	got = progress(p.Explain(w.Now, w.PolicyView(), second))
	if want := "may run=not yet: user \"\" may run any number of jobs at a time, pool b 1 jobs"; !strings.Contains(got, want) {
		t.Errorf("no %q in %q", want, got)
	}
	want := "a 1 2 0 any, b 3 2 1 3, "
	var lines strings.Builder
	for _, pool := range p.Pools(w.Now, w.PolicyView()) {
		most := fmt.Sprint(pool.Max[0])
		if pool.Max[0] == sched.Unlimited {
			most = "any"
		}
		fmt.Fprintf(&lines, "%s %v %v %d %s, ", pool.Name, pool.Weight, pool.Share[0], pool.QueuedJobs, most)
	}
	if lines.String() != want {
		t.Errorf("pools are %q, want %q", lines.String(), want)
	}
}

// TestLimitIsTheLeastOfAllPoolsAbove checks the slot limit of a job.
func TestLimitIsTheLeastOfAllPoolsAbove(t *testing.T) {
	w := newCluster(t)
	w.Join("m", 4, 4)
	p := New(Config{Allocations: allocations(t, "<pool name='x'><maxMaps>3</maxMaps><maxReduces>9</maxReduces><pool name='y'><maxReduces>2</maxReduces></pool></pool>")})
	nested, free := w.Run(in("x.y", 9, 0)), w.Run(in("c", 9, 0))
	p.Reset(w.Now, w.PolicyView())
	if got := p.Limit(nested); got != (cluster.Slots{3, 2}) {
		t.Errorf("in a pool within a pool: %v", got)
	}
	if got := p.Limit(free); got != (cluster.Slots{sched.Unlimited, sched.Unlimited}) {
		t.Errorf("in a pool without a description: %v", got)
	}
}

// TestSharesAreTraced checks that shares are traced only on request.
func TestSharesAreTraced(t *testing.T) {
	w := newCluster(t)
	w.Join("m", 4, 0)
	w.Run(in("a", 9, 0))
	w.Run(in("b", 1, 0))
	view := w.PolicyView()
	view.Trace = true
	p := New(Config{})
	p.Reset(w.Now, view)
	var lines []string
	for _, d := range p.Decide(w.Now, view).Decisions {
		if d.Kind == sched.DecisionShare && d.Slot == 0 {
			lines = append(lines, fmt.Sprintf("%s %v", d.Pool, d.Share))
		}
	}
	wantLine(t, lines, "[a 3 b 1]")
}
