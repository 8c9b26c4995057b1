package daemon

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hammr/hammr/internal/kit/percentile"
)

// Metric is a metric of a daemon for Prometheus, a row of a table. docs/cluster.md has a row for each
// with the same text; a test compares them.
type Metric[S any] struct {
	Name   string // without the prefix hammr_
	Help   string
	Labels []string
	Read   func(S, Values) // passes on the present values, from what was read for the whole table
}

// NewMetric returns a row of a table.
func NewMetric[S any](name, help string, labels []string, read func(S, Values)) Metric[S] {
	return Metric[S]{name, help, labels, read}
}

// NewCollector returns the collector of a table. read is called at each scrape, and must not wait for
// the daemon's work.
func NewCollector[S any](table []Metric[S], read func() S) prometheus.Collector {
	c := &collector[S]{table: table, read: read}
	for _, m := range table {
		c.descs = append(c.descs, prometheus.NewDesc("hammr_"+m.Name, m.Help, m.Labels, nil))
	}
	return c
}

type collector[S any] struct {
	table []Metric[S]
	descs []*prometheus.Desc // of the rows
	read  func() S
}

// Describe implements prometheus.Collector.
func (c *collector[S]) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector[S]) Collect(to chan<- prometheus.Metric) {
	from := c.read()
	for i, m := range c.table {
		m.Read(from, Values{c.descs[i], to})
	}
}

// Values takes the values of one metric, each with the values of its labels.
type Values struct {
	desc *prometheus.Desc
	to   chan<- prometheus.Metric
}

// Gauge takes a value that rises and falls.
func (v Values) Gauge(value float64, labels ...string) {
	v.to <- prometheus.MustNewConstMetric(v.desc, prometheus.GaugeValue, value, labels...)
}

// Gauges takes a value for each value of the only label.
func (v Values) Gauges(values map[string]int) {
	for label, n := range values {
		v.Gauge(float64(n), label)
	}
}

// Flag takes a value that is 1 or 0.
func (v Values) Flag(set bool, labels ...string) {
	value := 0.0
	if set {
		value = 1
	}
	v.Gauge(value, labels...)
}

// Counter takes a value that only rises.
func (v Values) Counter(value float64, labels ...string) {
	v.to <- prometheus.MustNewConstMetric(v.desc, prometheus.CounterValue, value, labels...)
}

// Counters takes a value for each value of the only label.
func (v Values) Counters(values map[string]int64) {
	for label, n := range values {
		v.Counter(float64(n), label)
	}
}

// Seconds takes a summary of times.
func (v Values) Seconds(s percentile.Summary[time.Duration]) {
	v.summary(s.Count, s.Total.Seconds(), s.Median.Seconds(), s.P99.Seconds(), s.Max.Seconds())
}

// Numbers takes a summary of numbers.
func (v Values) Numbers(s percentile.Summary[int]) {
	v.summary(s.Count, float64(s.Total), float64(s.Median), float64(s.P99), float64(s.Max))
}

func (v Values) summary(count uint64, sum, median, p99, most float64) {
	v.to <- prometheus.MustNewConstSummary(v.desc, count, sum, map[float64]float64{0.5: median, 0.99: p99, 1: most})
}

// Histogram takes a histogram: the number of values up to each bound.
func (v Values) Histogram(count uint64, sum float64, buckets map[float64]uint64, labels ...string) {
	v.to <- prometheus.MustNewConstHistogram(v.desc, count, sum, buckets, labels...)
}
