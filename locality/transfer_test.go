package locality

import "testing"

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
