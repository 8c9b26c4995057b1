package cluster

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/hammr/hammr/dag"
)

// combined returns the graph of a job whose maps' records are combined on each machine, by
// as many combiners as machines may take part.
func combined(maps, combiners int) dag.Graph {
	return dag.Graph{
		Stages: []dag.Stage{{Name: "map", Nodes: maps}, {Name: "combine", Nodes: combiners}, {Name: "top", Nodes: 1}},
		Edges:  []dag.Edge{{From: "map", To: "combine", Connection: dag.PerMachine}, {From: "combine", To: "top", Connection: dag.Gather}},
	}
}

// runMaps runs a map on each of the machines, in their order.
func runMaps(t *testing.T, s *State, j *Job, machines ...string) {
	t.Helper()
	for n, machine := range machines {
		apply(t, s, StartAttempt{Task: mapTask(n), Machine: machine, Range: whole})
		apply(t, s, finishTask(j, 0, n))
	}
}

// sharesOf lists the output that the tasks of the second stage combine, and the machines
// that wrote it.
func sharesOf(j *Job) (out []string) {
	for _, t := range j.Stages[1].Tasks {
		split, _ := j.SplitOf(t)
		out = append(out, fmt.Sprint(j.CombineSetsOf(t)[0], split.Hosts))
	}
	return out
}

func wantShares(t *testing.T, j *Job, want ...string) {
	t.Helper()
	if got := sharesOf(j); !slices.Equal(got, want) {
		t.Errorf("shares are %v, want %v", got, want)
	}
}

func TestWhatEachMachineWroteIsCombinedThere(t *testing.T) {
	s, j := running(t, combined(4, 4))
	combine := j.Stages[1]
	runMaps(t, s, j, "n1", "n0", "n1")
	if j.Ready(combine) || combine.Located() {
		t.Error("the combiners are ready before all maps have finished")
	}
	wantShares(t, j, "[] []", "[] []", "[] []", "[] []")
	apply(t, s, StartAttempt{Task: mapTask(3), Machine: "n1", Range: whole})
	apply(t, s, finishTask(j, 0, 3))
	wantShares(t, j, "[1] [n0]", "[0 2 3] [n1]", "[] []", "[] []")
	if !j.Ready(combine) || !combine.Located() || !j.IsLocal(combine.Tasks[0], s.byName["n0"]) || j.IsLocal(combine.Tasks[1], s.byName["n0"]) {
		t.Error("the combiners are not ready, or it is not known where")
	}
	for host, want := range map[string]int{"n0": 0, "n1": 1} {
		for task := range combine.PendingOn(host) {
			if task.ID.Number != want {
				t.Errorf("on %s: %v", host, task.ID)
			}
		}
	}
}

func TestMoreMachinesThanCombinersShareThem(t *testing.T) {
	s, j := running(t, combined(4, 2))
	runMaps(t, s, j, "n2", "n1", "n0", "n1")
	wantShares(t, j, "[0 2] [n0]", "[1 3] [n1]")
}

// TestSharesStayAsTheyAreSettled loses a machine after the combine sets are settled, and
// runs its map on another machine.
func TestSharesStayAsTheyAreSettled(t *testing.T) {
	s, j := running(t, combined(3, 2))
	runMaps(t, s, j, "n0", "n1", "n1")
	want := []string{"[0] [n0]", "[1 2] [n1]"}
	wantShares(t, j, want...)
	apply(t, s, StartAttempt{Task: j.Stages[1].Tasks[0].ID, Machine: "n0"}, ExpireMachine{Name: "n1", Epoch: 1})
	wantStates(t, j, "SUCCEEDED PENDING PENDING | RUNNING PENDING | PENDING")
	if j.Ready(j.Stages[1]) {
		t.Error("the other combiner is ready though its share is lost")
	}
	for n := 1; n <= 2; n++ {
		apply(t, s, StartAttempt{Task: mapTask(n), Machine: []string{"", "n0", "n2"}[n], Range: whole})
		apply(t, s, finishTask(j, 0, n))
	}
	wantShares(t, j, want...)
	twin := restored(t, encoded(t, s))
	loadSplits(twin)
	wantShares(t, twin.jobs[0], want...)
	if !twin.jobs[0].Stages[1].Located() {
		t.Error("a restored state does not know where combiners are best off")
	}
	apply(t, s, finishTask(j, 1, 0), StartAttempt{Task: j.Stages[1].Tasks[1].ID, Machine: "n0"})
	apply(t, s, finishTask(j, 1, 1))
	if !j.EdgeComplete(1) {
		t.Error("the combiners have not finished")
	}
}

