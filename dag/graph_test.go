package dag

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestMapReduceIsAGraph(t *testing.T) {
	g := MapReduce(3, 2)
	must.Do(t, g.Validate())
	want := "stage \"map\" 3 map\nstage \"reduce\" 2 reduce\nedge \"map\" -> \"reduce\" file all-to-all\n"
	if g.String() != want {
		t.Errorf("graph is\n%swant\n%s", g, want)
	}
	if only := MapReduce(3, 0); len(only.Stages) != 1 || only.Validate() != nil {
		t.Errorf("map-only graph is %v", only)
	}
}

func TestValidateReportsEveryErrorAndItsPlace(t *testing.T) {
	tests := []struct {
		name  string
		graph Graph
		want  []string
	}{
		{"empty", Graph{}, []string{"graph without stages"}},
		{"stages", Graph{Stages: []Stage{{Name: "a", Nodes: -1}, {Name: "a"}, {}, {Name: "b", Slots: 9}}}, []string{
			`stage "a": -1 nodes instead of 0 to 2147483647`, `stage "a": name used twice`, `stage 2: no name`, `stage "b": unknown kind of slots 9`,
		}},
		{"unknown ends", Graph{Stages: []Stage{{Name: "a"}}, Edges: []Edge{{From: "x", To: "y"}}}, []string{
			`edge "x" -> "y": no stage "x"`, `edge "x" -> "y": no stage "y"`,
		}},
		{"counts", Graph{
			Stages: []Stage{{Name: "a", Nodes: 2}, {Name: "b", Nodes: 3}},
			Edges:  []Edge{{From: "a", To: "b", Connection: OneToOne}, {From: "a", To: "b", Connection: Gather}},
		}, []string{
			`edge "a" -> "b": one-to-one between 2 and 3 nodes`, `gather into 3 nodes instead of 1`, `stages joined twice`,
		}},
		{"kinds", Graph{Stages: []Stage{{Name: "a"}, {Name: "b"}}, Edges: []Edge{{From: "a", To: "b", Channel: 7, Connection: -1}}}, []string{
			`unknown channel 7`, `unknown connection -1`,
		}},
		{"stored stream", Graph{Stages: []Stage{{Name: "a"}, {Name: "b"}}, Edges: []Edge{{From: "a", To: "b", Channel: ChannelTCP, Stored: true}}}, []string{
			`edge "a" -> "b": a tcp channel that is stored; only files are`,
		}},
		{"files of another edge", Graph{
			Stages: []Stage{{Name: "a", Nodes: 2}, {Name: "b", Nodes: 2}, {Name: "c", Nodes: 2}, {Name: "d", Nodes: 3}, {Name: "e", Nodes: 1}, {Name: "f", Nodes: 2}},
			Edges: []Edge{
				{From: "a", To: "b"},
				{From: "a", To: "c", Connection: OneToOne, FilesOf: "b"},
				{From: "a", To: "d", FilesOf: "b"},
				{From: "a", To: "e", Connection: Gather, FilesOf: "x"},
				{From: "a", To: "f", Stored: true, FilesOf: "b"},
				{From: "b", To: "c", Channel: ChannelTCP},
				{From: "b", To: "d", Channel: ChannelTCP, FilesOf: "c"},
			},
		}, []string{
			`edge "a" -> "c": one-to-one, and the files of "b" are all-to-all`,
			`edge "a" -> "d": 3 nodes, and the files of "b" have a partition for each of 2; give it files of its own, or as many nodes`,
			`edge "a" -> "e": reads the files of "x", and "a" has none for it`,
			`edge "a" -> "f": stored is true, and the files of "b" have false`,
			`edge "b" -> "d": reads the files of "c" over tcp`,
		}},
		{"cycle", Graph{
			Stages: []Stage{{Name: "a"}, {Name: "b"}, {Name: "c"}},
			Edges:  []Edge{{From: "a", To: "b"}, {From: "b", To: "c"}, {From: "c", To: "b"}},
		}, []string{"cycle b -> c -> b"}},
		{"cycles", Graph{
			Stages: []Stage{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}},
			Edges:  []Edge{{From: "d", To: "a"}, {From: "a", To: "d"}, {From: "a", To: "e"}, {From: "e", To: "b"}, {From: "b", To: "c"}, {From: "c", To: "e"}},
		}, []string{"cycle a -> d -> a", "cycle b -> c -> e -> b"}},
		{"own reader", Graph{Stages: []Stage{{Name: "a"}}, Edges: []Edge{{From: "a", To: "a"}}}, []string{"cycle a -> a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.graph.Validate()
			if err == nil {
				t.Fatal("no fault found")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in:\n%v", want, err)
				}
			}
			if got := len(strings.Split(err.Error(), "\n")); got != len(tt.want) {
				t.Errorf("%d faults, want %d:\n%v", got, len(tt.want), err)
			}
		})
	}
}

