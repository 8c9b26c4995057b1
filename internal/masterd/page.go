package masterd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/faultrpc"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/jobmaster/boardhttp"
)

// info returns this master's answer to callers that have the token. This master need not be
// the leader.
func (d *Daemon) info() *wire.Info {
	s := d.log.Status()
	info := &wire.Info{
		ClusterId: d.cfg.ClusterID, Leader: s.Leader.ID, Term: s.Term,
		StagingDir: d.cfg.Staging, Version: d.cfg.Version, AnsweredBy: d.cfg.ID,
		CommitIndex: s.CommitIndex, AppliedIndex: s.AppliedIndex,
		ClusterVersion: int32(d.master.ClusterVersion()), FormatVersion: cluster.FormatVersion,
		LogWrites: &wire.Info_LogWrites{
			Count: s.Store.Count, MedianMicros: s.Store.Median.Microseconds(),
			P99Micros: s.Store.P99.Microseconds(), MaxMicros: s.Store.Max.Microseconds(),
		},
	}
	p := d.master.HistoryProblem()
	info.UnwrittenHistories, info.HistoryError = int32(p.Unwritten), p.Error
	for _, other := range s.Masters {
		master := &wire.Info_Master{Id: other.ID, Address: other.Address, State: other.State, NonVoter: !other.Voter}
		if other.ID == d.cfg.ID {
			master.Http = d.page.Addr().String()
		}
		info.Masters = append(info.Masters, master)
	}
	return info
}

// newPage returns the handler of the master's HTTP page. Add further handlers to Handlers. A
// handler must call d.log.ConfirmLead before it reads from d.master, as calls do
// (jobmaster/server/calls.go), unless it reads d.master.Board(), which every master has. If
// d.master has no method for the data, add one in jobmaster/query.go. docs/cluster.md lists the
// paths.
func (d *Daemon) newPage() http.Handler {
	return daemon.NewPage(daemon.PageConfig{
		Title:    fmt.Sprintf("jobmaster %s of cluster %s", d.cfg.ID, d.cfg.ClusterID),
		Profiles: d.cfg.Profiles, Metrics: []prometheus.Collector{&metrics{d}},
		ProfileToken: d.page.ProfileToken(d.token),
		Health:       func(*http.Request) error { return d.health() },
		Ready:        func(*http.Request) error { return d.ready() },
		Listeners:    map[string]*daemon.Listener{"address": d.listener, "http": d.page},
		Handlers: map[string]http.Handler{
			faultrpc.Path: d.drills.Handler(d.token, d.cfg.Logger),
			"/board/":     withToken(d.token, boardhttp.New(d.master.Board())),
		},
	})
}

// withToken returns a handler that refuses requests without the cluster's token.
func withToken(token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !rpc.Authorized(r.Header, token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the token is not the cluster's", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// maxPendingWrite is how long a write to the log may take before this master is unhealthy.
const maxPendingWrite = 4 * time.Second

// health returns why this master should be restarted, nil if it should not. It does not wait for
// the loop. A missing leader is no reason: no restart brings a majority back.
func (d *Daemon) health() error {
	if err := d.watchdog.Check(); err != nil {
		return err
	}
	if age := d.log.PendingWrite(); age > maxPendingWrite {
		return fmt.Errorf("disk of the log does not answer: a write to %s has taken %v so far", d.cfg.Dir, age.Round(100*time.Millisecond))
	}
	return nil
}

// ready returns why clients and tasknodes should not use this master for now, nil if they may.
// A follower is ready: it names the leader to its callers.
func (d *Daemon) ready() error {
	if d.log.Leader().ID == "" {
		return errors.New("no leader is known")
	}
	return nil
}

// status describes in one line what this master does.
func (d *Daemon) status() string {
	switch leader := d.log.Leader().ID; leader {
	case "":
		return "looks for a leader"
	case d.cfg.ID:
		return "leads cluster " + d.cfg.ClusterID
	default:
		return "follows " + leader
	}
}

// probeClient keeps no connections, because it rarely probes a tasknode twice.
var probeClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// probeTasknode asks the page of a tasknode whether the tasknode is alive. Any answer shows
// that it is, even the answer that it is unhealthy. address is that of its shuffle server, ""
// for none. If connections to it are refused, the error wraps syscall.ECONNREFUSED.
//
// A refusal by the page alone does not show that the process has ended: the page may listen
// only on the loopback address.
func probeTasknode(ctx context.Context, page, address string) error {
	if address != "" {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return fmt.Errorf("shuffle server of a tasknode: %w", err)
		}
		_ = conn.Close() // nothing was sent
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+page+"/health", nil)
	if err != nil {
		return fmt.Errorf("page of a tasknode: %w", err)
	}
	answer, err := probeClient.Do(request)
	if err != nil {
		return fmt.Errorf("page of a tasknode: %v", err) // no ECONNREFUSED: see above
	}
	return answer.Body.Close()
}
