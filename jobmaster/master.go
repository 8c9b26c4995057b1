package jobmaster

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/docs/board"
	"github.com/hammr/hammr/internal/kit/syncutil"
)

var (
	// ErrStopped is returned once Run has returned.
	ErrStopped = errors.New("jobmaster: stopped")
	// ErrNotLeader is returned by a master that does not lead.
	ErrNotLeader = errors.New("jobmaster: not the leader")
)

// Master is one jobmaster. It leads or follows, as its log says:
//
//	              Leading: becomeLeader
//	following ─────────────────────────────► leading
//	    ▲                                       │
//	    └───────────────────────────────────────┘
//	      Following, or the end of Run: stepDown
//
// A follower only applies batches, so that its state is up to date when it becomes
// leader. It refuses every request with ErrNotLeader. A leader also has a lead: the
// controller, the tables beside the state, and the requests that wait for an answer.
type Master struct {
	cfg     Config
	inbox   *syncutil.Mailbox[message]
	stats   atomic.Pointer[Stats] // published by the loop; nil before this master leads
	stopped chan struct{}         // closed when Run has returned
	staged  stagedNames           // files of the staging directory that submissions and the sweep use
	workers sync.WaitGroup        // work of jobs, probes, sweeps and the pool file; Run waits for them

	clientRequests atomic.Int64  // requests of clients in the inbox
	largeAnswers   chan struct{} // a token for each large answer that is being made
	meters         meters

	historyProblem atomic.Pointer[HistoryProblem] // nil if the master does not lead
	version        atomic.Int64                   // cluster version of the state
	appliedTime    atomic.Int64                   // when the last applied entry was proposed, ms since the epoch
	reloaded       atomic.Pointer[Reloadable]     // the fields of cfg that may change; those of cfg are the first values

	decisions Decisions // of the present or last lead

	board *board.Board // what readers see of the state; only the loop changes it

	// Only the loop uses the fields below.
	clock *clock
	state *cluster.State
	view  cluster.View
	index uint64     // of the latest batch that was applied; 0 if unknown
	facts *slotFacts // sums and maxima over the machines; nil if the state has changed since

	drains map[string]*drainProgress // by machine that is being drained
	*lead                            // nil while the master follows
}

// message is a request or a result that arrives at the loop.
type message interface {
	// handle processes the message; it is called while the master leads.
	handle(m *Master)
	// refuse answers the message with err; it is called while the master does not lead,
	// and when it stops.
	refuse(err error)
}

// notice is a message without an answer. It is dropped while the master does not lead.
type notice func()

func (n notice) handle(*Master) { n() }
func (notice) refuse(error)     {}

// post makes the loop call do, unless the master does not lead.
func (m *Master) post(do func()) { m.inbox.Put(notice(do)) }

// postUnder makes the loop call do, unless the lead l is over by then. The next lead starts
// again what l has started.
func (m *Master) postUnder(l *lead, do func()) {
	m.post(func() {
		if m.lead == l {
			do()
		}
	})
}

// New makes a master. Run runs it.
func New(cfg Config) (*Master, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	m := &Master{
		cfg: cfg, inbox: syncutil.NewMailbox[message](), stopped: make(chan struct{}), clock: newClock(cfg.Now), meters: newMeters(),
		largeAnswers: make(chan struct{}, maxLargeAnswers),
	}
	m.board = newBoard(cfg, m.logLoss)
	m.reloaded.Store(cfg.reloadable())
	m.setState(cluster.NewAt(cfg.ClusterID, cfg.firstVersion()))
	return m, nil
}

// setState replaces the state at the start and when the log restores a snapshot. The view is
// a read-only handle of the same state.
func (m *Master) setState(state *cluster.State) {
	m.state, m.view, m.facts, m.drains = state, state.View(), nil, make(map[string]*drainProgress)
	m.version.Store(int64(m.view.Version()))
	m.containBoard(func() { m.board.Restore(m.view) })
}

// Run runs the loop until ctx ends. It then refuses waiting requests with ErrStopped, and
// waits for the work of jobs, whose context ends too.
//
// The deferred calls run in reverse order. Requests are refused first, so that no caller
// waits for slow work, and stopped is closed last.
func (m *Master) Run(ctx context.Context) {
	defer close(m.stopped)
	defer m.workers.Wait()
	defer m.stepDown(ErrStopped)
	m.catchUp(ctx)
	m.turn(ctx, nil, nil)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		m.setTimer(timer)
		var messages []message
		var event LogEvent
		select {
		case <-ctx.Done():
			return
		case <-m.inbox.Ready():
			messages = m.inbox.Take()
		case event = <-m.cfg.Log.Events():
		case <-timer.C:
		}
		m.turn(ctx, messages, event)
	}
}

