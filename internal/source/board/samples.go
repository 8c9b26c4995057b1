package board

import (
	"cmp"
	"context"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
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
		points, step := s.cfg.Board.Samples(name, from, q.Step*1000)
		if n := len(points); n > 0 {
			doc.To = max(doc.To, points[n-1].At+step)
		}
		doc.Step = step
		doc.Series = append(doc.Series, apidoc.Series{Pool: name, Points: append([]apidoc.Sample{}, points...)})
	}
	return doc
}
