package board

import (
	"context"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/jobmaster/board"
)

// Samples implements web.Source.
func (s *Source) Samples(_ context.Context, q web.SampleQuery) (web.Answer[apidoc.Samples], error) {
	names := []string{q.Pool}
	if q.Pool == web.AllSeries {
		names = s.cfg.Board.Series()
	}
	doc := apidoc.Samples{From: q.From, To: q.From, Step: q.Step, Series: []apidoc.Series{}}
	for _, name := range names {
		samples, step := s.cfg.Board.Samples(name, q.From, q.Step)
		series := apidoc.Series{Pool: name, Points: make([]apidoc.Sample, 0, len(samples))}
		for i := range samples {
			series.Points = append(series.Points, sampleOf(&samples[i]))
			doc.To = max(doc.To, samples[i].At+step)
		}
		doc.Step = step
		doc.Series = append(doc.Series, series)
	}
	return answer(s, doc, s.cfg.Now(), nil), nil
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
