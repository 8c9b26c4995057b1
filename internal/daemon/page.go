package daemon

import (
	"fmt"
	"io"
	"net/http"
	"net/http/pprof"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/httpserver"
)

// PageConfig says what a daemon's page shows.
type PageConfig struct {
	// Title is the first line of the front page. Required.
	Title string
	// Health returns why the daemon should be restarted, nil if a restart would not help or is not
	// needed; default always nil.
	Health func() error
	// Ready returns why a healthy daemon should get no requests for now, nil if it should; default
	// always nil.
	Ready func() error
	// Metrics are shown in addition to the metrics of the process; default none.
	Metrics []prometheus.Collector
	// Listeners are the daemon's listeners by their setting, for metrics; default none.
	Listeners map[string]*Listener
	// Handlers serve further paths, by pattern of http.ServeMux; default none.
	Handlers map[string]http.Handler
	// Front serves all other paths, the front page too; default a front page that lists the paths.
	Front http.Handler
	// Hosts are names by which the page is reached, besides localhost and the IP addresses of the machine.
	// Other requests are refused, except by Front, which checks that itself. Default none.
	Hosts []string
	// Profiles shows Go's profiles, which cost time and reveal internals; default false.
	Profiles bool
	// ProfileToken is the cluster's token, which a request for a profile must show; default "", no
	// token.
	ProfileToken string
}

// IdentityHeader is a header of every answer of a daemon's page. Its value is PageConfig.Title.
const IdentityHeader = "Hammr-Daemon"

// NewPage returns the handler of a daemon's HTTP page. /health answers status 503 and the
// cause while the daemon should be restarted, and /ready while it should get no requests.
// /metrics is for Prometheus. /debug/pprof/ exists if Profiles is set.
//
// The page always shows metrics of the Go runtime and of the process. It collects metrics at
// most once in a second, however many clients ask.
func NewPage(cfg PageConfig) http.Handler {
	mux := http.NewServeMux()
	if cfg.Front != nil {
		mux.Handle("/", cfg.Front)
	} else {
		mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { writeFront(w, &cfg) })
	}
	addProbes(mux, cfg.Health, cfg.Ready)
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registry.MustRegister(NewCollector(listenerMetrics, func() map[string]*Listener { return cfg.Listeners }))
	registry.MustRegister(cfg.Metrics...)
	mux.Handle("GET /metrics", promhttp.HandlerFor(&cachedGatherer{from: registry}, promhttp.HandlerOpts{}))
	for pattern, handler := range cfg.Handlers {
		mux.Handle(pattern, handler)
	}
	if cfg.Profiles {
		addProfiles(mux, cfg.ProfileToken)
	}
	hosts := httpserver.NewHosts(cfg.Hosts, nil, nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(IdentityHeader, cfg.Title)
		// A probe by HTTP/1.0 has no Host. A browser always sends one.
		if _, pattern := mux.Handler(r); (cfg.Front == nil || pattern != "/") && r.Host != "" && !hosts.Accept(r) {
			http.Error(w, "this daemon does not have the name of the host in this request; use localhost, an IP address of its machine or one of --page-hosts", http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// PageHosts returns names for PageConfig.Hosts: those of the configuration, the machine's own name, and
// the hosts of addresses of the daemon, which may lack a port.
func PageHosts(configured []string, addresses ...string) []string {
	hosts := slices.Clone(configured)
	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, name)
	}
	for _, address := range addresses {
		if host := httpserver.HostOf(address); host != "" {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// writeFront writes the front page of a daemon that has no other pages.
func writeFront(w http.ResponseWriter, cfg *PageConfig) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(w, "%s\n\n/health\n/ready\n/metrics\n", cfg.Title)
	if cfg.Profiles {
		io.WriteString(w, "/debug/pprof/\n")
	}
}

// NewPublicPage returns a handler of /health, /ready and further paths, for callers on other
// machines. Each handler checks its callers.
func NewPublicPage(health, ready func() error, handlers map[string]http.Handler) http.Handler {
	mux := http.NewServeMux()
	addProbes(mux, health, ready)
	for pattern, handler := range handlers {
		mux.Handle(pattern, handler)
	}
	return mux
}

// metricsAge is how old metrics may be.
const metricsAge = time.Second

// cachedGatherer gathers metrics at most once in metricsAge.
type cachedGatherer struct {
	from prometheus.Gatherer
	mu   struct {
		sync.Mutex
		at      time.Time // when metrics were gathered; zero before
		metrics []*dto.MetricFamily
		err     error
	}
}

// Gather implements prometheus.Gatherer. Callers do not change what it returns.
func (g *cachedGatherer) Gather() ([]*dto.MetricFamily, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mu.at.IsZero() || time.Since(g.mu.at) >= metricsAge {
		g.mu.metrics, g.mu.err = g.from.Gather()
		g.mu.at = time.Now()
	}
	return g.mu.metrics, g.mu.err
}

// addProbes adds what load balancers and orchestrators ask. A daemon that is not healthy is not
// ready either. Both checks may be nil.
func addProbes(mux *http.ServeMux, health, ready func() error) {
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { answerProbe(w, health) })
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) { answerProbe(w, health, ready) })
}

// answerProbe answers "ok", or status 503 and the cause of the first check that fails.
func answerProbe(w http.ResponseWriter, checks ...func() error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, check := range checks {
		if check == nil {
			continue
		}
		if err := check(); err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, err)
			return
		}
	}
	fmt.Fprintln(w, "ok")
}

// addProfiles adds the handlers of net/http/pprof, which otherwise serve only the
// default mux. Unless token is "", a request must show it.
func addProfiles(mux *http.ServeMux, token string) {
	for path, handler := range map[string]http.HandlerFunc{
		"": pprof.Index, "cmdline": pprof.Cmdline, "profile": pprof.Profile, "symbol": pprof.Symbol, "trace": pprof.Trace,
	} {
		mux.HandleFunc("/debug/pprof/"+path, func(w http.ResponseWriter, r *http.Request) {
			if token != "" && !rpc.Authorized(r, token) {
				w.Header().Set("WWW-Authenticate", "Bearer")
				http.Error(w, "profiles need the cluster's token", http.StatusUnauthorized)
				return
			}
			handler(w, r)
		})
	}
}

// listenerMetrics are metrics of a daemon's listeners by their setting.
var listenerMetrics = []Metric[map[string]*Listener]{
	{"connections", "open connections", []string{"port"}, func(all map[string]*Listener, v Values) {
		for setting, l := range all {
			v.Gauge(float64(l.Open()), setting)
		}
	}},
	{"connections_refused_total", "connections closed because there were too many", []string{"port"}, func(all map[string]*Listener, v Values) {
		for setting, l := range all {
			v.Counter(float64(l.Refused()), setting)
		}
	}},
}
