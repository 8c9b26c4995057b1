package masterd

import (
	"fmt"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/docs/board"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/jobmaster/raftlog"
)

// scrape is what the metrics of a master read. It asks the loop nothing: a scrape must not delay it.
type scrape struct {
	*Daemon
	log         raftlog.Status
	loop        jobmaster.Meters
	elections   int64
	leads       bool
	stats       *jobmaster.Stats // nil on a follower, and until the loop has published some
	preemptions [len(preemptModes)]preemptions
}

// scrape reads what the metrics need. A tasknode without a connection counts until it is lost, as it
// does for the scheduler.
func (d *Daemon) scrape() *scrape {
	s := &scrape{Daemon: d, log: d.log.Status(), loop: d.master.Meters(), leads: d.log.Leader().ID == d.cfg.ID}
	_, s.elections = d.log.LeadChanges()
	if s.leads {
		s.stats = d.master.Stats()
	}
	s.addPreemptions()
	return s
}

// ofStats returns the Read of a metric that only the leader has.
func ofStats(read func(*jobmaster.Stats, daemon.Values)) func(*scrape, daemon.Values) {
	return func(s *scrape, v daemon.Values) {
		if s.stats != nil {
			read(s.stats, v)
		}
	}
}

// ofWaits returns the Read of a histogram of waits.
func ofWaits(of func(*board.AllWaits) *board.Waits) func(*scrape, daemon.Values) {
	return func(s *scrape, v daemon.Values) {
		all := s.master.Board().Waits()
		waits := of(&all)
		v.Histogram(waits.Count, float64(waits.Millis)/1000, waits.BySeconds())
	}
}

var slotKinds = map[cluster.Slot]string{cluster.MapSlot: "map", cluster.ReduceSlot: "reduce"}

