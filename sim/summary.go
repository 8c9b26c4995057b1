package sim

import "github.com/hammr/hammr/internal/percentile"

// Summary is a run in a few numbers. Times are seconds.
type Summary struct {
	Jobs            int
	Mean            float64 // sojourn time
	P50, P95, P99   float64 // of the sojourn times, by nearest rank
	Slowdown        float64 // mean
	Local           float64 // share of the maps that were local
	Preemptions     int
	Lost, Conserved float64 // work
	End             float64
}

// Summary sums a run up.
func (r *Result) Summary() Summary {
	s := Summary{Jobs: len(r.Jobs), End: float64(r.End) / 1000}
	var sojourns []float64
	maps, local := 0, 0
	for i := range r.Jobs {
		j := &r.Jobs[i]
		sojourns = append(sojourns, float64(j.Sojourn())/1000)
		s.Slowdown += j.Slowdown() / float64(len(r.Jobs))
		maps, local = maps+j.Maps, local+j.LocalMaps
		s.Preemptions += j.Preemptions
		s.Lost += float64(j.WorkLost) / 1000
		s.Conserved += float64(j.WorkConserved) / 1000
	}
	for _, t := range sojourns {
		s.Mean += t / float64(len(sojourns))
	}
	s.P50, s.P95, s.P99 = percentile.Of(sojourns, 50), percentile.Of(sojourns, 95), percentile.Of(sojourns, 99)
	s.Local = float64(local) / float64(max(maps, 1))
	return s
}
