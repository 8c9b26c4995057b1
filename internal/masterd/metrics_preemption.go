package masterd

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/jobmaster/board"
	"github.com/hammr/hammr/preempt"
)

// Metrics of preemptions come from committed log entries, so every master has them.
var (
	preemptionsMetric = daemon.NewMetric("preemptions_total", "orders to give up a slot since this master has started, by mode and by pool of the attempt", "how", "pool")
	preemptedMetric   = daemon.NewMetric("preempted_slot_seconds_total", "slot time of preempted attempts since this master has started, by outcome (kept or lost) and mode", "outcome", "how")
	latencyMetric     = daemon.NewMetric("preempt_latency_seconds", "time from an order to give up a slot to the free slot, by the mode in which the slot was given up", "how")
)

// collectPreemptions collects the preemptions of a board. A mode has samples from the start, so that
// a rate can be computed from the first event on.
func (c collector) collectPreemptions(rows []board.PreemptionRow) {
	type order struct {
		mode preempt.Mode
		pool string
	}
	orders := make(map[order]int64)
	kept, lost := make(map[preempt.Mode]int64), make(map[preempt.Mode]int64)
	latency := make(map[preempt.Mode]*board.Latency)
	for _, mode := range []preempt.Mode{preempt.Split, preempt.Checkpoint, preempt.Suspend, preempt.Kill} {
		latency[mode] = new(board.Latency)
		orders[order{mode, cluster.DefaultPool}] = 0
		for i := range rows {
			orders[order{mode, rows[i].Pool}] += 0
		}
	}
	for i := range rows {
		r := &rows[i]
		orders[order{r.Mode, r.Pool}] += int64(r.Asked)
		kept[r.Mode], lost[r.Mode] = kept[r.Mode]+r.KeptMillis, lost[r.Mode]+r.LostMillis
		latency[r.Mode].Add(&r.Latency)
	}
	for o, n := range orders {
		c.counter(preemptionsMetric, n, string(o.mode), o.pool)
	}
	for mode, l := range latency {
		for outcome, millis := range map[string]int64{"kept": kept[mode], "lost": lost[mode]} {
			c <- prometheus.MustNewConstMetric(preemptedMetric, prometheus.CounterValue, float64(millis)/1000, outcome, string(mode))
		}
		c.histogram(latencyMetric, l, string(mode))
	}
}

// histogram sends a histogram of times. Slots that were free at once are in its first bucket.
func (c collector) histogram(d *prometheus.Desc, l *board.Latency, labels ...string) {
	count, buckets := uint64(0), make(map[float64]uint64)
	for i, n := range l.Counts {
		count += uint64(n)
		if i > 0 && i < len(board.LatencyBounds) {
			buckets[float64(board.LatencyBounds[i])/1000] = count
		}
	}
	c <- prometheus.MustNewConstHistogram(d, count, float64(l.Millis)/1000, buckets, labels...)
}
