package console

import "time"

// rateSpan is the time over which the rate is measured: long enough to be stable, short
// enough to show a change of phase.
const rateSpan = 5 * time.Second

// rate is a moving average over the latest rateSpan.
type rate struct {
	samples []sample // ascending in time; the first is the start of the span
}

// sample is the number of bytes processed up to a time.
type sample struct {
	at    time.Time
	bytes int64
}

// add records the count at a time. A lower count means that an attempt has failed and its
// work is lost; it starts a new span.
func (r *rate) add(at time.Time, bytes int64) {
	if n := len(r.samples); n > 0 && bytes < r.samples[n-1].bytes {
		r.samples = r.samples[:0]
	}
	for len(r.samples) > 1 && at.Sub(r.samples[1].at) >= rateSpan {
		r.samples = r.samples[1:]
	}
	r.samples = append(r.samples, sample{at, bytes})
}

// perSecond returns the rate in bytes per second, 0 if it is unknown.
func (r *rate) perSecond() float64 {
	if len(r.samples) < 2 {
		return 0
	}
	first, last := r.samples[0], r.samples[len(r.samples)-1]
	seconds := last.at.Sub(first.at).Seconds()
	if seconds <= 0 {
		return 0
	}
	return float64(last.bytes-first.bytes) / seconds
}
