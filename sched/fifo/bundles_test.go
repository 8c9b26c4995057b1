package fifo

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sched"
)

// streamed is the graph of a gang of maps and reduces; none of either leaves the
// stage out.
func streamed(maps, reduces int) dag.Graph {
	g := dag.Graph{Stages: []dag.Stage{{Name: "map", Nodes: maps}}}
	if reduces > 0 {
		g.Stages = append(g.Stages, dag.Stage{Name: "reduce", Nodes: reduces})
		g.Edges = append(g.Edges, dag.Edge{From: "map", To: "reduce", Channel: dag.ChannelTCP})
	}
	return g
}

// pairs is the graph of gangs of one map and one reduce each.
func pairs(count int) dag.Graph {
	g := streamed(count, count)
	g.Edges[0].Connection = dag.OneToOne
	return g
}

// wide is the graph of groups that take two map slots each.
func wide(count int) dag.Graph {
	return dag.Graph{
		Stages: []dag.Stage{{Name: "parse", Nodes: count}, {Name: "clean", Nodes: count, Slots: dag.SlotMap}},
		Edges:  []dag.Edge{{From: "parse", To: "clean", Channel: dag.ChannelSHM, Connection: dag.OneToOne}},
	}
}

// run starts a job of a graph. Splits beyond hosts lie nowhere.
func (w *world) run(priority int, g dag.Graph, hosts ...string) *cluster.Job {
	w.t.Helper()
	s := withPriority(spec(0, 0), priority)
	s.Graph, s.SlowStartPPM = g, 0
	id := w.apply(cluster.SubmitJob{Spec: s}).Submitted
	sources := 0
	for _, s := range g.Stages {
		if g.IsSource(s.Name) {
			sources += s.Nodes
		}
	}
	splits := make([]cluster.Split, sources)
	for i, host := range hosts {
		splits[i] = cluster.Split{Hosts: []string{host}, Bytes: 1}
	}
	if err := w.state.Load(id, splits); err != nil {
		w.t.Fatal(err)
	}
	w.apply(cluster.StartJob{Job: id})
	return w.state.View().Job(id)
}

// start gives a slot to a task that starts alone.
func (w *world) start(j *cluster.Job, stage, number int, machine string) cluster.AttemptID {
	w.t.Helper()
	t := j.Stages[stage].Tasks[number]
	w.apply(cluster.StartAttempt{Task: t.ID, Machine: machine, Range: j.RangeOf(t)})
	return t.Attempts[len(t.Attempts)-1].ID
}

// whole is what a new policy plans, bundles in braces.
func (w *world) whole(placement sched.Placement) []string {
	p := New(placement)
	p.Reset(w.now, seen(w.state.View()))
	return lines(p.Decide(w.now, seen(w.state.View())))
}

func lines(plan sched.Plan) (out []string) {
	line := func(s sched.Start) string {
		text := fmt.Sprintf("%d%s.%d@%s", s.Task.Job.Number, s.Task.Stage, s.Task.Number, s.Machine)
		switch {
		case s.Local:
			text += " local"
		case s.RackLocal:
			text += " rack"
		}
		return text
	}
	for _, s := range plan.Starts {
		out = append(out, line(s))
	}
	for _, b := range plan.Bundles {
		var members []string
		for _, s := range b.Starts {
			members = append(members, line(s))
		}
		out = append(out, "{"+strings.Join(members, ", ")+"}")
	}
	return out
}

// join2 adds machines a and b with as many slots each.
func (w *world) join2(maps, reduces int) {
	w.join("a", maps, reduces)
	w.join("b", maps, reduces)
}

