package tasknoded

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/hammr/hammr/internal/daemon"
)

// metrics are a tasknode's metrics for Prometheus. docs/cluster.md has a row for each, with the
// same text; a test compares them.
type metrics struct{ *Daemon }

var (
	freeMetric     = daemon.NewMetric("directory_free_bytes", "free bytes of a local directory", "directory")
	usedMetric     = daemon.NewMetric("directory_used_bytes", "bytes in use on the disk of a local directory, by anything", "directory")
	excludedMetric = daemon.NewMetric("directory_excluded", "1 if a local directory gets no attempts because it is broken, full or slow, else 0", "directory")
	slowMetric     = daemon.NewMetric("directory_slow", "1 if the last checks of a local directory were slow, else 0", "directory")
	writeMetric    = daemon.NewMetric("directory_write_seconds", "time of the last write that checked a local directory", "directory")
	startedMetric  = daemon.NewMetric("attempts_started_total", "attempts started by this tasknode process")
	endedMetric    = daemon.NewMetric("attempts_total", "attempts ended on this tasknode, by state: succeeded, failed, killed or preempted", "state")
	runningMetric  = daemon.NewMetric("attempts_running", "attempts that have not ended; suspended attempts count")
	memoryMetric   = daemon.NewMetric("memory_bytes", "memory for tasks by use: offered (0 for any amount), or used by the limits of running attempts", "use")
	lostMetric     = daemon.NewMetric("lost_slots", "slots that are not offered because a process cannot be killed")
	requestsMetric = daemon.NewMetric("shuffle_requests_total", "requests for map output")
	bytesMetric    = daemon.NewMetric("shuffle_sent_bytes_total", "bytes of map output sent")
	busyMetric     = daemon.NewMetric("shuffle_busy_total", "requests that were refused because the server was busy")
	deniedMetric   = daemon.NewMetric("shuffle_denied_total", "requests that were refused because they did not have the token of their job")
	failedMetric   = daemon.NewMetric("shuffle_failed_total", "requests that failed on this machine, such as for an unreadable disk")
	corruptMetric  = daemon.NewMetric("shuffle_corrupt_total", "corrupt pieces of map output found on this machine's disks")
)

// Describe implements prometheus.Collector.
func (*metrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		freeMetric, usedMetric, excludedMetric, slowMetric, writeMetric, startedMetric, endedMetric, runningMetric, memoryMetric, lostMetric,
		requestsMetric, bytesMetric, busyMetric, deniedMetric, failedMetric, corruptMetric,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector. It does not wait for the loop.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value int64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(value), labels...)
	}
	counter := func(d *prometheus.Desc, value int64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(value), labels...)
	}
	for i, d := range m.disks.States() {
		dir := m.cfg.LocalDirs[i]
		gauge(freeMetric, d.Free, dir)
		gauge(usedMetric, max(0, d.Total-d.Free), dir)
		gauge(excludedMetric, flag(d.Err != nil), dir)
		gauge(slowMetric, flag(d.Slow), dir)
		to <- prometheus.MustNewConstMetric(writeMetric, prometheus.GaugeValue, d.Latency.Seconds(), dir)
	}
	c := m.tasknode.Counts()
	counter(startedMetric, c.Started)
	for state, n := range map[string]int64{"succeeded": c.Succeeded, "failed": c.Failed, "killed": c.Killed, "preempted": c.Preempted} {
		counter(endedMetric, n, state)
	}
	gauge(runningMetric, c.Running)
	gauge(memoryMetric, c.Offered<<20, "offered")
	gauge(memoryMetric, c.MemoryMB<<20, "used")
	gauge(lostMetric, m.tasknode.LostSlots())
	s := m.shuffle.Counts()
	for desc, n := range map[*prometheus.Desc]int64{
		requestsMetric: s.Requests, bytesMetric: s.Bytes, busyMetric: s.Busy, deniedMetric: s.Denied, failedMetric: s.Failed, corruptMetric: s.Corrupt,
	} {
		counter(desc, n)
	}
}

// flag returns the value of a metric that is 0 or 1.
func flag(set bool) int64 {
	if set {
		return 1
	}
	return 0
}
