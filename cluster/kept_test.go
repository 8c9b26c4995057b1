package cluster

import (
	"slices"
	"testing"

	"github.com/hammr/hammr/dag"
)

// sharedFiles is a graph in which two stages read the same files.
func sharedFiles() dag.Graph {
	return dag.Graph{
		Stages: []dag.Stage{{Name: "map", Nodes: 2}, {Name: "one", Nodes: 2}, {Name: "two", Nodes: 2}},
		Edges: []dag.Edge{
			{From: "map", To: "one", Connection: dag.OneToOne},
			{From: "map", To: "two", Connection: dag.OneToOne, FilesOf: "one"},
		},
	}
}

// TestReadersOfKeptFilesRunNearThem checks that the readers of a one-to-one file are located at
// the machines of its writers once all have finished.
func TestReadersOfKeptFilesRunNearThem(t *testing.T) {
	s, j := running(t, sharedFiles())
	runMaps(t, s, j, "n1")
	if j.Stages[1].Located() {
		t.Error("the readers are located before all writers have finished")
	}
	apply(t, s, StartAttempt{Task: mapTask(1), Machine: "n0", Range: whole})
	apply(t, s, finishTask(j, 0, 1))
	for _, stage := range j.Stages[1:] {
		for n, machine := range []string{"n1", "n0"} {
			if split, _ := j.SplitOf(stage.Tasks[n]); !slices.Equal(split.Hosts, []string{machine}) {
				t.Errorf("the file of task %d of %s is on %v, want %s", n, stage.Name, split.Hosts, machine)
			}
		}
		if !stage.Located() {
			t.Errorf("the tasks of %s are not in the index of hosts", stage.Name)
		}
		if len(j.CombineSetsOf(stage.Tasks[0])) > 0 {
			t.Errorf("%s combines per machine", stage.Name)
		}
	}
}
