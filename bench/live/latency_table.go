package live

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/hammr/hammr/internal/percentile"
	"github.com/hammr/hammr/internal/testcluster"
)

// DiskRate returns the bytes a second at which a file in a directory is written and synced.
// It is measured, since disks differ widely.
func DiskRate(dir string) (rate float64, err error) {
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

// WriteLatencies writes a line for each order, as CSV with a heading. Times are in ms, the
// rate in bytes/s.
func WriteLatencies(w io.Writer, list []Latency, rate float64) error {
	lines := [][]string{{"order", "took_ms", "bytes", "allowed_ms", "rate_bytes_per_s"}}
	for _, l := range list {
		lines = append(lines, []string{
			l.Kind.Name, strconv.FormatInt(l.Took.Milliseconds(), 10), strconv.FormatInt(l.Bytes, 10),
			strconv.FormatInt(l.Allowed(rate).Milliseconds(), 10), strconv.FormatFloat(rate, 'f', 0, 64),
		})
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// WriteLatencyTable writes the percentiles of each kind as a table for a terminal. P95
// WITHOUT BYTES is the 95th percentile of the time without the time for writing the bytes.
// It must be within BOUND.
func WriteLatencyTable(w io.Writer, list []Latency, rate float64) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "ORDER\tORDERS\tP50\tP95\tMAX\tBYTES P50\tP95 WITHOUT BYTES\tBOUND\t")
	for _, kind := range OrderKinds {
		var took, beyond []time.Duration
		var bytes []int64
		for _, l := range list {
			if l.Kind.Name == kind.Name {
				took, bytes = append(took, l.Took), append(bytes, l.Bytes)
				beyond = append(beyond, l.Took-time.Duration(float64(l.Bytes)/rate*float64(time.Second)))
			}
		}
		if len(took) == 0 {
			continue
		}
		bound := "-"
		if kind.Bound > 0 {
			bound = kind.Bound.String()
		}
		fmt.Fprintf(t, "%s\t%d\t%v\t%v\t%v\t%d\t%v\t%s\t\n", kind.Name, len(took), testcluster.Millis(percentile.Of(took, 50)), testcluster.Millis(percentile.Of(took, 95)),
			testcluster.Millis(percentile.Of(took, 100)), percentile.Of(bytes, 50), testcluster.Millis(percentile.Of(beyond, 95)), bound)
	}
	return t.Flush()
}