// metrics are a master's metrics for Prometheus.
var metrics = []daemon.Metric[*scrape]{
	daemon.NewMetric("leads", "1 on the leader, 0 on other masters", nil, func(s *scrape, v daemon.Values) { v.Flag(s.leads) }),
	daemon.NewMetric("raft_term", "current Raft term", nil, func(s *scrape, v daemon.Values) { v.Gauge(float64(s.log.Term)) }),
	daemon.NewMetric("raft_commit_index", "index of the last committed log entry", nil, func(s *scrape, v daemon.Values) { v.Gauge(float64(s.log.CommitIndex)) }),
	daemon.NewMetric("raft_unapplied", "committed log entries that are not applied yet", nil, func(s *scrape, v daemon.Values) {
		v.Gauge(float64(s.log.CommitIndex - min(s.log.AppliedIndex, s.log.CommitIndex)))
	}),
	daemon.NewMetric("raft_write_seconds", "time of a write to the log, fsync included; quantiles are of the latest 512 writes", nil, func(s *scrape, v daemon.Values) { v.Seconds(s.log.Store) }),
	daemon.NewMetric("elections_total", "changes of the leader that this master has seen since its start", nil, func(s *scrape, v daemon.Values) { v.Counter(float64(s.elections)) }),
	daemon.NewMetric("snapshot_seconds", "time of a snapshot, from the copy of the state to the end of the write; quantiles are of the latest 64", nil, func(s *scrape, v daemon.Values) { v.Seconds(s.log.Snapshots) }),
	daemon.NewMetric("snapshot_bytes", "size of the latest snapshot that this process wrote", nil, func(s *scrape, v daemon.Values) { v.Gauge(float64(s.log.SnapshotBytes)) }),
	daemon.NewMetric("loop_turn_seconds", "time of a turn of the master's loop that had work; quantiles are of the latest 8192 turns", nil, func(s *scrape, v daemon.Values) { v.Seconds(s.loop.Turns) }),
	daemon.NewMetric("decide_seconds", "time of a scheduling decision; quantiles are of the latest 8192 decisions", nil, func(s *scrape, v daemon.Values) { v.Seconds(s.loop.Decisions) }),
	daemon.NewMetric("batch_entries", "log entries of an applied batch; quantiles are of the latest 1024 batches", nil, func(s *scrape, v daemon.Values) { v.Numbers(s.loop.Batches) }),
	daemon.NewMetric("inbox_messages", "messages that wait for the loop", nil, func(s *scrape, v daemon.Values) { v.Gauge(float64(s.loop.Inbox)) }),
	daemon.NewMetric("inbox_messages_max", "most messages that the loop took at once in the last one to two minutes", nil, func(s *scrape, v daemon.Values) { v.Gauge(float64(s.loop.InboxPeak)) }),
	daemon.NewMetric("refused_requests_total", "requests of clients that were refused, by cause: overload or rate; clients repeat them", []string{"cause"}, func(s *scrape, v daemon.Values) {
		v.Counters(map[string]int64{"overload": s.loop.Refused, "rate": s.calls.RefusedByRate()})
	}),
	daemon.NewMetric("watchers", "browsers and programs that follow the cluster through this master", nil, func(s *scrape, v daemon.Values) { v.Gauge(float64(s.pages.Watchers.Load())) }),
	daemon.NewMetric("http_requests_total", "requests to the pages and the API of this master, by class of the status: 2xx, 3xx, 4xx or 5xx", []string{"code"}, func(s *scrape, v daemon.Values) {
		for class := 2; class <= 5; class++ {
			v.Counter(float64(s.pages.Answers[class].Load()), fmt.Sprintf("%dxx", class))
		}
	}),
	daemon.NewMetric("http_request_seconds", "time of a request to the pages or the API, streams excluded; quantiles are of the latest 1024 requests", nil, func(s *scrape, v daemon.Values) { v.Seconds(s.pages.Times()) }),
	daemon.NewMetric("board_age_seconds", "time since this master knew that what its pages show is the present state; 0 on the leader", nil, func(s *scrape, v daemon.Values) {
		if contact := s.Daemon.log.LastContact(); !contact.IsZero() {
			v.Gauge(max(0, time.Since(contact).Seconds()))
		}
	}),
	daemon.NewMetric("wait_seconds", "time from when a task was ready to the start of its attempt, of attempts started since this master has started", nil, ofWaits(func(w *board.AllWaits) *board.Waits { return &w.Starts })),
	daemon.NewMetric("recovery_wait_seconds", "time from the loss of a tasknode to the start of a task that was lost with it, since this master has started", nil, ofWaits(func(w *board.AllWaits) *board.Waits { return &w.Recoveries })),
	daemon.NewMetric("schedule_correct_seconds", "time from the loss of a tasknode until none of the tasks that were lost with it waited, of losses with tasks", nil, ofWaits(func(w *board.AllWaits) *board.Waits { return &w.Corrections })),
	daemon.NewMetric("preemptions_total", "orders to give up a slot since this master has started, by mode and by pool of the attempt", []string{"how", "pool"}, readPreemptions),
	daemon.NewMetric("preempted_slot_seconds_total", "slot time of preempted attempts since this master has started, by outcome (kept or lost) and mode", []string{"outcome", "how"}, func(s *scrape, v daemon.Values) {
		for i, mode := range preemptModes {
			v.Counter(float64(s.preemptions[i].kept)/1000, "kept", string(mode))
			v.Counter(float64(s.preemptions[i].lost)/1000, "lost", string(mode))
		}
	}),
	daemon.NewMetric("preempt_latency_seconds", "time from an order to give up a slot to the free slot, by the mode in which the slot was given up", []string{"how"}, readLatency),

	// Only the leader has these.
	daemon.NewMetric("unwritten_histories", "finished jobs whose history is not written; they stay in memory", nil, func(s *scrape, v daemon.Values) {
		if s.leads {
			v.Gauge(float64(s.master.HistoryProblem().Unwritten))
		}
	}),
	daemon.NewMetric("jobs", "jobs by state", []string{"state"}, ofStats(func(s *jobmaster.Stats, v daemon.Values) { v.Gauges(s.Jobs) })),
	daemon.NewMetric("tasknodes", "tasknodes by state", []string{"state"}, ofStats(func(s *jobmaster.Stats, v daemon.Values) { v.Gauges(s.Tasknodes) })),
	daemon.NewMetric("slots", "slots by kind and use; those in all belong to tasknodes that accept tasks", []string{"kind", "use"}, ofStats(func(s *jobmaster.Stats, v daemon.Values) {
		for kind, label := range slotKinds {
			v.Gauge(float64(s.Slots[kind]), label, "all")
			v.Gauge(float64(s.Used[kind]), label, "used")
		}
	})),
	daemon.NewMetric("pool_tasks", "tasks of a pool by state: running or pending", []string{"pool", "state"}, ofStats(func(s *jobmaster.Stats, v daemon.Values) {
		for _, p := range s.Pools {
			v.Gauge(float64(p.Running), p.Name, "running")
			v.Gauge(float64(p.Pending), p.Name, "pending")
		}
	})),
	daemon.NewMetric("pool_slots", "slots by pool, kind and use: used, or share for the fair share, 0 if the policy has none", []string{"pool", "kind", "use"}, ofStats(func(s *jobmaster.Stats, v daemon.Values) {
		for _, p := range s.Pools {
			for kind, label := range slotKinds {
				v.Gauge(float64(p.Used[kind]), p.Name, label, "used")
				v.Gauge(p.Share[kind], p.Name, label, "share")
			}
		}
	})),
	daemon.NewMetric("launches_total", "attempts started since this master leads, by place relative to their split: node, rack, other or any", []string{"place"}, ofStats(func(s *jobmaster.Stats, v daemon.Values) { v.Counters(s.Counts.Launches) })),
	daemon.NewMetric("attempts_total", "attempts ended since this master leads, by state: succeeded, failed, killed or preempted", []string{"state"}, ofStats(func(s *jobmaster.Stats, v daemon.Values) { v.Counters(s.Counts.Attempts) })),
	daemon.NewMetric("failures_total", "attempts failed since this master leads, by cause: task, timeout, fetch, storage or checkpoint", []string{"cause"}, ofStats(func(s *jobmaster.Stats, v daemon.Values) { v.Counters(s.Counts.Failures) })),
	daemon.NewMetric("tasknodes_lost_total", "tasknodes declared lost since this master leads", nil, ofStats(func(s *jobmaster.Stats, v daemon.Values) { v.Counter(float64(s.Counts.TasknodesLost)) })),
}
