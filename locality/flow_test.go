package locality

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/testing/testlevel"
)

// problem is a small random cluster with tasks.
type problem struct {
	topology *Topology
	machines []Machine
	demands  []Demand
}

func randomProblem(r *rand.Rand) problem {
	p := problem{topology: NewTopology(map[string]string{"far": "/r9"})}
	p.topology.Add(Machine{Name: "full", Rack: "/r1"}) // not one of the offered machines
	for i := range 1 + r.IntN(4) {
		m := Machine{Name: fmt.Sprintf("m%d", i), Hosts: []string{fmt.Sprintf("10.0.0.%d", i)}, Rack: fmt.Sprintf("/r%d", r.IntN(2)), Free: r.IntN(3), Used: r.IntN(3)}
		p.topology.Add(m)
		p.machines = append(p.machines, m)
	}
	for range 1 + r.IntN(2) {
		var d Demand
		for range r.IntN(5) {
			d.Tasks = append(d.Tasks, randomTask(r))
		}
		d.Grant = r.IntN(len(d.Tasks) + 1)
		if r.IntN(4) == 0 {
			d.Avoid = []string{"m1"}
		}
		p.demands = append(p.demands, d)
	}
	return p
}

func randomTask(r *rand.Rand) (t Task) {
	if r.IntN(5) == 0 {
		t.Avoid = []string{"m0", "m2"}
	}
	hosts := []string{"m0", "10.0.0.0", "m1", "m2", "10.0.0.3", "far", "unknown"}
	for range r.IntN(3) {
		b := Block{Bytes: r.Int64N(100)}
		for range r.IntN(3) {
			b.Hosts = append(b.Hosts, hosts[r.IntN(len(hosts))])
		}
		t.Blocks = append(t.Blocks, b)
	}
	if r.IntN(3) == 0 {
		t.CheckpointOn = []string{"m0", "m1", "m2", "m3", "full", "far", "unknown"}[r.IntN(7)]
	}
	return t
}

// tryAll returns the largest number of tasks that can start, and the lowest cost for that
// number, by trying all placements.
func (p problem) tryAll() (most int, least int64) {
	places := newMachineIndex(p.topology, p.machines)
	free := make([]int, len(p.machines))
	for i, m := range p.machines {
		free[i] = m.Free
	}
	most = -1
	var place func(d, i, granted, count int, cost int64)
	place = func(d, i, granted, count int, cost int64) {
		if d == len(p.demands) {
			if count > most || count == most && cost < least {
				most, least = count, cost
			}
			return
		}
		if i == len(p.demands[d].Tasks) {
			place(d+1, 0, 0, count, cost)
			return
		}
		place(d, i+1, granted, count, cost)
		if granted == p.demands[d].Grant {
			return
		}
		for m := range free {
			if free[m] > 0 && !slices.Contains(places.avoided(p.demands[d], p.demands[d].Tasks[i]), m) {
				free[m]--
				place(d, i+1, granted+1, count+1, cost+places.distance(p.demands[d].Tasks[i], m))
				free[m]++
			}
		}
	}
	place(0, 0, 0, 0, 0)
	return most, least
}

func TestFlowFindsWhatTryingAllFinds(t *testing.T) {
	for seed := range testlevel.Seeds(500, 6000) {
		p := randomProblem(rand.New(rand.NewPCG(seed, 0)))
		places := newMachineIndex(p.topology, p.machines)
		starts := p.topology.Flow(p.machines, p.demands)
		checkStarts(t, p, starts)
		var cost int64
		for _, s := range starts {
			cost += places.distance(p.demands[s.Demand].Tasks[s.Task], s.Machine)
		}
		if most, least := p.tryAll(); len(starts) != most || cost != least {
			t.Fatalf("seed %d: %d starts that cost %d, trying all gives %d at %d\n%+v", seed, len(starts), cost, most, least, p)
		}
		if again := p.topology.Flow(p.machines, p.demands); !reflect.DeepEqual(starts, again) {
			t.Fatalf("seed %d: a second run gives %v, the first gave %v", seed, again, starts)
		}
	}
}

func checkStarts(t *testing.T, p problem, starts []Start) {
	t.Helper()
	used, granted := make([]int, len(p.machines)), make([]int, len(p.demands))
	seen := make(map[[2]int]bool)
	for _, s := range starts {
		used[s.Machine]++
		granted[s.Demand]++
		if seen[[2]int{s.Demand, s.Task}] {
			t.Fatalf("task %d of demand %d starts twice", s.Task, s.Demand)
		}
		seen[[2]int{s.Demand, s.Task}] = true
	}
	for i, m := range p.machines {
		if used[i] > m.Free {
			t.Fatalf("machine %d gets %d tasks for %d slots", i, used[i], m.Free)
		}
	}
	for i, d := range p.demands {
		if granted[i] > d.Grant {
			t.Fatalf("demand %d gets %d of %d", i, granted[i], d.Grant)
		}
	}
}

