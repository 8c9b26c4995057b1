package board

import (
	"cmp"
	"context"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/board"
)

func (s *Source) samples(_ context.Context, q docs.SampleQuery) (docs.Answer[apidoc.Samples], error) {
	return answer(s, s.samplesOf(s.cfg.Board.Series(), q), s.cfg.Now(), nil), nil
}

func (s *Source) poolSamples(ctx context.Context, q docs.PoolSampleQuery) (docs.Answer[apidoc.Samples], error) {
	if _, err := docs.Pool.Read(ctx, s, docs.PoolID{Pool: q.Pool}); err != nil {
		return docs.Answer[apidoc.Samples]{}, err
	}
	return answer(s, s.samplesOf([]string{q.Pool}, q.SampleQuery), s.cfg.Now(), nil), nil
}

// samplesOf returns a series for each name.
func (s *Source) samplesOf(names []string, q docs.SampleQuery) apidoc.Samples {
	from := cmp.Or(q.From, s.cfg.Now().Add(-24*time.Hour).UnixMilli())
	doc := apidoc.Samples{From: from, To: from, Series: []apidoc.Series{}}
	for _, name := range names {
		samples, step := s.cfg.Board.Samples(name, from, q.Step*1000)
		series := apidoc.Series{Pool: name, Points: make([]apidoc.Sample, 0, len(samples))}
		for i := range samples {
			series.Points = append(series.Points, sampleOf(&samples[i]))
			doc.To = max(doc.To, samples[i].At+step)
		}
		doc.Step = step
		doc.Series = append(doc.Series, series)
	}
	return doc
}

// sampleOf returns the document of a sample.
func sampleOf(s *board.Sample) apidoc.Sample {
	share := func(slots [2]float32) apidoc.Share {
		return apidoc.Share{Map: float64(slots[0]), Reduce: float64(slots[1])}
	}
	return apidoc.Sample{
		At: s.At, Running: share(s.Running), Waiting: share(s.Waiting), Share: share(s.Share), Kept: float64(s.Kept), Lost: float64(s.Lost),
		Launches: apidoc.Launches{Node: s.Launches[0], Rack: s.Launches[1], Other: s.Launches[2], Any: s.Launches[3]},
	}
}
