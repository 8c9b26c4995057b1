package tasknoded

import (
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/tasknode"
	"github.com/hammr/hammr/tasknode/disks"
)

// scrape is what the metrics of a tasknode read. It does not wait for the loop.
type scrape struct {
	*Daemon
	attempts tasknode.Counts
	sent     transfer.Counts
	disks    []disks.State
}

func (d *Daemon) scrape() *scrape {
	return &scrape{d, d.tasknode.Counts(), d.shuffle.Counts(), d.disks.States()}
}

// eachDirectory returns the Read of a metric that each local directory has.
func eachDirectory(read func(d disks.State, dir string, v daemon.Values)) func(*scrape, daemon.Values) {
	return func(s *scrape, v daemon.Values) {
		for i, d := range s.disks {
			read(d, s.cfg.LocalDirs[i], v)
		}
	}
}

// metrics are a tasknode's metrics for Prometheus.
var metrics = []daemon.Metric[*scrape]{
	daemon.NewMetric("directory_free_bytes", "free bytes of a local directory", []string{"directory"}, eachDirectory(func(d disks.State, dir string, v daemon.Values) { v.Gauge(float64(d.Free), dir) })),
	daemon.NewMetric("directory_used_bytes", "bytes in use on the disk of a local directory, by anything", []string{"directory"}, eachDirectory(func(d disks.State, dir string, v daemon.Values) { v.Gauge(float64(max(0, d.Total-d.Free)), dir) })),
	daemon.NewMetric("directory_excluded", "1 if a local directory gets no attempts because it is broken, full or slow, else 0", []string{"directory"}, eachDirectory(func(d disks.State, dir string, v daemon.Values) { v.Flag(d.Err != nil, dir) })),
	daemon.NewMetric("directory_slow", "1 if the last checks of a local directory were slow, else 0", []string{"directory"}, eachDirectory(func(d disks.State, dir string, v daemon.Values) { v.Flag(d.Slow, dir) })),
	daemon.NewMetric("directory_write_seconds", "time of the last write that checked a local directory", []string{"directory"}, eachDirectory(func(d disks.State, dir string, v daemon.Values) { v.Gauge(d.Latency.Seconds(), dir) })),
	daemon.NewMetric("attempts_started_total", "attempts started by this tasknode process", nil, func(s *scrape, v daemon.Values) { v.Counter(float64(s.attempts.Started)) }),
	daemon.NewMetric("attempts_total", "attempts ended on this tasknode, by state: succeeded, failed, killed or preempted", []string{"state"}, func(s *scrape, v daemon.Values) {
		v.Counters(map[string]int64{"succeeded": s.attempts.Succeeded, "failed": s.attempts.Failed, "killed": s.attempts.Killed, "preempted": s.attempts.Preempted})
	}),
	daemon.NewMetric("attempts_running", "attempts that have not ended; suspended attempts count", nil, func(s *scrape, v daemon.Values) { v.Gauge(float64(s.attempts.Running)) }),
	daemon.NewMetric("memory_bytes", "memory for tasks by use: offered (0 for any amount), or used by the limits of running attempts", []string{"use"}, func(s *scrape, v daemon.Values) {
		v.Gauge(float64(s.attempts.Offered<<20), "offered")
		v.Gauge(float64(s.attempts.MemoryMB<<20), "used")
	}),
	daemon.NewMetric("lost_slots", "slots that are not offered because a process cannot be killed", nil, func(s *scrape, v daemon.Values) { v.Gauge(float64(s.tasknode.LostSlots())) }),
	daemon.NewMetric("shuffle_requests_total", "requests for map output", nil, func(s *scrape, v daemon.Values) { v.Counter(float64(s.sent.Requests)) }),
	daemon.NewMetric("shuffle_sent_bytes_total", "bytes of map output sent", nil, func(s *scrape, v daemon.Values) { v.Counter(float64(s.sent.Bytes)) }),
	daemon.NewMetric("shuffle_busy_total", "requests that were refused because the server was busy", nil, func(s *scrape, v daemon.Values) { v.Counter(float64(s.sent.Busy)) }),
	daemon.NewMetric("shuffle_denied_total", "requests that were refused because they did not have the token of their job", nil, func(s *scrape, v daemon.Values) { v.Counter(float64(s.sent.Denied)) }),
	daemon.NewMetric("shuffle_failed_total", "requests that failed on this machine, such as for an unreadable disk", nil, func(s *scrape, v daemon.Values) { v.Counter(float64(s.sent.Failed)) }),
	daemon.NewMetric("shuffle_corrupt_total", "corrupt pieces of map output found on this machine's disks", nil, func(s *scrape, v daemon.Values) { v.Counter(float64(s.sent.Corrupt)) }),
}