func on(bytes int64, hosts ...string) Task {
	return Task{Blocks: []Block{{Hosts: hosts, Bytes: bytes}}}
}

func machine(name, rack string, free, used int) Machine {
	return Machine{Name: name, Rack: rack, Free: free, Used: used}
}

func joined(machines ...Machine) *Topology {
	t := NewTopology(nil)
	for _, m := range machines {
		t.Add(m)
	}
	return t
}

func TestLevels(t *testing.T) {
	machines := []Machine{machine("a", "/1", 1, 0), machine("b", "/1", 1, 0), machine("c", "/2", 1, 0)}
	topology := joined(machines...)
	tasks := []Task{on(10, "a"), on(9, "a"), on(8, "nowhere")}
	got := topology.Flow(machines, []Demand{{Tasks: tasks, Grant: 3}})
	want := []Start{{0, 0, 0, MachineLocal}, {0, 1, 1, RackLocal}, {0, 2, 2, Remote}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("starts are %v, want %v", got, want)
	}
}

func TestLargeTasksGoBeforeSmallOnes(t *testing.T) {
	machines := []Machine{machine("a", "", 1, 0), machine("b", "", 1, 0)}
	starts := joined(machines...).Flow(machines, []Demand{{Tasks: []Task{on(10, "a"), on(1<<40, "a")}, Grant: 2}})
	if want := (Start{0, 1, 0, MachineLocal}); starts[0] != want {
		t.Errorf("the first start is %v, want %v", starts[0], want)
	}
}

// TestCostsOfHugeTasksDoNotOverflow places many tasks of an exbibyte each on few slots. The
// only two tasks whose input is local get the slots.
func TestCostsOfHugeTasksDoNotOverflow(t *testing.T) {
	machines := []Machine{machine("a", "", 1, 0), machine("b", "", 1, 0)}
	tasks := append(slices.Repeat([]Task{on(1<<60, "nowhere")}, 3000), on(1<<60, "b"), on(1<<60, "a"))
	starts := joined(machines...).Flow(machines, []Demand{{Tasks: tasks, Grant: 2}})
	if want := []Start{{0, 3001, 0, MachineLocal}, {0, 3000, 1, MachineLocal}}; !slices.Equal(starts, want) {
		t.Errorf("starts are %v, want %v", starts, want)
	}
}

func TestFlowSpreadsLoad(t *testing.T) {
	var machines []Machine
	var all []string
	for i := range 5 {
		machines = append(machines, machine(fmt.Sprint(i), "", 4, 0))
		all = append(all, fmt.Sprint(i))
	}
	machines[2].Used, machines[2].Free = 2, 2
	for name, task := range map[string]Task{"far away": on(1, "nowhere"), "on all": on(1, all...), "without input": {}} {
		starts := joined(machines...).Flow(machines, []Demand{{Tasks: slices.Repeat([]Task{task}, 8), Grant: 8}})
		count := make([]int, len(machines))
		for _, s := range starts {
			count[s.Machine]++
		}
		if !slices.Equal(count, []int{2, 2, 0, 2, 2}) {
			t.Errorf("%s: machines get %v tasks", name, count)
		}
	}
}

// TestQuotaMakesTasksWaitForTheirCheckpoint checks that a checkpointed task waits for the
// machine of its checkpoint although a slot is free where its input is.
func TestQuotaMakesTasksWaitForTheirCheckpoint(t *testing.T) {
	machines := []Machine{machine("a", "", 0, 2), machine("b", "", 2, 0)}
	checkpointed := on(9, "b")
	checkpointed.CheckpointOn = "a"
	for _, tt := range []struct {
		quota []int
		want  []Start
	}{
		{[]int{1, 2}, []Start{{0, 1, 1, MachineLocal}}},
		{[]int{0, 2}, []Start{{0, 0, 1, MachineLocal}, {0, 1, 1, MachineLocal}}},
	} {
		demand := Demand{Tasks: []Task{checkpointed, on(1, "b")}, Quota: tt.quota}
		if got := joined(machines...).Flow(machines, []Demand{demand}); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("with quotas of %v starts are %v, want %v", tt.quota, got, tt.want)
		}
	}
}

func TestQuotaMakesTasksWait(t *testing.T) {
	machines := []Machine{machine("a", "", 0, 2), machine("b", "", 2, 0)}
	demand := Demand{Tasks: []Task{on(1, "a"), on(1, "a"), on(1, "a"), on(1, "b")}, Quota: []int{2, 2}}
	got := joined(machines...).Flow(machines, []Demand{demand})
	if len(got) != 2 || got[0] != (Start{0, 3, 1, MachineLocal}) || got[1].Machine != 1 {
		t.Errorf("starts are %v, want the last task and one for which a has no quota, both on b", got)
	}
}
