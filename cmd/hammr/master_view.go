package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/faultrpc"
	"github.com/hammr/hammr/internal/wire"
)

// info is what this master tells anybody who has the token.
func (m *masterDaemon) info() *wire.Info {
	s := m.log.Status()
	info := &wire.Info{
		ClusterId: m.cfg.clusterID, Leader: s.Leader.ID, Term: s.Term,
		StagingDir: m.cfg.staging, Version: buildVersion(), AnsweredBy: m.cfg.id,
		LogWrites: &wire.Info_LogWrites{
			Count: s.Store.Writes, MedianMicros: s.Store.Median.Microseconds(),
			P99Micros: s.Store.P99.Microseconds(), MaxMicros: s.Store.Max.Microseconds(),
		},
	}
	for _, other := range s.Masters {
		master := &wire.Info_Master{Id: other.ID, Address: other.Address, State: other.State}
		if other.ID == m.cfg.id {
			master.Http = m.page.Addr().String()
		}
		info.Masters = append(info.Masters, master)
	}
	return info
}

func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return ""
}

// shuffleToken is what shuffle servers ask of tasks: it follows from the
// cluster's token, which tasks are not told.
func shuffleToken(token string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("shuffle"))
	return hex.EncodeToString(mac.Sum(nil))
}

// handOverTime is how long a master that ends tries to have another one lead.
const handOverTime = time.Second

// handOver has another master lead, if there is one, so that nobody waits for an
// election.
func (m *masterDaemon) handOver() {
	s := m.log.Status()
	if s.Leader.ID != m.cfg.id || len(s.Masters) < 2 {
		return
	}
	if err := (masterAdmin{m.log}).TransferLeadership(""); err != nil {
		m.logger.Info("the lead was not handed over", "error", err)
	}
}

// newPage is the master's page.
func (m *masterDaemon) newPage() http.Handler {
	return daemon.NewPage(daemon.PageConfig{
		Title:    fmt.Sprintf("jobmaster %s of cluster %s", m.cfg.id, m.cfg.clusterID),
		Profiles: m.cfg.profiles, Metrics: []prometheus.Collector{&masterMetrics{m}},
		Health: func(*http.Request) error {
			if m.log.Leader().ID == "" {
				return errors.New("no leader is known")
			}
			return nil
		},
		Handlers: map[string]http.Handler{faultrpc.Path: drillsHandler(m.token, m.drills, m.logger)},
	})
}

// masterMetrics are a master's figures for Prometheus. What only the leader
// knows, only the leader shows.
type masterMetrics struct{ *masterDaemon }

var (
	leadsMetric = metric("leads", "1 on the master that leads")
	termMetric  = metric("raft_term", "number of the present lead")
	indexMetric = metric("raft_commit_index", "entries of the log that are certain")
	lagMetric   = metric("raft_unapplied", "entries that are certain and not applied yet")
	writeMetric = metric("raft_write_seconds", "time that a write to the log takes, fsync included; quantiles are of the latest ones")
	jobsMetric  = metric("jobs", "jobs by state", "state")
	nodesMetric = metric("tasknodes", "tasknodes by state", "state")
	slotsMetric = metric("slots", "slots, by kind and use; all are those of tasknodes that take tasks", "kind", "use")
)

func metric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("hammr_"+name, help, labels, nil)
}

// Describe implements prometheus.Collector.
func (*masterMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{leadsMetric, termMetric, indexMetric, lagMetric, writeMetric, jobsMetric, nodesMetric, slotsMetric} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *masterMetrics) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	s := c.log.Status()
	gauge(termMetric, float64(s.Term))
	gauge(indexMetric, float64(s.CommitIndex))
	gauge(lagMetric, float64(s.CommitIndex-min(s.AppliedIndex, s.CommitIndex)))
	to <- prometheus.MustNewConstSummary(writeMetric, s.Store.Writes, s.Store.Total.Seconds(), map[float64]float64{
		0.5: s.Store.Median.Seconds(), 0.99: s.Store.P99.Seconds(), 1: s.Store.Max.Seconds(),
	})
	if s.Leader.ID != c.cfg.id {
		gauge(leadsMetric, 0)
		return
	}
	gauge(leadsMetric, 1)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	jobs, err := c.master.Jobs(ctx, true)
	if err != nil {
		return
	}
	byState := make(map[string]int)
	for _, j := range jobs {
		byState[j.State.String()]++
	}
	for state, n := range byState {
		gauge(jobsMetric, float64(n), state)
	}
	c.collectNodes(ctx, gauge)
}

func (c *masterMetrics) collectNodes(ctx context.Context, gauge func(*prometheus.Desc, float64, ...string)) {
	nodes, err := c.master.Tasknodes(ctx, true)
	if err != nil {
		return
	}
	byState := make(map[string]int)
	var maps, mapsUsed, reduces, reducesUsed int32
	for _, n := range nodes {
		byState[n.State]++
		mapsUsed, reducesUsed = mapsUsed+n.MapsRunning, reducesUsed+n.ReducesRunning
		if n.State == "RUNNING" || n.State == "SILENT" {
			maps, reduces = maps+n.MapSlots, reduces+n.ReduceSlots
		}
	}
	for state, n := range byState {
		gauge(nodesMetric, float64(n), state)
	}
	gauge(slotsMetric, float64(maps), "map", "all")
	gauge(slotsMetric, float64(mapsUsed), "map", "used")
	gauge(slotsMetric, float64(reduces), "reduce", "all")
	gauge(slotsMetric, float64(reducesUsed), "reduce", "used")
}
