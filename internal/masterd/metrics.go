package masterd

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/percentile"
	"github.com/hammr/hammr/jobmaster"
)

// metrics are a master's metrics for Prometheus. Only the leader has metrics of jobs,
// tasknodes, slots, pools and attempts. docs/cluster.md has a row for each, with the same text;
// a test compares them.
type metrics struct{ *Daemon }

var (
	leadsMetric     = daemon.NewMetric("leads", "1 on the leader, 0 on other masters")
	termMetric      = daemon.NewMetric("raft_term", "current Raft term")
	indexMetric     = daemon.NewMetric("raft_commit_index", "index of the last committed log entry")
	lagMetric       = daemon.NewMetric("raft_unapplied", "committed log entries that are not applied yet")
	writeMetric     = daemon.NewMetric("raft_write_seconds", "time of a write to the log, fsync included; quantiles are of the latest 512 writes")
	electionsMetric = daemon.NewMetric("elections_total", "changes of the leader that this master has seen since its start")
	watchersMetric  = daemon.NewMetric("watchers", "browsers and programs that follow the cluster through this master")
	requestsMetric  = daemon.NewMetric("http_requests_total", "requests to the pages and the API of this master, by class of the status: 2xx, 3xx, 4xx or 5xx", "code")
	requestMetric   = daemon.NewMetric("http_request_seconds", "time of a request to the pages or the API, streams excluded; quantiles are of the latest 1024 requests")
	waitMetric      = daemon.NewMetric("wait_seconds", "time from when a task was ready to the start of its attempt, of attempts started since this master has started")
	boardAgeMetric  = daemon.NewMetric("board_age_seconds", "time since this master knew that what its pages show is the present state; 0 on the leader")
	snapshotMetric  = daemon.NewMetric("snapshot_seconds", "time of a snapshot, from the copy of the state to the end of the write; quantiles are of the latest 64")
	snapshotBytes   = daemon.NewMetric("snapshot_bytes", "size of the latest snapshot that this process wrote")
	turnMetric      = daemon.NewMetric("loop_turn_seconds", "time of a turn of the master's loop that had work; quantiles are of the latest 8192 turns")
	decideMetric    = daemon.NewMetric("decide_seconds", "time of a scheduling decision; quantiles are of the latest 8192 decisions")
	batchMetric     = daemon.NewMetric("batch_entries", "log entries of an applied batch; quantiles are of the latest 1024 batches")
	inboxMetric     = daemon.NewMetric("inbox_messages", "messages that wait for the loop")
	inboxPeakMetric = daemon.NewMetric("inbox_messages_max", "most messages that the loop took at once in the last one to two minutes")
	refusedMetric   = daemon.NewMetric("refused_requests_total", "requests of clients that were refused, by cause: overload or rate; clients repeat them", "cause")

	historiesMetric = daemon.NewMetric("unwritten_histories", "finished jobs whose history is not written; they stay in memory")
	jobsMetric      = daemon.NewMetric("jobs", "jobs by state", "state")
	nodesMetric     = daemon.NewMetric("tasknodes", "tasknodes by state", "state")
	slotsMetric     = daemon.NewMetric("slots", "slots by kind and use; those in all belong to tasknodes that accept tasks", "kind", "use")
	poolTasksMetric = daemon.NewMetric("pool_tasks", "tasks of a pool by state: running or pending", "pool", "state")
	poolSlotsMetric = daemon.NewMetric("pool_slots", "slots by pool, kind and use: used, or share for the fair share, 0 if the policy has none", "pool", "kind", "use")
	launchesMetric  = daemon.NewMetric("launches_total", "attempts started since this master leads, by place relative to their split: node, rack, other or any", "place")
	attemptsMetric  = daemon.NewMetric("attempts_total", "attempts ended since this master leads, by state: succeeded, failed, killed or preempted", "state")
	failuresMetric  = daemon.NewMetric("failures_total", "attempts failed since this master leads, by cause: task, timeout, fetch, storage or checkpoint", "cause")
	lostMetric      = daemon.NewMetric("tasknodes_lost_total", "tasknodes declared lost since this master leads")
)

// Describe implements prometheus.Collector.
func (*metrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		leadsMetric, termMetric, electionsMetric, watchersMetric, requestsMetric, requestMetric, boardAgeMetric, preemptionsMetric, preemptedMetric, latencyMetric, waitMetric, indexMetric, lagMetric, writeMetric, snapshotMetric, snapshotBytes, turnMetric, decideMetric,
		batchMetric, inboxMetric, inboxPeakMetric, refusedMetric, historiesMetric, jobsMetric, nodesMetric, slotsMetric,
		poolTasksMetric, poolSlotsMetric, launchesMetric, attemptsMetric, failuresMetric, lostMetric,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector. It asks the loop nothing: a scrape must not delay it.
// A tasknode without a connection counts until it is lost, as it does for the scheduler.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	c := collector(to)
	m.collectLog(c)
	m.collectLoop(c)
	m.collectPages(c)
	m.collectWaits(c)
	if m.log.Leader().ID != m.cfg.ID {
		c.gauge(leadsMetric, 0)
		return
	}
	c.gauge(leadsMetric, 1)
	c.gauge(historiesMetric, float64(m.master.HistoryProblem().Unwritten))
	if stats := m.master.Stats(); stats != nil { // else the loop has published nothing yet
		c.collectStats(stats)
	}
}

