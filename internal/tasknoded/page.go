package tasknoded

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/faultrpc"
)

// newPage returns the handler of the tasknode's HTTP page. Add further handlers to Handlers.
func (d *Daemon) newPage() http.Handler {
	return daemon.NewPage(daemon.PageConfig{
		Title: "tasknode " + d.cfg.Name, Profiles: d.cfg.Profiles, Metrics: []prometheus.Collector{&metrics{d}},
		ProfileToken: d.page.ProfileToken(d.token),
		Health:       func(*http.Request) error { return d.health() },
		Listeners:    map[string]*daemon.Listener{"address": d.listener, "http": d.page},
		Handlers: map[string]http.Handler{
			"GET /logs/{attempt}/{stream}": &logHandler{d.taskDirs(), d.token},
			"GET /logs/{job}":              &logHandler{d.taskDirs(), d.token},
			faultrpc.Path:                  d.drills.Handler(d.token, d.cfg.Logger),
		},
	})
}

// newPublic returns the handler of what other machines ask, which the shuffle server's port
// serves: health, which masters probe, and logs, for holders of the cluster's token.
func (d *Daemon) newPublic() http.Handler {
	return daemon.NewPublicPage(func(*http.Request) error { return d.health() }, map[string]http.Handler{
		"GET /logs/{attempt}/{stream}": &logHandler{d.taskDirs(), d.token},
		"GET /logs/{job}":              &logHandler{d.taskDirs(), d.token},
	})
}

// health returns why this tasknode cannot work, nil if it can. It does not wait for the loop.
func (d *Daemon) health() error {
	if err := d.watchdog.Check(); err != nil {
		return err
	}
	return d.disks.Check()
}

// metrics are a tasknode's metrics for Prometheus.
type metrics struct{ *Daemon }

var (
	usableMetric   = daemon.NewMetric("directory_usable", "1 if a local directory accepts attempts, else 0", "directory")
	slowMetric     = daemon.NewMetric("directory_slow", "1 if the last checks of a local directory were slow, else 0", "directory")
	writeMetric    = daemon.NewMetric("directory_write_seconds", "time of the last write that checked a local directory", "directory")
	freeMetric     = daemon.NewMetric("directory_free_bytes", "free bytes of a local directory", "directory")
	requestsMetric = daemon.NewMetric("shuffle_requests_total", "requests for map output")
	bytesMetric    = daemon.NewMetric("shuffle_sent_bytes_total", "bytes of map output sent")
	busyMetric     = daemon.NewMetric("shuffle_busy_total", "requests that were refused because the server was busy")
	lostMetric     = daemon.NewMetric("lost_slots", "slots that are not offered because a process cannot be killed")
	corruptMetric  = daemon.NewMetric("shuffle_corrupt_total", "corrupt pieces of map output found on this machine's disks")
)

// Describe implements prometheus.Collector.
func (*metrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{usableMetric, slowMetric, writeMetric, freeMetric, requestsMetric, bytesMetric, busyMetric, corruptMetric, lostMetric} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	for i, state := range m.disks.States() {
		for desc, value := range map[*prometheus.Desc]float64{
			usableMetric: flag(state.Err == nil), slowMetric: flag(state.Slow), writeMetric: state.Latency.Seconds(), freeMetric: float64(state.Free),
		} {
			to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, m.cfg.LocalDirs[i])
		}
	}
	to <- prometheus.MustNewConstMetric(lostMetric, prometheus.GaugeValue, float64(m.tasknode.LostSlots()))
	counts := m.shuffle.Counts()
	for desc, n := range map[*prometheus.Desc]int64{
		requestsMetric: counts.Requests, bytesMetric: counts.Bytes, busyMetric: counts.Busy, corruptMetric: counts.Corrupt,
	} {
		to <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n))
	}
}

// flag returns the value of a metric that is 0 or 1.
func flag(set bool) float64 {
	if set {
		return 1
	}
	return 0
}
