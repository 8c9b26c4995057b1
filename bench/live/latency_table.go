package live

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/hammr/hammr/internal/percentile"
	"github.com/hammr/hammr/internal/testcluster"
	"github.com/hammr/hammr/sim/tables"
)

// diskRate returns the bytes a second at which a file in a directory is written and synced.
// It is measured, since disks differ widely.
func diskRate(dir string) (rate float64, err error) {
	const size = 256 << 20
	path := filepath.Join(dir, "rate")
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(path)) }()
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = byte(i * i)
	}
	began := time.Now()
	for range size / len(block) {
		if _, err := f.Write(block); err != nil {
			return 0, err
		}
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	return size / time.Since(began).Seconds(), nil
}

// Allowed returns the bound for an order: the bound of its kind plus the time to write the
// attempt's buffered bytes at a rate in bytes/s. It returns 0 if the kind has no bound. A
// slow disk must not make an order look slow.
func (l Latency) Allowed(rate float64) time.Duration {
	if l.Kind.Bound == 0 {
		return 0
	}
	return l.Kind.Bound + time.Duration(float64(l.Bytes)/rate*float64(time.Second))
}

// latencyResults has a line for each order, times in ms, and the percentiles of each kind. P95
// WITHOUT BYTES is the 95th percentile of the time without the time for writing the bytes.
// It must be within BOUND.
func latencyResults(list []Latency, rate float64) tables.Results {
	r := tables.Results{
		Samples: tables.New("order", "took_ms", "bytes", "allowed_ms", "rate_bytes_per_s|%.0f"),
		Summary: tables.New("ORDER|%s", "ORDERS|%d", "P50", "P95", "MAX", "BYTES P50|%d", "P95 WITHOUT BYTES", "BOUND"),
	}
	for _, l := range list {
		r.Samples.Add(l.Kind.Name, l.Took.Milliseconds(), l.Bytes, l.Allowed(rate).Milliseconds(), rate)
	}
	for kind, of := range tables.Groups(list, func(l Latency) OrderKind { return l.Kind }) {
		var took, beyond []time.Duration
		var bytes []int64
		for _, l := range of {
			took, bytes = append(took, l.Took), append(bytes, l.Bytes)
			beyond = append(beyond, l.Took-time.Duration(float64(l.Bytes)/rate*float64(time.Second)))
		}
		bound := "-"
		if kind.Bound > 0 {
			bound = kind.Bound.String()
		}
		at := func(of []time.Duration, percent int) string { return testcluster.Millis(percentile.Of(of, percent)) }
		r.Summary.Add(kind.Name, len(of), at(took, 50), at(took, 95), at(took, 100), percentile.Of(bytes, 50), at(beyond, 95), bound)
	}
	return r
}
