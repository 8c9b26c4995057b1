package board

import (
	"slices"
	"sync"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// publishInterval is the least time between two snapshots.
const publishInterval = 250 * time.Millisecond

// Config is what a Board needs to know.
type Config struct {
	// Summary reads the summary of an archived job in the state. Required.
	Summary func(summary []byte) Summary
	// InputRecords are counters whose sum is the number of records that a task has read. Spilled
	// are counters of records that it has spilled, InputBytes of bytes that it has read of its splits.
	// Default none: the numbers are 0.
	InputRecords, Spilled, InputBytes []cluster.CounterName
	// OnLoss is called in the loop when a tasknode was lost, and again when no task that was lost with it waits any
	// more. It must not call the board. The default does nothing.
	OnLoss func(apidoc.Loss)
	// Now returns the time; default time.Now.
	Now func() time.Time
}

// Board has rows of all jobs, tasks and attempts of a state. Commit, Sync and Restore are called
// in the loop that changes the state; Snapshot may be called anywhere.
type Board struct {
	cfg Config
	mu  struct {
		sync.Mutex
		contents
		samples samples
		waits   AllWaits
		ledger  ledger
	}
}

// contents is what the lock of a Board guards. Commit has the lock while it changes rows, and
// Snapshot while it makes a snapshot. Neither waits for anything else.
type contents struct {
	jobs      []*job // ascending by number
	names            // of machines, and of jobs and pools that get slots
	machines  map[string]machine
	offered   map[string]cluster.Slots // by machine that accepts tasks
	capacity  cluster.Slots            // sum of offered
	actions   []apidoc.UserAction      // of users, the oldest first; at most 2 * maxActions
	losses    losses                   // of machines
	changes   uint64                   // entries, and calls of Sync and Restore, so far
	since     int64                    // time of the first entry since Restore, ms since the epoch; 0 for none
	published int                      // snapshots made
	last      *Snapshot                // the latest; nil for none
}

// job is a job of a Board.
type job struct {
	JobRow
	stages   []*stage
	attempts int                 // of all stages
	actions  []apidoc.UserAction // of users on it and its attempts, the oldest first; at most 2 * maxJobActions
	tape     table[event]        // at most eventsPerAttempt for each attempt, and a chunk
	named    bitset              // names that its rows and events have
	frozen   *Job                // as the latest snapshot has it; nil if it has changed
}

// stage is a stage of a job, with its tasks by number.
type stage struct {
	StageRow
	index    int // in job.stages
	tasks    table[taskRow]
	attempts table[attemptRow]

	readyAt int64         // cluster.Job.ReadyAt; 0 if it is not known
	splitAt map[int]int64 // when a split made a task that has not started, ms since the epoch, by number of the task
}

// machine is what the board knows of the last join of a machine.
type machine struct {
	instance string
	epoch    int
}

// New returns the board of an empty state.
func New(cfg Config) *Board {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.OnLoss == nil {
		cfg.OnLoss = func(apidoc.Loss) {}
	}
	b := &Board{cfg: cfg}
	b.mu.clear()
	b.mu.samples, b.mu.ledger = newSamples(), newLedger()
	return b
}

// Restore replaces everything by what a view shows. Events and places are unknown then.
func (b *Board) Restore(view cluster.View) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := &b.mu.contents
	c.clear()
	c.changes++
	for m := range view.Machines() {
		c.machines[m.Name] = machine{m.Instance, m.Epoch}
		c.offer(m.Name, m)
	}
	u := update{Board: b, contents: c, view: view, silent: true}
	for j := range view.Jobs() {
		u.syncJob(j.ID)
	}
}

// Sync compares all rows with a view, at a time in ms since the epoch. It is for changes that no
// delta describes, such as the repair after a panic in Apply.
func (b *Board) Sync(at int64, view cluster.View) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.changes++
	u := update{Board: b, contents: &b.mu.contents, view: view, at: at}
	for _, j := range slices.Clone(b.mu.jobs) {
		u.syncJob(j.ID)
	}
	for j := range view.Jobs() {
		u.syncJob(j.ID)
	}
	for m := range view.Machines() {
		b.mu.offer(m.Name, m)
	}
}

// offer updates the slots of a machine; m is nil if the state has forgotten it.
func (c *contents) offer(name string, m *cluster.Machine) {
	c.capacity = c.capacity.Minus(c.offered[name])
	delete(c.offered, name)
	if m != nil && m.TakesTasks() {
		c.offered[name] = m.Offered
		c.capacity = c.capacity.Plus(m.Offered)
	}
}

// clear drops everything but the latest snapshot.
func (c *contents) clear() {
	c.jobs, c.since, c.actions = nil, 0, nil
	c.names, c.machines = newNames(), make(map[string]machine)
	c.offered, c.capacity = make(map[string]cluster.Slots), cluster.Slots{}
	c.losses = losses{waiting: make(map[cluster.TaskID]lostTask)}
}

// find returns the place of a job in jobs, or where it belongs.
func (c *contents) find(id cluster.JobID) (place int, found bool) {
	return slices.BinarySearchFunc(c.jobs, id.Number, func(j *job, n int) int { return j.ID.Number - n })
}
