package task

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

func edges(numbers ...int) (channels []Channel) {
	for _, n := range numbers {
		channels = append(channels, Channel{Edge: n, Kind: dag.ChannelFile})
	}
	return channels
}

func wantChanges(t *testing.T, f *fetchedSets, want string) {
	t.Helper()
	got := ""
	for _, update := range f.takeChanges() {
		got += fmt.Sprintf("%d:%08b ", update.Edge, update.Nodes)
	}
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFetchedIsWhatAllReadersHave checks the report if two Nodes read edge 0, and one of
// them edge 1.
func TestFetchedIsWhatAllReadersHave(t *testing.T) {
	var f fetchedSets
	f.expect(edges(0, 1))
	f.expect(edges(0))
	wantChanges(t, &f, "")
	one := &Reduce{Node: new(NodeRun), channels: edges(0, 1), fetched: map[int]nodeSet{1: nodeSet(nil).with(9)}}
	f.open(one)
	f.add(one, &taskproc.MapOutput{Task: 2})
	wantChanges(t, &f, "0:[] 1:[00000000 00000010] ")
	two := &Reduce{Node: new(NodeRun), channels: edges(0)}
	f.open(two)
	wantChanges(t, &f, "0:[] ")
	for _, task := range []int32{2, 3} {
		f.add(two, &taskproc.MapOutput{Task: task})
	}
	wantChanges(t, &f, "0:[00000100] ")
	wantChanges(t, &f, "")
	f.resendAll()
	wantChanges(t, &f, "0:[00000100] 1:[00000000 00000010] ")
	third := &Reduce{Node: two.Node, channels: edges(0)} // a second reduce of the Node that reads edge 0
	f.open(third)
	wantChanges(t, &f, "0:[] ")
	f.remove(third)
	wantChanges(t, &f, "0:[00000100] ")
}

// TestReduceReportsFetchedOutputs checks the report of a reduce that has fetched all
// outputs.
func TestReduceReportsFetchedOutputs(t *testing.T) {
	machines := []*machine{newMachine(t, withoutErrors), newMachine(t, withoutErrors)}
	outputs := scatter(t, rand.New(rand.NewPCG(1, 2)), 10, machines...)
	looked := false
	p := &reducer{between: func(n *NodeRun) {
		if !looked {
			n.group.fetched.resendAll()
			wantChanges(t, &n.group.fetched, "0:[11111111 00000011] ")
		}
		looked = true
	}}
	run := startReduce(t, p, &taskproc.Start{Maps: 10, ShuffleAddress: machines[0].address})
	run.report(true, outputs...)
	if last := run.finish(); last.GetFinished() == nil || !looked {
		t.Errorf("last message %v, looked: %v", last, looked)
	}
}
