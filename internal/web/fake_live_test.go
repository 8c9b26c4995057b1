package web

import (
	"context"
	"testing"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/web/access"
)

// Samples returns samples of ten minutes before the time of the fake: all slots are used by its last
// pool, which is below its share in the first half.
func (f *fakeSource) Samples(_ context.Context, q SampleQuery) (Answer[apidoc.Samples], error) {
	s := apidoc.Samples{From: q.From, Step: q.Step}
	if len(f.pools) == 0 {
		return fresh(f, s)
	}
	busy := f.pools[len(f.pools)-1].Name
	for _, name := range []string{"", f.pools[0].Name, busy} {
		if q.Pool != AllSeries && q.Pool != name {
			continue
		}
		series := apidoc.Series{Pool: name}
		for at := max(q.From, atMillis-600_000) / q.Step * q.Step; at < atMillis; at += q.Step {
			p := apidoc.Sample{At: at, Share: apidoc.Share{Map: 4, Reduce: 2}}
			if name != f.pools[0].Name {
				p.Running = apidoc.Share{Map: 4, Reduce: 1}
				if at < atMillis-300_000 {
					p.Running.Map, p.Waiting.Map, p.Lost = 1, 3, 2
				}
			}
			series.Points = append(series.Points, p)
		}
		s.Series = append(s.Series, series)
	}
	return fresh(f, s)
}

// gateOf returns a gate with the token of tests.
func gateOf(t testing.TB) *access.Gate {
	t.Helper()
	gate, err := access.New(access.Config{Token: aToken, Refuse: Refuse})
	if err != nil {
		t.Fatal(err)
	}
	return gate
}
