package locality

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

func group(maps int, t Task) Group { return Group{Task: t, Slots: dag.Slots{maps, 0}} }

// machineSlots returns the free slots of machines, all of one kind.
func machineSlots(machines []Machine) (out []MachineSlots) {
	for _, m := range machines {
		out = append(out, MachineSlots{Free: dag.Slots{m.Free, 0}, Used: dag.Slots{m.Used, 0}})
	}
	return out
}

func TestBundle(t *testing.T) {
	racks := []Machine{machine("a", "/1", 2, 0), machine("b", "/1", 2, 1), machine("c", "/2", 2, 0), machine("d", "/2", 3, 0)}
	for _, tt := range []struct {
		name   string
		groups []Group
		want   []int // nil: the gang does not start
	}{
		{"one machine, near the input", []Group{group(1, on(1, "b")), group(1, Task{})}, []int{1, 1}},
		{"one machine, the one with less to do", []Group{group(1, on(1, "a", "b")), group(1, Task{})}, []int{0, 0}},
		{"one machine, the only one with enough slots", []Group{group(2, on(1, "b")), group(1, Task{})}, []int{3, 3}},
		{"one machine, the only one that no group avoids", []Group{group(1, Task{Avoid: []string{"a", "b"}}), group(1, Task{Avoid: []string{"d"}})}, []int{2, 2}},
		{"one rack, near the input", []Group{group(1, on(1, "b")), group(1, on(1, "a")), group(1, Task{}), group(1, Task{})}, []int{1, 0, 0, 1}},
		{"one rack, the only one with enough slots", []Group{group(1, on(9, "a")), group(2, Task{}), group(2, Task{})}, []int{3, 2, 3}},
		{"several racks", []Group{group(2, Task{}), group(2, Task{}), group(2, Task{}), group(3, Task{})}, []int{0, 1, 2, 3}},
		{"others leave slots for a large one", []Group{group(2, on(1, "d")), group(2, on(1, "c")), group(3, on(1, "a")), group(2, Task{})}, []int{0, 2, 3, 1}},
		{"too many slots", []Group{group(5, Task{}), group(5, Task{})}, nil},
		{"a group larger than any machine", []Group{group(4, Task{})}, nil},
		{"avoided by all", []Group{group(1, Task{Avoid: []string{"a", "b", "c", "d"}})}, nil},
	} {
		got, ok := joined(racks...).GangPlacer(racks).Place(machineSlots(racks), tt.groups)
		if ok != (tt.want != nil) || !sameLoad(tt.groups, got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// sameLoad reports whether each machine gets the same number of slots, and groups with input
// are on the expected machines.
func sameLoad(groups []Group, got, want []int) bool {
	load := make(map[int]int)
	for g := range got {
		load[got[g]] += groups[g].Slots.Total()
		load[want[g]] -= groups[g].Slots.Total()
		if len(groups[g].Blocks) > 0 && len(groups) < 3 && got[g] != want[g] {
			return false
		}
	}
	for _, n := range load {
		if n != 0 {
			return false
		}
	}
	return len(got) == len(want)
}

// gang is a small random gang on a small random cluster.
type gang struct {
	problem
	machineSlots []MachineSlots
	groups       []Group
}

// randomGang returns a gang of groups of up to most slots of each kind.
func randomGang(r *rand.Rand, most int) gang {
	g := gang{problem: randomProblem(r)}
	for range g.machines {
		g.machineSlots = append(g.machineSlots, MachineSlots{Free: dag.Slots{r.IntN(4) - 1, r.IntN(3)}, Used: dag.Slots{r.IntN(2), r.IntN(2)}})
	}
	for range 1 + r.IntN(4) {
		slots := dag.Slots{r.IntN(most + 1), r.IntN(most + 1)}
		if slots.Total() == 0 || most == 1 {
			slots = dag.Slots{}
			slots[r.IntN(2)] = 1
		}
		g.groups = append(g.groups, Group{Task: randomTask(r), Slots: slots})
	}
	if r.IntN(3) > 0 || slices.ContainsFunc(g.groups, func(group Group) bool { return len(group.Avoid) > 0 }) {
		return g
	}
	memory := dag.Slots{1 + r.IntN(3), 1 + r.IntN(4)}
	for i := range g.machineSlots {
		g.machineSlots[i].FreeMB = int64(r.IntN(9))
	}
	for i, group := range g.groups {
		g.groups[i].MemoryMB = int64(group.Slots[0]*memory[0] + group.Slots[1]*memory[1])
	}
	return g
}

// best returns how close together the gang can be placed (0 on a machine, 1 in a rack, 2
// anywhere), and the lowest transfer cost for that, by trying all placements; far is 3 if
// the gang does not fit.
func (g gang) best() (far int, cost int64) {
	places, at := newMachineIndex(g.topology, g.machines), make([]int, len(g.groups))
	far = 3
	var place func(i int)
	place = func(i int) {
		if i == len(at) {
			if f, c := g.measure(places, at); f < far || f == far && c < cost {
				far, cost = f, c
			}
			return
		}
		for m := range g.machines {
			at[i] = m
			place(i + 1)
		}
	}
	place(0)
	return far, cost
}

// measure returns how far apart a placement is, and its transfer cost; far is 3 if the
// argument is not a placement.
func (g gang) measure(places *machineIndex, at []int) (far int, cost int64) {
	load, memory := make([]dag.Slots, len(g.machines)), make([]int64, len(g.machines))
	for i, m := range at {
		load[m], memory[m] = load[m].Plus(g.groups[i].Slots), memory[m]+g.groups[i].MemoryMB
		if !load[m].FitsIn(g.machineSlots[m].Free) || memory[m] > max(g.machineSlots[m].FreeMB, 0) || slices.Contains(g.groups[i].Avoid, g.machines[m].Name) {
			return 3, 0
		}
		switch {
		case places.rackOf[m] != places.rackOf[at[0]]:
			far = 2
		case m != at[0]:
			far = max(far, 1)
		}
		cost += places.distance(g.groups[i].Task, m)
	}
	if slices.ContainsFunc(g.groups, func(group Group) bool { return group.CheckpointOn != "" }) {
		far = 1 // closeness does not matter: the transfer decides
	}
	return far, cost
}

func TestBundleFindsWhatTryingAllFinds(t *testing.T) {
	count := make(map[int]int)
	for seed := range testlevel.Seeds(2000, 45_000) {
		most := 1 + int(seed%3)
		g := randomGang(rand.New(rand.NewPCG(seed, 3)), most)
		at, ok := g.topology.GangPlacer(g.machines).Place(g.machineSlots, g.groups)
		far, cost := g.best()
		count[far]++
		if ok != (far < 3) {
			t.Fatalf("seed %d: placed at %v, trying all gives distance %d\n%+v", seed, at, far, g)
		}
		if fits := g.topology.GangPlacer(g.machines).Fits(g.machineSlots, g.groups); fits != ok {
			t.Fatalf("seed %d: placed is %v, fits is %v", seed, ok, fits)
		}
		if !ok {
			continue
		}
		gotFar, gotCost := g.measure(newMachineIndex(g.topology, g.machines), at)
		if gotFar != far || gotCost < cost || gotCost > cost && (most == 1 && g.groups[0].MemoryMB == 0 || far == 0) {
			t.Fatalf("seed %d: %v is %d apart and costs %d, trying all gives %d and %d\n%+v", seed, at, gotFar, gotCost, far, cost, g)
		}
		if again, _ := g.topology.GangPlacer(g.machines).Place(g.machineSlots, g.groups); !slices.Equal(again, at) {
			t.Fatalf("seed %d: a second run gives %v, the first gave %v", seed, again, at)
		}
	}
	for far := range 4 {
		if count[far] < testlevel.Choose(6, 300) {
			t.Errorf("%d cases with distance %d", count[far], far)
		}
	}
}

// TestGangFillsMemory places a gang that fits only if b runs maps alone.
func TestGangFillsMemory(t *testing.T) {
	machines := []Machine{machine("a", "/1", 0, 0), machine("b", "/1", 0, 0), machine("c", "/1", 0, 0)}
	free := []MachineSlots{{Free: dag.Slots{1, 2}, FreeMB: 8}, {Free: dag.Slots{4, 2}, FreeMB: 8}, {Free: dag.Slots{1, 2}, FreeMB: 8}}
	groups := slices.Repeat([]Group{{Slots: dag.Slots{1, 0}, MemoryMB: 2}}, 5)
	groups = append(groups, slices.Repeat([]Group{{Slots: dag.Slots{0, 1}, MemoryMB: 4}}, 3)...)
	at, ok := joined(machines...).GangPlacer(machines).Place(free, groups)
	memory := make([]int64, len(machines))
	for i, m := range at {
		memory[m] += groups[i].MemoryMB
	}
	if !ok || slices.Max(memory) > 8 {
		t.Errorf("placed: %v, at %v, with %v MiB", ok, at, memory)
	}
}

func TestCountIn(t *testing.T) {
	for _, tt := range []struct {
		slots, free dag.Slots
		want        int
	}{
		{dag.Slots{1, 0}, dag.Slots{3, 0}, 3}, {dag.Slots{2, 0}, dag.Slots{3, 9}, 1}, {dag.Slots{2, 1}, dag.Slots{9, 2}, 2},
		{dag.Slots{0, 2}, dag.Slots{-1, 5}, 2}, {dag.Slots{1, 0}, dag.Slots{-1, 5}, 0},
	} {
		if got := tt.slots.CountIn(tt.free); got != tt.want {
			t.Errorf("%v goes %d times into %v, want %d", tt.slots, got, tt.free, tt.want)
		}
	}
}
