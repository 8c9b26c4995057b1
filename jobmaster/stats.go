package jobmaster

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/wire"
)

// Stats counts what the leader knows, for metrics. The loop publishes it; readers do not change
// it.
type Stats struct {
	Jobs      map[string]int // jobs in the state, by state; 0 for a state without jobs
	Tasknodes map[string]int // tasknodes by state, as Tasknodes reports it
	Slots     cluster.Slots  // of tasknodes that accept tasks
	Used      cluster.Slots  // in use, also by tasknodes that are drained
	Pools     []PoolStats    // the largest pools, and one entry for all others
	Counts    Counts         // since this master leads
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
func (m *Master) Stats() *Stats { return m.stats.Load() }

// CheckLoop makes the loop call answer, whether this master leads or not. The loop then also
// publishes Stats, at most once in a second. CheckLoop does not wait.
func (m *Master) CheckLoop(answer func()) { m.inbox.Put(loopCheck(answer)) }

// loopCheck is a message that shows that the loop turns.
type loopCheck func()

func (c loopCheck) handle(m *Master) { m.publishStats(); c() }
func (c loopCheck) refuse(error)     { c() }

// publishStats publishes Stats if it is due. Its cost is linear in jobs, tasknodes and slots,
// not in tasks.
func (m *Master) publishStats() {
	p := &m.lead.publisher
	if m.now() < p.due {
		return
	}
	p.due = m.now() + statsInterval
	s := &Stats{Jobs: make(map[string]int), Tasknodes: make(map[string]int)}
	for state := wire.JobState_PREP; state <= wire.JobState_KILLED; state++ {
		s.Jobs[state.String()] = 0
	}
	for j := range m.view.Jobs() {
		s.Jobs[wire.JobState(j.State).String()]++
	}
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
	s.Pools, s.Counts = m.poolStats(), m.counts.clone()
	m.stats.Store(s)
}

// statsState returns the state of a tasknode. Of an excluded one it is as old as the last
// search.
func (m *Master) statsState(p *statsPublisher, machine *cluster.Machine, fetching map[string][]cluster.TaskID) string {
	if !machine.Excluded {
		return tasknodeState(machine, m.tasknode(machine.Name), false)
	}
	if fetching != nil {
		outputs, checkpoints := m.neededData(machine, fetching[machine.Name])
		works := len(machine.Attempts)+len(outputs)+len(checkpoints) > 0
		p.drained[machine.Name] = tasknodeState(machine, m.tasknode(machine.Name), works)
	}
	if state := p.drained[machine.Name]; state != "" {
		return state
	}
	return "DECOMMISSIONING" // excluded since the last search
}
