package masterd

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/docs/board"
	"github.com/hammr/hammr/preempt"
)

// Metrics of preemptions come from committed log entries, so every master has them. A mode has samples
// from the start, so that a rate can be computed from the first event on.

var preemptModes = [...]preempt.Mode{preempt.Split, preempt.Checkpoint, preempt.Suspend, preempt.Kill}

// preemptions are the sums of the preemptions of a mode. Times are in ms.
type preemptions struct {
	orders     map[string]int64 // by pool
	kept, lost int64
	latency    board.Latency
}

// addPreemptions adds up the preemptions of the board.
func (s *scrape) addPreemptions() {
	rows, _ := s.master.Board().Preemptions()
	for i, mode := range preemptModes {
		p := &s.preemptions[i]
		p.orders = map[string]int64{cluster.DefaultPool: 0}
		for n := range rows {
			r := &rows[n]
			p.orders[r.Pool] += 0
			if r.Mode == mode {
				p.orders[r.Pool] += int64(r.Asked)
				p.kept, p.lost = p.kept+r.KeptMillis, p.lost+r.LostMillis
				p.latency.Add(&r.Latency)
			}
		}
	}
}

func readPreemptions(s *scrape, v daemon.Values) {
	for i, mode := range preemptModes {
		for pool, n := range s.preemptions[i].orders {
			v.Counter(float64(n), string(mode), pool)
		}
	}
}

// readLatency reads histograms of times. Slots that were free at once are in the first bucket.
func readLatency(s *scrape, v daemon.Values) {
	for i, mode := range preemptModes {
		l := &s.preemptions[i].latency
		count, buckets := uint64(0), make(map[float64]uint64)
		for n, more := range l.Counts {
			count += uint64(more)
			if n > 0 && n < len(board.LatencyBounds) {
				buckets[float64(board.LatencyBounds[n])/1000] = count
			}
		}
		v.Histogram(count, float64(l.Millis)/1000, buckets, string(mode))
	}
}
