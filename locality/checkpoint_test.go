package locality

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/testing/testlevel"
)

func TestNoMachineIsNearerThanThatOfTheCheckpoint(t *testing.T) {
	for seed := range testlevel.Seeds(500, 6000) {
		p := randomProblem(rand.New(rand.NewPCG(seed, 1)))
		places := newMachineIndex(p.topology, p.machines)
		for _, d := range p.demands {
			for _, task := range d.Tasks {
				checkpointMachine, ok := places.byName[task.CheckpointOn]
				for m := range p.machines {
					if cost := places.distance(task, m); ok && (cost == 0) != (m == checkpointMachine) {
						t.Fatalf("seed %d: %+v costs %d on machine %d; its home is %d", seed, task, cost, m, checkpointMachine)
					}
				}
			}
		}
	}
}

// TestCheckpointOnUnknownMachine checks a task with a checkpoint on an unknown machine: the
// task costs more on every machine by the same amount.
func TestCheckpointOnUnknownMachine(t *testing.T) {
	for seed := range testlevel.Seeds(500, 1500) {
		p := randomProblem(rand.New(rand.NewPCG(seed, 2)))
		task := randomTask(rand.New(rand.NewPCG(seed, 3)))
		plain := task
		task.CheckpointOn, plain.CheckpointOn = "unknown", ""
		places := newMachineIndex(p.topology, p.machines)
		more := places.distance(task, 0) - places.distance(plain, 0)
		for m := range p.machines {
			if got := places.distance(task, m) - places.distance(plain, m); got != more {
				t.Fatalf("seed %d: on machine %d it costs %d more, on the first %d", seed, m, got, more)
			}
			if places.level(task, m) != places.level(plain, m) {
				t.Fatalf("seed %d: it is nearer to its input", seed)
			}
		}
	}
}

// TestEnoughSlotsStartEachTaskAtItsCheckpoint checks that with enough slots on every
// machine, each task starts where its checkpoint is.
func TestEnoughSlotsStartEachTaskAtItsCheckpoint(t *testing.T) {
	lost := 0
	for seed := range testlevel.Seeds(500, 3000) {
		p := randomProblem(rand.New(rand.NewPCG(seed, 4)))
		for i := range p.machines {
			p.machines[i].Free = 10
		}
		waiting := slices.Repeat([]Level{MachineLocal}, len(p.machines))
		for i := range p.demands {
			p.demands[i].Grant = len(p.demands[i].Tasks)
			demand := p.demands[i : i+1]
			lost += checkCheckpoints(t, p, demand[0], p.topology.Flow(p.machines, demand))
			checkCheckpoints(t, p, demand[0], p.topology.Nearest(p.machines, waiting, demand[0]))
		}
	}
	if lost < testlevel.Choose(50, 300) {
		t.Errorf("%d tasks only went home", lost)
	}
}

// checkCheckpoints returns the number of starts on the machine of the task's checkpoint, and
// fails unless it is as large as possible.
func checkCheckpoints(t *testing.T, p problem, d Demand, starts []Start) (lost int) {
	t.Helper()
	places := newMachineIndex(p.topology, p.machines)
	at := make(map[int]int)
	for _, s := range starts {
		at[s.Task] = s.Machine
	}
	for i, task := range d.Tasks {
		checkpointMachine, ok := places.byName[task.CheckpointOn]
		if !ok || slices.Contains(places.avoided(d, task), checkpointMachine) {
			continue
		}
		if m, started := at[i]; !started || m != checkpointMachine {
			t.Fatalf("task %d starts: %v, on %d; its home is %d\n%+v", i, started, m, checkpointMachine, p)
		}
		lost++
	}
	return lost
}

// TestFlowPrefersCheckpoint checks one task, whose checkpoint is on machine c.
func TestFlowPrefersCheckpoint(t *testing.T) {
	checkpointed := on(1<<30, "a")
	checkpointed.CheckpointOn = "c"
	for _, tt := range []struct {
		name   string
		free   [3]int
		others []Task
		want   []Start
	}{
		{"before its input", [3]int{1, 1, 1}, nil, []Start{{0, 0, 2, Remote}}},
		{"to its input when that is full", [3]int{1, 1, 0}, nil, []Start{{0, 0, 0, MachineLocal}}},
		{"anywhere when both are", [3]int{0, 1, 0}, nil, []Start{{0, 0, 1, RackLocal}}},
		{"before another that is local", [3]int{0, 1, 1}, []Task{on(1<<30, "c")}, []Start{{0, 1, 1, Remote}, {0, 0, 2, Remote}}},
		{"once of two", [3]int{1, 1, 1}, []Task{checkpointed}, []Start{{0, 0, 0, MachineLocal}, {0, 1, 2, Remote}}},
		{"beside another that is local there", [3]int{1, 0, 1}, []Task{on(1<<30, "a")}, []Start{{0, 1, 0, MachineLocal}, {0, 0, 2, Remote}}},
	} {
		machines := []Machine{machine("a", "/1", tt.free[0], 0), machine("b", "/1", tt.free[1], 0), machine("c", "/2", tt.free[2], 0)}
		tasks := append([]Task{checkpointed}, tt.others...)
		got := joined(machines...).Flow(machines, []Demand{{Tasks: tasks, Grant: len(tasks)}})
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
