package jobmaster

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/board"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Stats counts what the leader knows, for metrics. Jobs and Pools come from the board. The
// loop publishes the rest, also the fair shares in Pools. Readers do not change it.
type Stats struct {
	Jobs      map[string]int // jobs in the state, by state; 0 for a state without jobs
	Tasknodes map[string]int // tasknodes by state, as Tasknodes reports it
	Slots     cluster.Slots  // of tasknodes that accept tasks
	Used      cluster.Slots  // in use, also by tasknodes that are drained
	Pools     []PoolStats    // the largest pools, and one entry for all others
	Counts    Counts         // since this master leads

	pools  []string              // pools for jobs
	shares map[string][2]float64 // fair shares by pool; none under a policy without shares
}

const (
	statsInterval = 1_000  // ms between two Stats
	drainInterval = 10_000 // ms between two searches for what drained tasknodes are needed for
)

// statsPublisher is the loop's part of Stats.
type statsPublisher struct {
	due      int64             // when the next Stats is published, in ms
	drainDue int64             // when drained is searched next, in ms
	drained  map[string]string // states of excluded tasknodes; their search visits all jobs
}

// Stats returns what the loop has published last. It is at most about a second old while
// CheckLoop is called each second. It is nil if this master has not led.
func (m *Master) Stats() *Stats {
	published := m.stats.Load()
	if published == nil {
		return nil
	}
	s, now := *published, m.board.Snapshot()
	s.Jobs, s.Pools = jobStats(now), boundPools(s.poolStats(now), maxPoolStats)
	return &s
}

// jobStats counts the jobs of a board by state.
func jobStats(b *board.Snapshot) map[string]int {
	jobs := make(map[string]int)
	for state := wire.JobState_PREP; state <= wire.JobState_KILLED; state++ {
		jobs[state.String()] = 0
	}
	for _, j := range b.Jobs {
		jobs[wire.JobState(j.State).String()]++
	}
	return jobs
}

// CheckLoop makes the loop call answer, whether this master leads or not. The loop then also adds
// a sample to the board and, if it leads, publishes Stats: both at most once in a second. CheckLoop
// does not wait.
func (m *Master) CheckLoop(answer func()) { m.inbox.Put(loopCheck{m, answer}) }

// loopCheck is a message that shows that the loop turns.
type loopCheck struct {
	m      *Master
	answer func()
}

func (c loopCheck) handle(m *Master) {
	m.trace(false)
	m.publishStats()
	m.board.Sample(m.now(), m.stats.Load().shares)
	c.answer()
}

// refuse is called on a follower, which does not know the shares.
func (c loopCheck) refuse(error) {
	c.m.board.Sample(c.m.cfg.Now().UnixMilli(), nil)
	c.answer()
}

// publishStats publishes Stats if it is due. Its cost is linear in tasknodes and pools, and in
// what the policy does to compute shares.
func (m *Master) publishStats() {
	p := &m.lead.publisher
	if m.now() < p.due {
		return
	}
	p.due = m.now() + statsInterval
	s := &Stats{Tasknodes: make(map[string]int), Counts: m.counts.clone(), pools: m.view.Pools(), shares: m.shares()}
	var fetching map[string][]cluster.TaskID // by machine; nil without a search
	if m.now() >= p.drainDue {
		fetching = m.fetchedCheckpoints()
		p.drained, p.drainDue = make(map[string]string), m.now()+drainInterval
	}
	for machine := range m.view.Machines() {
		state := m.statsState(p, machine, fetching)
		s.Tasknodes[state]++
		s.Used = s.Used.Plus(machine.Used)
		if state == "RUNNING" || state == "SILENT" {
			s.Slots = s.Slots.Plus(machine.Offered)
		}
	}
	m.stats.Store(s)
}

// statsState returns the state of a tasknode. Of an excluded one it is as old as the last
// search.
func (m *Master) statsState(p *statsPublisher, machine *cluster.Machine, fetching map[string][]cluster.TaskID) string {
	if !machine.Excluded {
		return tasknodeState(machine, m.tasknode(machine.Name), false)
	}
	if fetching != nil {
		outputs, checkpoints, _ := m.neededData(machine, fetching[machine.Name])
		works := len(machine.Attempts)+len(outputs)+len(checkpoints) > 0
		p.drained[machine.Name] = tasknodeState(machine, m.tasknode(machine.Name), works)
	}
	if state := p.drained[machine.Name]; state != "" {
		return state
	}
	return "DECOMMISSIONING" // excluded since the last search
}
