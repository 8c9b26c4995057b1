package locality

import (
	"reflect"
	"slices"
	"testing"
)

func TestTopology(t *testing.T) {
	topology := NewTopology(map[string]string{"10.0.0.2": "/two", "datanode": "/two"})
	for _, tt := range []struct {
		m    Machine
		want string
	}{
		{Machine{Name: "a"}, DefaultRack},
		{Machine{Name: "b", Hosts: []string{"10.0.0.2"}}, "/two"},
		{Machine{Name: "c", Hosts: []string{"10.0.0.2"}, Rack: "/told"}, "/told"},
	} {
		if got := topology.Add(tt.m); got != tt.want {
			t.Errorf("%s is in %s, want %s", tt.m.Name, got, tt.want)
		}
	}
	if rack, ok := topology.RackOfHost("datanode"); !ok || rack != "/two" {
		t.Errorf("a host of the table is in %q, %v", rack, ok)
	}
	if rack, ok := topology.RackOfHost("stranger"); ok {
		t.Errorf("a host that is unknown is in %q", rack)
	}
}

func TestSpread(t *testing.T) {
	machines := []Machine{machine("a", "", 3, 0), machine("b", "", 2, 0), machine("c", "", 1, 1), machine("d", "", 0, 2)}
	for _, tt := range []struct {
		name  string
		tasks int
		a     Affinity
		want  []int
	}{
		{"by load", 5, Affinity{}, []int{0, 1, 0, 1, 2}},
		{"until slots run out", 9, Affinity{}, []int{0, 1, 0, 1, 2, 0}},
		{"by bytes, but not piled up", 4, Affinity{Running: []int{0, 0, 0, 0}, Bytes: []int64{1, 5, 9, 99}}, []int{2, 1, 0, 1}},
		{"beside those that run", 2, Affinity{Running: []int{1, 1, 0, 0}, Bytes: []int64{1, 5, 0, 0}}, []int{2, 1}},
	} {
		if got := Spread(machines, tt.tasks, tt.a); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if got := InOrder(machines, 2); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("in order: %v", got)
	}
}

func TestDelay(t *testing.T) {
	d := Delay{MachineWait: 10, RackWait: 5}
	for _, tt := range []struct {
		waited, left int64
		level        Level
	}{{0, 10, MachineLocal}, {9, 1, MachineLocal}, {10, 5, RackLocal}, {14, 1, RackLocal}, {15, 0, Remote}, {1000, 0, Remote}} {
		if level, left := d.Level(tt.waited), d.Remaining(tt.waited); level != tt.level || left != tt.left {
			t.Errorf("after %d ms: %v for %d, want %v for %d", tt.waited, level, left, tt.level, tt.left)
		}
	}
	if d := (Delay{}); d.Level(0) != Remote {
		t.Error("without a delay a slot waits")
	}
}

