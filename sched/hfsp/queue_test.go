package hfsp

import (
	"cmp"
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
	"pgregory.net/rapid"
)

// TestQueuesEqualTwin compares the queues, which are updated from changes, with a scan of
// every phase, under random commands.
func TestQueuesEqualTwin(t *testing.T) {
	trainees, late, due := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		conf := drawConfig(rt)
		l := newLife(t, rt, conf)
		p := l.Policy.(*watcher).Policy
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			l.Step()
			plan := p.Decide(l.Now, l.PolicyView())
			for kind := range p.queues {
				w := &wholly{p, l.Now, cluster.Slot(kind)}
				w.checkLists(rt)
				w.checkSampling(rt)
				due += w.checkClaims(rt, l, plan)
				trainees += len(p.queues[kind].trainees)
				late += len(slices.Collect(p.late(l.Now, p.queues[kind].wanting)))
			}
		}
	})
	if trainees == 0 || late == 0 || due == 0 { // the cases are random
		t.Errorf("%d samples were to be started, %d phases late, %d claimants due slots", trainees, late, due)
	}
}

// wholly scans all phases of a kind.
type wholly struct {
	*Policy
	now  int64
	kind cluster.Slot
}

// filter returns the phases of jobs that are not over and that fit, in order.
func (w *wholly) filter(fits func(*phase) bool) (out []*phase) {
	for id, p := range w.phases {
		if id.kind == w.kind && !p.over && fits(p) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, w.compare)
	return out
}

func (w *wholly) checkLists(rt *rapid.T) {
	q := w.inLine(w.kind)
	for _, c := range []struct {
		what      string
		got, want []*phase
	}{
		{"all", q.all, w.filter(func(*phase) bool { return true })},
		{"wanting", q.wanting, w.filter(func(p *phase) bool { return len(p.wants) > 0 })},
		{"holding", q.occupying, w.filter(func(p *phase) bool { return w.running(p) > 0 })},
		{
			"late", slices.Collect(w.late(w.now, q.wanting)),
			w.filter(func(p *phase) bool { return len(p.wants) > 0 && p.late(w.now) }),
		},
	} {
		if !slices.Equal(c.got, c.want) {
			rt.Fatalf("%v phases, %s: %v, by the twin %v", w.kind, c.what, names(c.got), names(c.want))
		}
	}
	suspended := 0
	for _, p := range q.all {
		suspended += p.suspended
	}
	if wantingCount := len(w.filter(func(p *phase) bool { return p.wanted > 0 })); q.wantingCount != wantingCount || q.suspended != suspended {
		rt.Fatalf("%d want slots and %d are suspended, by the twin %d and %d", q.wantingCount, q.suspended, wantingCount, suspended)
	}
}

func names(phases []*phase) (out []phaseID) {
	for _, p := range phases {
		out = append(out, p.id)
	}
	return out
}

// sampled returns what all samples get next, including those that get nothing.
func (w *wholly) sampled() (out []portion) {
	most := w.conf.Samples[w.kind]
	left := w.conf.trainSlots(w.kind, int(w.virtual[w.kind].slots))
	for _, p := range w.filter((*phase).training) {
		left -= min(p.started, most)
		if n := most - p.started - p.finished; n > 0 && p.alone > 0 {
			out = append(out, portion{phase: p, slots: min(n, p.alone)})
		}
	}
	slices.SortFunc(out, func(a, b portion) int {
		return cmp.Or(-cmp.Compare(a.started+a.finished, b.started+b.finished), a.id.compare(b.id))
	})
	for i := range out {
		out[i].slots = max(min(out[i].slots, left), 0)
		left -= out[i].slots
	}
	return out
}

func (w *wholly) checkSampling(rt *rapid.T) {
	want := slices.DeleteFunc(w.sampled(), func(p portion) bool { return p.slots == 0 })
	if got := w.sampling(w.kind); !slices.Equal(got, want) {
		rt.Fatalf("%v samples get %v, by the twin %v", w.kind, got, want)
	}
}

// checkClaims makes every phase a claimant, and checks that all are due the same.
func (w *wholly) checkClaims(rt *rapid.T, l *schedtest.ModelTest, plan sched.Plan) (due int) {
	c := newClaims(w.Policy, w.now, l.PolicyView(), w.kind, plan)
	if len(c.claimants) == 0 {
		return 0
	}
	twin := newClaims(w.Policy, w.now, l.PolicyView(), w.kind, sched.Plan{})
	twin.claimants, twin.lost, twin.byPhase = nil, c.lost, make(map[*phase]*claimant)
	got := c.got(plan)
	for _, p := range w.filter(func(p *phase) bool { return w.running(p)+p.wanted+got[p] > 0 }) {
		twin.add(p, got[p])
	}
	twin.share(int(w.virtual[w.kind].slots))
	for _, want := range twin.claimants {
		cl := c.byPhase[want.phase]
		if cl == nil && want.due+want.has == 0 {
			continue
		}
		if cl == nil || cl.due != want.due || cl.first != want.first || cl.has != want.has || cl.more != want.more {
			rt.Fatalf("the %v phase %v claims %+v, by the twin %+v", w.kind, want.id, cl, want)
		}
		due += cl.due
	}
	return due
}