func TestBundles(t *testing.T) {
	tests := []struct {
		name  string
		build func(w *world)
		want  []string
	}{
		{"whole, on the machine of their input", func(w *world) {
			w.join2(2, 2)
			w.run(0, streamed(2, 1), "b", "b")
		}, []string{"{1m.0@b local, 1m.1@b local, 1r.0@b}"}},
		{"on several machines when one has no room", func(w *world) {
			w.join2(1, 1)
			w.run(0, streamed(2, 1), "b")
		}, []string{"{1m.0@b local, 1m.1@a, 1r.0@a}"}},
		{"in the order of jobs, others get what is left", func(w *world) {
			w.join2(2, 1)
			w.run(0, streamed(1, 1))
			w.run(1, dag.MapReduce(1, 0))
			w.run(0, dag.MapReduce(9, 0))
		}, []string{"2m.0@a", "3m.0@a", "3m.1@b", "{1m.0@b, 1r.0@b}"}},
		{"two gangs of one job, each half of the cluster", func(w *world) {
			w.join2(2, 1)
			w.run(0, dag.Graph{
				Stages: []dag.Stage{{Name: "a", Nodes: 2}, {Name: "b", Nodes: 1}, {Name: "c", Nodes: 2}, {Name: "d", Nodes: 1}},
				Edges:  []dag.Edge{{From: "a", To: "b", Channel: dag.ChannelTCP}, {From: "c", To: "d", Channel: dag.ChannelTCP}},
			})
		}, []string{"{1s0.0@a, 1s0.1@a, 1s1.0@a}", "{1s2.0@b, 1s2.1@b, 1s3.0@b}"}},
		{"many of a class, as far as slots go", func(w *world) {
			w.join2(2, 1)
			w.run(0, pairs(3))
			w.run(0, dag.MapReduce(9, 0))
		}, []string{"2m.0@b", "{1m.0@a, 1r.0@a}", "{1m.1@b, 1r.1@b}"}},
		{"one that will never fit is in nobody's way", func(w *world) {
			w.join("a", 2, 1)
			w.run(1, streamed(1, 2))
			w.run(0, dag.MapReduce(1, 0))
		}, []string{"2m.0@a"}},
		{"held slots are only as many as are needed", func(w *world) {
			w.join2(2, 2)
			busy := w.run(0, dag.MapReduce(2, 0))
			w.start(busy, 0, 0, "a")
			w.start(busy, 0, 1, "b")
			w.run(0, streamed(3, 1))
			w.run(0, dag.MapReduce(1, 0))
			w.run(0, dag.MapReduce(0, 9))
		}, []string{"4r.0@b", "4r.1@a", "4r.2@b"}},
		{"all that may be of use are held for groups of several slots", func(w *world) {
			w.join("a", 3, 0)
			w.join("b", 2, 0)
			busy := w.run(0, dag.MapReduce(3, 0))
			w.start(busy, 0, 0, "a")
			w.start(busy, 0, 1, "a")
			w.start(busy, 0, 2, "b")
			w.run(0, wide(1))
			w.run(0, dag.MapReduce(9, 0))
		}, nil},
		{"slots that will never be of use are given to others", func(w *world) {
			w.join2(3, 0)
			w.run(0, wide(9), "b", "b", "a")
			w.run(0, dag.MapReduce(9, 0))
		}, []string{"2m.0@a", "2m.1@b", "{1s0.2@a local}", "{1s0.1@b local}"}},
		{"writers of what runs on slots that are waited for go on", func(w *world) {
			w.join("a", 1, 1)
			early := w.run(0, dag.MapReduce(1, 1))
			w.start(early, 1, 0, "a")
			w.run(1, streamed(1, 1))
			w.run(0, dag.MapReduce(1, 0))
		}, []string{"1m.0@a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.build(w)
			if got := w.whole(sched.Placement{}); !slices.Equal(got, tt.want) {
				t.Errorf("plan is\n%q, want\n%q", got, tt.want)
			}
		})
	}
}

// TestGangsAvoidMachines has a gang of which one task has failed on a.
func TestGangsAvoidMachines(t *testing.T) {
	for want, build := range map[string]func(w *world){
		"[{1m.0@b rack, 1r.0@b}]": func(w *world) { w.join2(1, 1) },
		"[{1m.0@a local, 1r.0@a}]": func(w *world) {
			w.join("a", 1, 1)
			w.join("b", 0, 1) // of no use to it
		},
		"[]": func(w *world) { // b has room soon
			w.join2(1, 1)
			w.start(w.run(1, dag.MapReduce(1, 0)), 0, 0, "b")
		},
	} {
		w := newWorld(t)
		gang := w.run(0, streamed(1, 1), "a")
		build(w)
		start := cluster.StartBundle{Job: gang.ID}
		for _, s := range gang.Stages {
			start.Starts = append(start.Starts, cluster.StartAttempt{Task: s.Tasks[0].ID, Machine: "a"})
		}
		w.apply(start)
		for n, s := range gang.Stages {
			id := cluster.AttemptID{Task: s.Tasks[0].ID}
			if n == 0 {
				w.apply(cluster.FailAttempt{Attempt: id, Failure: cluster.Failure{Cause: "test"}})
			} else {
				w.apply(cluster.EndAttempt{Attempt: id})
			}
		}
		w.run(0, dag.MapReduce(9, 0))
		got := w.whole(sched.Placement{})
		got = slices.DeleteFunc(got, func(line string) bool { return want != "[]" && line[0] != '{' })
		if fmt.Sprint(got) != want {
			t.Errorf("plan is %q, want %s", got, want)
		}
	}
}

func TestGroupsOfSeveralSlotsArePlacedByAllMethods(t *testing.T) {
	for _, placement := range placements {
		w := newWorld(t)
		w.join2(4, 0)
		w.run(0, wide(3), "b", "b", "a")
		w.now += 1000 // longer than any delay
		got := w.whole(placement)
		slices.Sort(got)
		want := []string{"{1s0.0@b local}", "{1s0.1@b local}", "{1s0.2@a local}"}
		if placement.Method == sched.None {
			want = []string{"{1s0.0@a rack}", "{1s0.1@b local}", "{1s0.2@a local}"}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: plan is %q, want %q", placement, got, want)
		}
	}
}
