package chronos

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sched"
)

// able is a policy with all optional interfaces that notes which one was called.
type able struct {
	plain
	called *string
}

func (a able) Precedes(int64, sched.View, cluster.Slot, *cluster.Job, *cluster.Job) bool {
	*a.called = "JobComparer"
	return true
}

func (a able) Explain(int64, sched.View, *cluster.Job) []sched.Detail {
	*a.called = "Explainer"
	return []sched.Detail{{Name: "turn", Value: "next"}}
}

func (a able) Pools(int64, sched.View) []sched.Pool {
	*a.called = "PoolReporter"
	return []sched.Pool{{Name: "a"}}
}

func (a able) Limit(*cluster.Job) cluster.Slots {
	*a.called = "JobLimiter"
	return cluster.Slots{3, 4}
}

func (a able) WaitClass(*cluster.Job, cluster.Slot) sched.WaitClass {
	*a.called = "WaitClassifier"
	return sched.WaitLimit
}

func (a able) TransferFrom(from sched.Policy) {
	if _, ok := sched.Innermost(from).(plain); ok {
		*a.called = "StateTransfer"
	}
}

// passedOn calls each optional interface, and reports whether the wrapped policy returns the
// same result.
var passedOn = map[string]func(p sched.Policy, job *cluster.Job) bool{
	"JobComparer": func(p sched.Policy, job *cluster.Job) bool {
		return p.(sched.JobComparer).Precedes(0, sched.View{}, cluster.MapSlot, job, job)
	},
	"Explainer": func(p sched.Policy, job *cluster.Job) bool {
		return slices.Equal(p.(sched.Explainer).Explain(0, sched.View{}, job), []sched.Detail{{Name: "turn", Value: "next"}})
	},
	"PoolReporter": func(p sched.Policy, _ *cluster.Job) bool {
		pools := p.(sched.PoolReporter).Pools(0, sched.View{})
		return len(pools) == 1 && pools[0].Name == "a"
	},
	"JobLimiter": func(p sched.Policy, job *cluster.Job) bool {
		return p.(sched.JobLimiter).Limit(job) == cluster.Slots{3, 4}
	},
	"WaitClassifier": func(p sched.Policy, job *cluster.Job) bool {
		return p.(sched.WaitClassifier).WaitClass(job, cluster.MapSlot) == sched.WaitLimit
	},
	"StateTransfer": func(p sched.Policy, _ *cluster.Job) bool {
		p.(sched.StateTransfer).TransferFrom(New(Config{Inner: plain{}}))
		return true
	},
}

// notCalled lists the interfaces of sched that Chronos does not forward, with reasons.
var notCalled = map[string]string{
	"Policy":      "Chronos is one",
	"Wrapper":     "Chronos is one",
	"Ranker":      "pools use it",
	"SoftState":   "policies read it",
	"MemReporter": "policies read it",
	"StaticOrder": "the controller asks the innermost policy",
}

// TestOptionalInterfacesAreForwarded checks all interfaces of package sched. A new one has
// to be forwarded, or to be listed in notCalled.
func TestOptionalInterfacesAreForwarded(t *testing.T) {
	known := slices.Sorted(maps.Keys(passedOn))
	known = slices.Sorted(slices.Values(append(known, slices.Collect(maps.Keys(notCalled))...)))
	if got := interfaces(t, ".."); !slices.Equal(got, known) {
		t.Errorf("package sched has the interfaces %v, want %v", got, known)
	}
	job := new(cluster.Job)
	for name, answers := range passedOn {
		var called string
		if p := New(Config{Inner: able{called: &called}}); !answers(p, job) || called != name {
			t.Errorf("%s: the call is not forwarded, or its result is lost", name)
		}
	}
}

// interfaces returns the names of the exported interfaces of a package, ascending.
func interfaces(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.Do(t, err)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		must.Do(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.IsExported() {
				if _, ok := spec.Type.(*ast.InterfaceType); ok {
					names = append(names, spec.Name.Name)
				}
			}
			return true
		})
	}
	slices.Sort(names)
	return names
}

// TestWithoutOptionalInterfaces wraps a policy without optional interfaces.
func TestWithoutOptionalInterfaces(t *testing.T) {
	p, job := New(Config{Inner: plain{}}), new(cluster.Job)
	if pools := p.Pools(0, sched.View{}); pools != nil {
		t.Errorf("pools %v", pools)
	}
	if most := p.Limit(job); most != (cluster.Slots{sched.Unlimited, sched.Unlimited}) {
		t.Errorf("limit %v", most)
	}
	if progress := p.Explain(0, sched.View{}, job); progress != nil {
		t.Errorf("facts %v", progress)
	}
	if class := p.WaitClass(job, cluster.MapSlot); class != sched.NotWaiting {
		t.Errorf("class %v", class)
	}
	p.TransferFrom(plain{})
}

// TestTransferKeepsPromises replaces the policy after a promise has become void: the
// reservation ended, and another job has the slot. Nothing more is preempted for the task.
func TestTransferKeepsPromises(t *testing.T) {
	for inherits, want := range map[bool][]string{true: nil, false: {"kill 2m.1"}} {
		w := newTestCluster(t, Config{})
		w.join("abc", 1, 0)
		w.start(w.job(0, "ab"), 0, 0, "a")
		w.start(w.job(0, "", ""), 0, 0, "bc")
		w.expire("a")
		w.heartbeat(nil)
		w.want(w.settle(), "kill 2m.0")
		w.Now += DefaultReserve
		urgent := w.job(0, "")
		w.do(cluster.SetPriority{Job: urgent.ID, Priority: 1})
		w.end()
		w.want(w.settle(), "3m.0@b")
		before := w.policy
		w.policy = New(before.conf)
		w.policy.Reset(w.Now, w.PolicyView())
		if inherits {
			w.policy.TransferFrom(before)
		}
		w.heartbeat(nil)
		w.want(w.settle(), want...)
	}
}
