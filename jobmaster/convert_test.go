package jobmaster

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
)

func TestLongFailuresAreCutToValidText(t *testing.T) {
	long := strings.Repeat("ä", maxFailureText)
	f := failureOf(&taskproc.Failure{Cause: "x" + long, Stack: long, Log: long + "end", Record: &taskproc.Position{Offset: 4, Skip: 2}})
	for _, text := range []string{f.Cause, f.Stack, f.Log} {
		if len(text) > maxFailureText || len(text) < maxFailureText-2 || !utf8.ValidString(text) {
			t.Errorf("%d bytes, valid %v", len(text), utf8.ValidString(text))
		}
	}
	if !strings.HasPrefix(f.Cause, "xä") || !strings.HasSuffix(f.Log, "end") || *f.Record != (dag.Position{Offset: 4, Skip: 2}) {
		t.Errorf("failure begins %.5q, its log ends %q", f.Cause, f.Log[len(f.Log)-5:])
	}
}

func TestRangeOfASplitCoversItsParts(t *testing.T) {
	got := splitOf(&taskproc.Split{Parts: []*taskproc.Split_Part{{Start: 5, Length: 10, Ordinal: 3}, {Length: 7, Ordinal: 4}}})
	if want := (dag.Range{Start: dag.Position{Offset: 5}, End: dag.Position{Offset: 22}}); got.Range != want || got.Bytes != 17 || got.Ordinal != 3 {
		t.Errorf("split is %+v", got)
	}
}

// TestFetchedSetsAreBounded reports a million sets of fetched output, of edges that the graph
// does not have and with bits that no Node has.
func TestFetchedSetsAreBounded(t *testing.T) {
	s := cluster.New("1")
	spec := cluster.JobSpec{Graph: dag.MapReduce(20, 1), MaxAttempts: [2]int{1, 1}}
	delta, err := s.Apply(cluster.Entry{Command: cluster.SubmitJob{Spec: spec}})
	must.Do(t, err)
	many := []*taskproc.Fetched{{Edge: -1}, {Edge: 1}, {Edge: 1 << 30}}
	for range 1_000_000 {
		many = append(many, &taskproc.Fetched{Nodes: []byte{1}})
	}
	many = append(many, &taskproc.Fetched{Nodes: make([]byte, 1<<20)})
	if got := fetchedOf(s.View().Job(delta.Submitted), many); len(got) != 1 || len(got[0].Nodes) > 6 || got[0].Nodes[0] != 0 {
		t.Errorf("%d sets", len(got))
	}
}