// collectLog collects the metrics of the Raft log.
func (m *metrics) collectLog(c collector) {
	s := m.log.Status()
	c.gauge(termMetric, float64(s.Term))
	_, elections := m.log.LeadChanges()
	c.counter(electionsMetric, elections)
	c.gauge(indexMetric, float64(s.CommitIndex))
	c.gauge(lagMetric, float64(s.CommitIndex-min(s.AppliedIndex, s.CommitIndex)))
	c.seconds(writeMetric, s.Store)
	c.seconds(snapshotMetric, s.Snapshots)
	c.gauge(snapshotBytes, float64(s.SnapshotBytes))
}

// collectLoop collects the metrics of the loop and of refused requests, which every master has.
func (m *metrics) collectLoop(c collector) {
	loop := m.master.Meters()
	c.seconds(turnMetric, loop.Turns)
	c.seconds(decideMetric, loop.Decisions)
	c.summary(batchMetric, loop.Batches.Count, float64(loop.Batches.Total), float64(loop.Batches.Median), float64(loop.Batches.P99), float64(loop.Batches.Max))
	c.gauge(inboxMetric, float64(loop.Inbox))
	c.gauge(inboxPeakMetric, float64(loop.InboxPeak))
	c.counter(refusedMetric, loop.Refused, "overload")
	c.counter(refusedMetric, m.calls.RefusedByRate(), "rate")
}

// collectPages collects the metrics of the pages, and those of the board that every master has.
func (m *metrics) collectPages(c collector) {
	c.gauge(watchersMetric, float64(m.pages.Watchers.Load()))
	for class := 2; class <= 5; class++ {
		c.counter(requestsMetric, m.pages.Answers[class].Load(), fmt.Sprintf("%dxx", class))
	}
	c.seconds(requestMetric, m.pages.Times())
	if contact := m.log.LastContact(); !contact.IsZero() {
		c.gauge(boardAgeMetric, max(0, time.Since(contact).Seconds()))
	}
	rows, _ := m.master.Board().Preemptions()
	c.collectPreemptions(rows)
}

// collectWaits collects the times that attempts waited for their slots.
func (m *metrics) collectWaits(c collector) {
	waits := m.master.Board().Waits()
	c <- prometheus.MustNewConstHistogram(waitMetric, waits.Count, float64(waits.Millis)/1000, waits.BySeconds())
}

// collectStats collects what the loop has published.
func (c collector) collectStats(stats *jobmaster.Stats) {
	for state, n := range stats.Jobs {
		c.gauge(jobsMetric, float64(n), state)
	}
	for state, n := range stats.Tasknodes {
		c.gauge(nodesMetric, float64(n), state)
	}
	for kind, label := range map[cluster.Slot]string{cluster.MapSlot: "map", cluster.ReduceSlot: "reduce"} {
		c.gauge(slotsMetric, float64(stats.Slots[kind]), label, "all")
		c.gauge(slotsMetric, float64(stats.Used[kind]), label, "used")
		for _, p := range stats.Pools {
			c.gauge(poolSlotsMetric, float64(p.Used[kind]), p.Name, label, "used")
			c.gauge(poolSlotsMetric, p.Share[kind], p.Name, label, "share")
		}
	}
	for _, p := range stats.Pools {
		c.gauge(poolTasksMetric, float64(p.Running), p.Name, "running")
		c.gauge(poolTasksMetric, float64(p.Pending), p.Name, "pending")
	}
	for desc, counts := range map[*prometheus.Desc]map[string]int64{
		launchesMetric: stats.Counts.Launches, attemptsMetric: stats.Counts.Attempts,
		failuresMetric: stats.Counts.Failures,
	} {
		for label, n := range counts {
			c.counter(desc, n, label)
		}
	}
	c.counter(lostMetric, stats.Counts.TasknodesLost)
}

// collector sends metrics to Prometheus.
type collector chan<- prometheus.Metric

func (c collector) gauge(d *prometheus.Desc, value float64, labels ...string) {
	c <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

func (c collector) counter(d *prometheus.Desc, value int64, labels ...string) {
	c <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(value), labels...)
}

func (c collector) seconds(d *prometheus.Desc, s percentile.Summary[time.Duration]) {
	c.summary(d, s.Count, s.Total.Seconds(), s.Median.Seconds(), s.P99.Seconds(), s.Max.Seconds())
}

func (c collector) summary(d *prometheus.Desc, count uint64, sum, median, p99, most float64) {
	c <- prometheus.MustNewConstSummary(d, count, sum, map[float64]float64{0.5: median, 0.99: p99, 1: most})
}