// TestFingerprintsOutliveVersions checks fingerprints that other versions have computed.
func TestFingerprintsOutliveVersions(t *testing.T) {
	for _, c := range []struct {
		graph Graph
		want  string
	}{
		{MapReduce(3, 2), "f3ce75078e264ed4"},
		{MapReduce(1, 0), "8c32e08b008d31ff"},
		{MapReduce(100_000, 1000), "45b148e208c7bcf2"},
	} {
		if got := c.graph.Fingerprint(); got != c.want {
			t.Errorf("fingerprint %s, want %s, of\n%v", got, c.want, c.graph)
		}
	}
}

func TestFingerprintDistinguishesGraphs(t *testing.T) {
	if got := MapReduce(3, 2).Fingerprint(); got != MapReduce(3, 2).Fingerprint() {
		t.Errorf("fingerprint changes from call to call: %s", got)
	}
	seen := make(map[string]string)
	other := MapReduce(3, 2)
	other.Edges[0].Connection = Broadcast
	named, reading := MapReduce(3, 2), MapReduce(3, 2)
	named.Edges[0].Input = "words"
	reading.Stages[1].Inputs = []string{"map"}
	sharing := MapReduce(3, 2)
	sharing.Edges[0].FilesOf = "other"
	for _, g := range []Graph{MapReduce(3, 2), MapReduce(2, 3), MapReduce(3, 0), other, named, reading, sharing, MapReduce(3, 2).Store()} {
		if twin, dup := seen[g.Fingerprint()]; dup {
			t.Errorf("same fingerprint for\n%sand\n%s", twin, g)
		}
		seen[g.Fingerprint()] = g.String()
	}
}

func TestStoreChangesOnlyFilesOfACopy(t *testing.T) {
	g := Graph{Stages: []Stage{{Name: "a"}, {Name: "b"}, {Name: "c"}}, Edges: []Edge{{From: "a", To: "b"}, {From: "b", To: "c", Channel: ChannelSHM}}}
	if s := g.Store(); !s.Edges[0].Stored || s.Edges[1].Stored || g.Edges[0].Stored {
		t.Errorf("%v of %v", s, g)
	}
}

func TestDefaultSlotsFollowTheEdges(t *testing.T) {
	g := Graph{Stages: []Stage{{Name: "a"}, {Name: "b"}, {Name: "c", Slots: SlotMap}}, Edges: []Edge{{From: "a", To: "b"}, {From: "b", To: "c"}}}
	for name, want := range map[string]SlotKind{"a": SlotMap, "b": SlotReduce, "c": SlotMap} {
		if got := g.SlotsOf(name); got != want {
			t.Errorf("stage %s takes %v slots, want %v", name, got, want)
		}
	}
}

func TestPositionsAndRanges(t *testing.T) {
	a, b, c := Position{5, 0}, Position{5, 2}, Position{9, 0}
	if !a.Less(b) || !b.Less(c) || c.Less(a) || a.Compare(a) != 0 {
		t.Error("positions are not ordered by offset, then by skipped records")
	}
	r := Range{a, c}
	if !r.Contains(a) || !r.Contains(b) || r.Contains(c) || r.Empty() || !(Range{c, a}).Empty() {
		t.Error("a range does not hold its start and what lies before its end")
	}
	if got := r.String() + b.String(); got != "[5,9)5+2" {
		t.Errorf("printed as %s", got)
	}
}