// splitsOf returns the numbers of the splits that a task reads.
func splitsOf(j *Job, t *Task) (splits []int) {
	for _, source := range j.SourcesOf(t) {
		splits = append(splits, source.Split)
	}
	return splits
}

// TestGroupsReadTheSplitsOfAllTheirSources checks groups of two Nodes that read splits and
// one Node that joins their records.
func TestGroupsReadTheSplitsOfAllTheirSources(t *testing.T) {
	s, j := running(t, dag.Graph{
		Stages: []dag.Stage{{Name: "left", Nodes: 2}, {Name: "right", Nodes: 4}, {Name: "join", Nodes: 2}},
		Edges: []dag.Edge{
			{From: "left", To: "join", Channel: dag.ChannelSHM, Connection: dag.OneToOne},
			{From: "right", To: "join", Channel: dag.ChannelTCP},
		},
	})
	group := j.Stages[0]
	if len(group.Tasks) != 2 || group.Slots != (Slots{1, 1}) || group.Slot != ReduceSlot || group.StartsAlone() || !group.Source || !group.Sink {
		t.Fatalf("groups are %+v", group)
	}
	for n, want := range [][]int{{0}, {1}} {
		if got := splitsOf(j, group.Tasks[n]); !slices.Equal(got, want) {
			t.Errorf("group %d reads splits %v, want %v", n, got, want)
		}
	}
	if got := splitsOf(j, j.Stages[1].Tasks[3]); !slices.Equal(got, []int{5}) {
		t.Errorf("the last right one reads splits %v", got)
	}
	apply(t, s, bundleStart(j, 0, 0, "n0", "n0", "n0", "n0", "n1", "n1"))
	if a, b := s.byName["n0"].Used, s.byName["n1"].Used; a != [2]int{4, 2} || b != [2]int{2, 0} {
		t.Errorf("slots used: %v and %v", a, b)
	}
}

func TestSplitsOfAGroupAreOne(t *testing.T) {
	s, j := running(t, dag.Graph{
		Stages: []dag.Stage{{Name: "one", Nodes: 4}, {Name: "two", Nodes: 2}, {Name: "sum", Nodes: 2}},
		Edges: []dag.Edge{
			{From: "one", To: "sum", Channel: dag.ChannelSHM},
			{From: "two", To: "sum", Channel: dag.ChannelSHM, Connection: dag.OneToOne},
		},
	})
	if len(j.Stages) != 1 || len(j.Stages[0].Tasks) != 1 {
		t.Fatalf("stages are %+v", j.Stages)
	}
	task := j.Stages[0].Tasks[0]
	split, ok := j.SplitOf(task)
	slices.Sort(split.Hosts) // hosts come in the order of the splits
	if want := (Split{Hosts: []string{"n0", "n1", "n2"}, Bytes: 600}); !ok || !reflect.DeepEqual(split, want) {
		t.Errorf("its input lies at %+v, want %+v", split, want)
	}
	if got := splitsOf(j, task); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5}) || j.RangeOf(task) != (dag.Range{}) {
		t.Errorf("it reads splits %v, %v", got, j.RangeOf(task))
	}
	wantRefused(t, s, "no free reduce slot on n0", bundleStart(j, 0, 0, "n0"))
	apply(t, s, JoinMachine{Name: "n3", Slots: Slots{6, 2}})
	wantRefused(t, s, "reads no split", StartBundle{Job: job1, Starts: []StartAttempt{{Task: task.ID, Machine: "n3", Range: whole}}})
	apply(t, s, bundleStart(j, 0, 0, "n3"))
	if used := s.byName["n3"].Used; used != (Slots{6, 2}) || s.byName["n3"].Free(MapSlot) != 0 {
		t.Errorf("slots used: %v", used)
	}
	wantRefused(t, s, "does not read a range now", SplitTask{newest(j, 0, 0), dag.Position{Offset: 50}})
	wantRefused(t, s, "runs in a bundle", SpeculateTask{task.ID, "n0"})
	apply(t, s, ExitAttempt{Attempt: newest(j, 0, 0)})
	if used := s.byName["n3"].Used; !used.IsZero() {
		t.Errorf("slots used after its end: %v", used)
	}
	apply(t, s, bundleStart(j, 0, 0, "n3"))
	if n := j.Bundles[0].Incarnation(0); n != 2 || j.Bundles[0].Gang {
		t.Errorf("incarnation %d of a gang: %v", n, j.Bundles[0].Gang)
	}
}

