package board

import (
	"context"
	"errors"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/board"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestSamplesAreThoseOfTheBoard samples a job that waits in the pool default.
func TestSamplesAreThoseOfTheBoard(t *testing.T) {
	state, b := cluster.New("1"), board.New(board.Config{Summary: func([]byte) board.Summary { return board.Summary{} }})
	e := cluster.Entry{At: 1, Command: cluster.SubmitJob{Spec: cluster.JobSpec{Graph: dag.MapReduce(3, 1), MaxAttempts: [2]int{4, 4}}}}
	delta, err := state.Apply(e)
	must.Do(t, err)
	b.Commit(e, delta, state.View())
	for second := range int64(10) {
		b.Sample(1000*second+5000, map[string][2]float64{"default": {2, 0}})
	}
	s := New(Config{Board: b, Leader: leaderless{}})
	all, err := docs.Samples.Read(t.Context(), s, docs.SampleQuery{From: 6000, Step: 2})
	if err != nil || len(all.Value.Series) != 2 || all.Value.Series[0].Pool != "" || all.Value.Series[1].Pool != "default" || all.Value.Step != 2000 || all.Value.To != 14_000 {
		t.Fatalf("all series: %+v, %v", all, err)
	}
	points := all.Value.Series[1].Points
	if len(points) != 4 || points[0].At != 6000 || points[0].Waiting.Map != 3 || points[0].Share != (apidoc.Share{Map: 2}) {
		t.Errorf("points of the pool: %+v", points)
	}
	if maps, reduces := points[0].Starving(); !maps || reduces {
		t.Errorf("it waits for maps below its share: %v, %v", maps, reduces)
	}
	one, err := docs.PoolSamples.Read(t.Context(), s, docs.PoolSampleQuery{Pool: "default", SampleQuery: docs.SampleQuery{From: 20_000, Step: 1}})
	if err != nil || len(one.Value.Series) != 1 || one.Value.Series[0].Points == nil || len(one.Value.Series[0].Points) != 0 {
		t.Errorf("a time without samples: %+v, %v", one, err)
	}
	if _, err := docs.PoolSamples.Read(t.Context(), s, docs.PoolSampleQuery{Pool: "nightly"}); !errors.Is(err, docs.ErrUnknown) {
		t.Errorf("a pool that does not exist: %v", err)
	}
}

// leaderless is a cluster without a leader.
type leaderless struct{ Leader }

// Read implements Leader.
func (leaderless) Read(context.Context, *docs.Entry, any) (a docs.Answer[any], err error) {
	return a, docs.ErrUnavailable
}
