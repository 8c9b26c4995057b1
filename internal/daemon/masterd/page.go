package masterd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/docs/histindex"
	"github.com/hammr/hammr/internal/logs/nodeprofile"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/access"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/source/board"
	"github.com/hammr/hammr/internal/source/files"
	"github.com/hammr/hammr/internal/source/leader"
	"github.com/hammr/hammr/internal/web"
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
			P99Micros: s.Store.P99.Microseconds(), MaxMicros: s.Store.Max.Microseconds(), Histogram: s.StoreBins,
		},
	}
	info.SnapshotIndex, info.AppliedTime = s.SnapshotIndex, d.master.AppliedTime()
	changes, _ := d.log.LeadChanges()
	for _, c := range changes {
		info.LeadChanges = append(info.LeadChanges, &wire.Info_LeadChange{
			Time: c.At.UnixMilli(), Term: c.Term, Leader: c.Leader, Before: c.Before, GapMillis: c.Gap.Milliseconds(), Cause: c.Cause,
		})
	}
	p := d.master.HistoryProblem()
	info.UnwrittenHistories, info.HistoryError = int32(p.Unwritten), p.Error
	for _, other := range s.Masters {
		master := &wire.Info_Master{Id: other.ID, Address: other.Address, State: other.State, NonVoter: !other.Voter}
		if other.ID == d.cfg.ID {
			master.Http = d.pageAddress()
		}
		info.Masters = append(info.Masters, master)
	}
	return info
}

// pageAddress returns the address of the page for other machines: if it listens on all addresses, with
// the host at which others reach this master.
func (d *Daemon) pageAddress() string {
	listens := d.Page.Addr().String()
	host, port, err := net.SplitHostPort(listens)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		if advertised, _, err := net.SplitHostPort(d.cfg.Advertise); err == nil && advertised != "" {
			return net.JoinHostPort(advertised, port)
		}
	}
	return listens
}

// newPage returns the handler of the master's HTTP page: the pages and the API of package web, and
// the paths of every daemon. To add a page, see package web; to add another path, add it to PageConfig.Handlers.
// A handler must call d.log.ConfirmLead before it reads from d.master, except from its board and by
// the functions of jobmaster/local.go, which every master answers. docs/cluster.md lists the paths.
func (d *Daemon) newPage() http.Handler {
	pages := web.New(web.Config{
		Source: d.source, Gate: d.gate, Name: "master " + d.cfg.ID, Meters: d.pages, Scheduler: d.cfg.YarnScheduler, Logger: d.cfg.Logger,
	})
	d.Opened.Add(pages.Close)
	return d.NewPage(daemon.PageConfig{
		Title:   fmt.Sprintf("jobmaster %s of cluster %s", d.cfg.ID, d.cfg.ClusterID),
		Metrics: []prometheus.Collector{daemon.NewCollector(metrics, d.scrape)},
		Health:  d.health, Ready: d.ready, Front: d.gate.Handler(pages),
	})
}

// openPages opens what the pages read: this master's own board and state, and the leader for what only
// the leader knows. So every master serves them, whichever leads.
func (d *Daemon) openPages() (err error) {
	masters := []string{d.cfg.Advertise}
	for _, p := range d.peers {
		if p.Address != d.cfg.Advertise {
			masters = append(masters, p.Address)
		}
	}
	index := histindex.New(histindex.Config{Dir: d.cfg.HistoryDir, Resolve: d.files.Resolve})
	d.Opened.Add(index.Close)
	asker, err := leader.New(leader.Config{
		RPC:     rpc.Config{Masters: masters, Token: d.Token, ClusterID: d.cfg.ClusterID, User: "web"},
		Resolve: d.files.Resolve,
	})
	if err != nil {
		return err
	}
	d.Opened.Add(asker.Close)
	cfg := board.OfMaster(d.master)
	cfg.Cluster, cfg.Leader, cfg.Contact = d.cfg.ClusterID, asker, d.log.LastContact
	cfg.Past = files.New(files.Config{Index: index})
	d.source = board.New(cfg)
	if err := d.openAPI(); err != nil {
		return err
	}
	d.calls = d.newServer()
	d.gate, err = access.New(access.Config{
		Token: d.Token, Cluster: d.cfg.ClusterID, AnonymousReaders: d.cfg.AnonymousReaders, Hosts: d.Hosts(), Base: d.cfg.PageBase, Proxies: d.cfg.PageProxies, Refuse: web.Refuse,
		Audit: func(r access.Record) { r.Log(d.cfg.Logger) },
	})
	return err
}

// openAPI makes the handler of the REST API at the RPC address, for hammr ui elsewhere, and of profiles
// of this process. The server of
// calls has checked the token there, and a browser never sends it, so the name of the host does not
// matter.
func (d *Daemon) openAPI() error {
	gate, err := access.New(access.Config{
		Token: d.Token, Cluster: d.cfg.ClusterID, Requests: maxAPIRequests, Refuse: web.Refuse,
		Audit: func(r access.Record) { r.Log(d.cfg.Logger) },
	})
	if err != nil {
		return err
	}
	calls := web.New(web.Config{Source: d.source, Gate: gate, Name: "master " + d.cfg.ID, Logger: d.cfg.Logger})
	d.Opened.Add(calls.Close)
	api := gate.Handler(calls)
	profiles, path := nodeprofile.New(d.Token, nil), path.Join(rpc.APIRoot, nodeprofile.Path)
	d.api = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path && r.Method == http.MethodPost { // for other masters
			profiles.ServeHTTP(w, r)
			return
		}
		r = r.Clone(r.Context())
		r.Host = "localhost"
		api.ServeHTTP(w, r)
	})
	return nil
}

// maxAPIRequests is how many requests of one address run at a time at the RPC address.
const maxAPIRequests = 64

// maxPendingWrite is how long a write to the log may take before this master is unhealthy.
const maxPendingWrite = 4 * time.Second

// health returns why this master should be restarted, nil if it should not. It does not wait for
// the loop. A missing leader is no reason: no restart brings a majority back.
func (d *Daemon) health() error {
	if err := d.Watchdog.Check(); err != nil {
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

// probeTransport keeps no connections, because a master rarely probes a tasknode twice. A transport
// follows no redirections: a tasknode must not choose what the master asks.
var probeTransport = &http.Transport{DisableKeepAlives: true}

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
	if !rpc.IsAddress(page) {
		return fmt.Errorf("page of a tasknode: %q is not host:port", page)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+page+"/health", nil)
	if err != nil {
		return fmt.Errorf("page of a tasknode: %w", err)
	}
	answer, err := probeTransport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("page of a tasknode: %v", err) // no ECONNREFUSED: see above
	}
	return answer.Body.Close()
}