// TestReadersStartEarlyOnlyBesideTheirWriters checks a slow start of half. It applies only
// to readers that take no slots that their writers may need.
func TestReadersStartEarlyOnlyBesideTheirWriters(t *testing.T) {
	file, tcp := dag.ChannelFile, dag.ChannelTCP
	reader := dag.Stage{Name: "reader", Nodes: 1}
	for name, tt := range map[string]struct {
		more  []dag.Stage
		edges []dag.Edge
		want  [3]bool // ready after 1, 2 and 4 of 4 maps
	}{
		"another kind": {[]dag.Stage{reader}, []dag.Edge{{From: "map", To: "reader", Channel: file}}, [3]bool{false, true, true}},
		"one kind":     {[]dag.Stage{{Name: "reader", Nodes: 1, Slots: dag.SlotMap}}, []dag.Edge{{From: "map", To: "reader", Channel: file}}, [3]bool{false, false, true}},
		"its gang takes that kind": {[]dag.Stage{reader, {Name: "mate", Nodes: 1}}, []dag.Edge{
			{From: "map", To: "reader", Channel: file}, {From: "mate", To: "reader", Channel: tcp},
		}, [3]bool{false, false, true}},
		"per machine": {[]dag.Stage{reader, {Name: "top", Nodes: 1}}, []dag.Edge{
			{From: "map", To: "reader", Connection: dag.PerMachine}, {From: "reader", To: "top"},
		}, [3]bool{false, false, true}},
	} {
		g := dag.Graph{Stages: append([]dag.Stage{{Name: "map", Nodes: 4}}, tt.more...), Edges: tt.edges}
		s := New("1")
		spec := submit(0, 0)
		spec.Spec.Graph, spec.Spec.SlowStartPPM = g, 500_000
		mustApply(t, s, JoinMachine{Name: "n0", Slots: Slots{4, 4}}, spec)
		loadSplits(s)
		mustApply(t, s, StartJob{job1})
		j := s.jobs[0]
		var got [3]bool
		for n := range 4 {
			runOne(t, s, j, n)
			if i := slices.Index([]int{1, 2, 4}, n+1); i >= 0 {
				got[i] = j.Ready(j.StageOf("reader"))
			}
		}
		if got != tt.want {
			t.Errorf("%s: ready: %v, want %v", name, got, tt.want)
		}
	}
}

// runOne runs map n on n0.
func runOne(t *testing.T, s *State, j *Job, n int) {
	t.Helper()
	apply(t, s, StartAttempt{Task: mapTask(n), Machine: "n0", Range: whole})
	apply(t, s, finishTask(j, 0, n))
}