// turn is one turn of the loop: it processes the messages and the event of the log, nil for
// none. A leader then makes a step.
func (m *Master) turn(ctx context.Context, messages []message, event LogEvent) {
	began := time.Now()
	m.meters.took(len(messages), began)
	for _, msg := range messages {
		m.receive(msg)
	}
	if event != nil {
		m.handleLogEvent(ctx, event)
	}
	if m.lead != nil {
		m.step()
	}
	if m.lead != nil || event != nil || len(messages) > 0 {
		m.meters.turns.Add(time.Since(began))
	}
}

// catchUp processes the events that the log already has, so that the first request sees
// the latest state.
func (m *Master) catchUp(ctx context.Context) {
	for {
		select {
		case e := <-m.cfg.Log.Events():
			m.handleLogEvent(ctx, e)
		default:
			return
		}
	}
}

// receive handles a message. If this master does not lead, it refuses the message, and the
// caller then asks another master.
func (m *Master) receive(msg message) {
	if c, ok := msg.(clientRequest); ok {
		m.clientRequests.Add(-1)
		msg = c.message
	}
	if _, everywhere := msg.(localRead); m.lead == nil && !everywhere {
		msg.refuse(ErrNotLeader)
		return
	}
	m.handleMessage(msg)
}

// handleLogEvent processes an event of the log. Only a follower gets Restored, so the state
// is never replaced during a lead.
func (m *Master) handleLogEvent(ctx context.Context, e LogEvent) {
	switch e := e.(type) {
	case Committed:
		m.index = e.Index
		m.apply(e.Batch)
	case Leading:
		m.becomeLeader(ctx)
	case Following:
		m.stepDown(ErrNotLeader)
	case SnapshotWanted:
		e.Answer <- m.state.Snapshot()
	case Restored:
		m.setState(e.State) // A leader gets no Restored.
	}
}

// now returns the loop's time in ms since the epoch.
func (m *Master) now() int64 { return m.clock.now().UnixMilli() }

// setTimer sets the timer to the next time at which the loop must run even if no message
// arrives. This is for a timeout of the controller, the review of tasknodes, or a status for
// watchers. A follower needs none of them, so its timer is set to an hour.
func (m *Master) setTimer(timer *time.Timer) {
	wait := time.Hour
	if m.lead != nil {
		wait = m.sleepLimit(wait)
	}
	timer.Reset(wait)
}

// apply applies a batch that the log has committed. A leader also answers the requests that
// wait for the batch. It passes the results to the controller in its next step.
//
// If the state refuses a command, the log has not failed: another command, applied
// earlier, has made it impossible. Every master refuses it in the same way, because Apply
// depends only on the state and the entry.
func (m *Master) apply(batch []cluster.Entry) {
	m.meters.batches.Add(len(batch))
	results := make([]control.Result, len(batch))
	for i, entry := range batch {
		moved := m.dataMoved(entry.Command)
		delta, err := m.applyEntry(entry)
		results[i] = control.Result{Entry: entry, Delta: delta, Err: err}
		m.commitToBoard(entry, delta, err)
		if err == nil {
			m.noteDrain(entry, moved)
		}
		internal := errors.Is(err, cluster.ErrInternal)
		if internal {
			results[i].Err = nil // the delta has changed the state
		}
		if err != nil {
			m.cfg.Logger.Debug("command refused", "command", entry.Command, "error", err)
		}
		if m.lead == nil {
			continue
		}
		if err != nil {
			m.refuseChanges(entry.Command, err)
		}
		m.answerSubmit(entry, delta, err)
		if err == nil || internal {
			m.counts.add(m.view, entry.Command, delta)
			m.starts.add(m.view, entry.Command)
			m.syncRecords(delta)
		}
	}
	m.version.Store(int64(m.view.Version()))
	if len(batch) > 0 {
		m.appliedTime.Store(batch[len(batch)-1].At)
	}
	m.facts = nil
	if m.lead != nil {
		m.applied += len(batch)
		m.events = append(m.events, control.Applied{Results: append(m.takeUnproposed(), results...)})
	}
}

// result is the answer to a request.
type result[T any] struct {
	value T
	err   error
}

// call sends a request of a client to the loop, and waits as await does. If too many
// requests wait, the error is an *OverloadError.
func call[T any](ctx context.Context, m *Master, msg message, answer <-chan result[T]) (none T, err error) {
	if err := m.admit(); err != nil {
		return none, err
	}
	m.inbox.Put(clientRequest{msg})
	return await(ctx, m, answer)
}

// await waits for an answer of the loop, for the end of Run, or for the end of ctx. The
// answer channel must have space for the answer, since the loop does not wait for a caller
// that has given up.
func await[T any](ctx context.Context, m *Master, answer <-chan result[T]) (none T, err error) {
	select {
	case a := <-answer:
		return a.value, a.err
	case <-m.stopped:
		return none, ErrStopped
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}
