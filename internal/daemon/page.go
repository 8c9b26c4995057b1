package daemon

import (
	"fmt"
	"io"
	"net/http"
	"net/http/pprof"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// PageConfig says what a daemon's page shows.
type PageConfig struct {
	// Title is the first line of the front page. Required.
	Title string
	// Health returns why the daemon cannot work, nil if it can; default always nil.
	Health func(r *http.Request) error
	// Metrics are shown in addition to the metrics of the process; default none.
	Metrics []prometheus.Collector
	// Listeners are the daemon's listeners by their setting, for metrics; default none.
	Listeners map[string]*Listener
	// Handlers serve further paths, by pattern of http.ServeMux; default none.
	Handlers map[string]http.Handler
	// Profiles shows Go's profiles, which cost time and reveal internals; default false.
	Profiles bool
}

// NewPage returns the handler of a daemon's HTTP page. /health answers status 503 and the
// cause while the daemon cannot work. /metrics is for Prometheus. /debug/pprof/ exists if
// Profiles is set.
//
// The page always shows metrics of the Go runtime and of the process. It collects the
// daemon's metrics for each request.
func NewPage(cfg PageConfig) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintf(w, "%s\n\n/health\n/metrics\n", cfg.Title)
		if cfg.Profiles {
			io.WriteString(w, "/debug/pprof/\n")
		}
	})
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) { health(w, r, cfg.Health) })
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registry.MustRegister(listenerMetrics(cfg.Listeners))
	registry.MustRegister(cfg.Metrics...)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	for pattern, handler := range cfg.Handlers {
		mux.Handle(pattern, handler)
	}
	if cfg.Profiles {
		addProfiles(mux)
	}
	return mux
}

// health answers "ok", or status 503 and the cause if the daemon cannot work.
func health(w http.ResponseWriter, r *http.Request, check func(*http.Request) error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if check != nil {
		if err := check(r); err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, err)
			return
		}
	}
	fmt.Fprintln(w, "ok")
}

// addProfiles adds the handlers of net/http/pprof, which otherwise serve only the
// default mux.
func addProfiles(mux *http.ServeMux) {
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
}

var (
	openMetric    = NewMetric("connections", "open connections", "port")
	refusedMetric = NewMetric("connections_refused_total", "connections closed at once because there were too many", "port")
)

// listenerMetrics are metrics of a daemon's listeners by their setting.
type listenerMetrics map[string]*Listener

// Describe implements prometheus.Collector.
func (listenerMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- openMetric
	to <- refusedMetric
}

// Collect implements prometheus.Collector.
func (m listenerMetrics) Collect(to chan<- prometheus.Metric) {
	for setting, l := range m {
		to <- prometheus.MustNewConstMetric(openMetric, prometheus.GaugeValue, float64(l.Open()), setting)
		to <- prometheus.MustNewConstMetric(refusedMetric, prometheus.CounterValue, float64(l.Refused()), setting)
	}
}

// NewMetric describes a metric of a daemon. It adds the prefix hammr_ to the name.
func NewMetric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("hammr_"+name, help, labels, nil)
}