// TestNearestPrefersCheckpoint checks checkpointed tasks, some with input on other machines,
// with slots that wait for local tasks.
func TestNearestPrefersCheckpoint(t *testing.T) {
	machines := []Machine{machine("a", "/1", 1, 0), machine("b", "/1", 1, 0), machine("c", "/2", 1, 0)}
	waiting := []Level{MachineLocal, MachineLocal, MachineLocal}
	checkpointed := func(checkpointMachine string, t Task) Task {
		t.CheckpointOn = checkpointMachine
		return t
	}
	for _, tt := range []struct {
		name    string
		allowed []Level
		tasks   []Task
		want    []Start
	}{
		{"before its input", waiting, []Task{checkpointed("c", on(1, "a"))}, []Start{{0, 0, 2, Remote}}},
		{"before others", waiting, []Task{on(1, "c"), checkpointed("c", on(1, "a"))}, []Start{{0, 1, 2, Remote}}},
		{"which go where they are local too", waiting, []Task{on(1, "b", "c"), checkpointed("c", on(1, "a"))}, []Start{{0, 1, 2, Remote}, {0, 0, 1, MachineLocal}}},
		{"one of two, the other to its input", waiting, []Task{checkpointed("c", on(1, "a")), checkpointed("c", on(1, "a"))}, []Start{{0, 0, 2, Remote}, {0, 1, 0, MachineLocal}}},
		{"the other waits", waiting, []Task{checkpointed("c", on(1, "c")), checkpointed("c", on(1, "c"))}, []Start{{0, 0, 2, MachineLocal}}},
		{"until it has waited", []Level{RackLocal, Remote, MachineLocal}, []Task{checkpointed("c", on(1, "c")), checkpointed("c", on(1, "c"))}, []Start{{0, 0, 2, MachineLocal}, {0, 1, 1, Remote}}},
		{"without input", waiting, []Task{checkpointed("c", Task{})}, []Start{{0, 0, 2, Remote}}},
		{"not where it is avoided", waiting, []Task{checkpointed("c", Task{Avoid: []string{"c"}})}, []Start{{0, 0, 0, Remote}}},
		{"not to one that is not there", waiting, []Task{checkpointed("d", on(1, "b"))}, []Start{{0, 0, 1, MachineLocal}}},
	} {
		got := joined(machines...).Nearest(machines, tt.allowed, Demand{Tasks: tt.tasks, Grant: len(tt.tasks)})
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestNearest(t *testing.T) {
	machines := []Machine{machine("a", "/1", 2, 0), machine("b", "/1", 2, 0), machine("c", "/2", 2, 0)}
	tasks := []Task{on(1, "a"), on(1, "a"), on(1, "a"), on(1, "a"), on(1, "c"), {}}
	for _, tt := range []struct {
		name    string
		allowed []Level
		grant   int
		want    []Start
	}{
		{"local ones only", []Level{MachineLocal, MachineLocal, MachineLocal}, 6, []Start{{0, 0, 0, MachineLocal}, {0, 1, 0, MachineLocal}, {0, 4, 2, MachineLocal}, {0, 5, 1, Remote}}},
		{"one rack allows more", []Level{MachineLocal, RackLocal, MachineLocal}, 6, []Start{{0, 0, 0, MachineLocal}, {0, 1, 0, MachineLocal}, {0, 4, 2, MachineLocal}, {0, 5, 1, Remote}, {0, 2, 1, RackLocal}}},
		{"anything goes", []Level{MachineLocal, RackLocal, Remote}, 6, []Start{{0, 0, 0, MachineLocal}, {0, 1, 0, MachineLocal}, {0, 4, 2, MachineLocal}, {0, 5, 1, Remote}, {0, 2, 1, RackLocal}, {0, 3, 2, Remote}}},
		{"no more than the grant", []Level{Remote, Remote, Remote}, 2, []Start{{0, 0, 0, MachineLocal}, {0, 1, 0, MachineLocal}}},
	} {
		got := joined(machines...).Nearest(machines, tt.allowed, Demand{Tasks: tasks, Grant: tt.grant})
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestTransferCostIsTheCostInAFlow compares Cost with the distance that the flow uses.
func TestTransferCostIsTheCostInAFlow(t *testing.T) {
	topology := NewTopology(nil)
	machines := []Machine{{Name: "a", Rack: "/1"}, {Name: "b", Rack: "/1"}, {Name: "c", Rack: "/2"}}
	for _, m := range machines {
		topology.Add(m)
	}
	task := Task{Blocks: []Block{{Hosts: []string{"a", "c"}, Bytes: 10}, {Hosts: []string{"b"}, Bytes: 5}, {Hosts: []string{"stranger"}, Bytes: 2}}}
	want := []Transfer{{Local: 10, Rack: 5, Remote: 2}, {Local: 5, Rack: 10, Remote: 2}, {Local: 10, Remote: 7}}
	for i, m := range machines {
		got := topology.Transfer(task, m)
		if got != want[i] {
			t.Errorf("to %s: %+v, want %+v", m.Name, got, want[i])
		}
		if distance := newMachineIndex(topology, machines).distance(task, i); got.Cost() != distance {
			t.Errorf("to %s: cost %d, distance %d", m.Name, got.Cost(), distance)
		}
	}
}
