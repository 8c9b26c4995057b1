package jobmaster

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/mailbox"
	"github.com/hammr/hammr/internal/wire"
)

// ErrStopped is the answer to whoever asks a master that does not run any more.
var ErrStopped = errors.New("jobmaster: stopped")

// Master is one jobmaster.
type Master struct {
	cfg     Config
	inbox   *mailbox.Mailbox[message]
	stopped chan struct{} // closed when Run has returned

	// The rest belongs to the loop.
	state   *cluster.State
	view    cluster.View
	brain   *control.Controller
	events  []control.Event // for the next step
	records map[cluster.JobID]*record
	waited  map[cluster.JobID]*record // those with waiters
	submits map[submitKey]chan<- submitted
	links   map[string]func(*wire.Order)
	wake    int64 // ms since the epoch when to step at the latest, 0 for never
	workers sync.WaitGroup
}

// message is something that comes to the loop from outside.
type message interface{ handle(m *Master) }

// New makes a master. Run runs it.
func New(cfg Config) (*Master, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	state := cluster.New(cfg.ClusterID)
	return &Master{
		cfg:     cfg,
		inbox:   mailbox.New[message](),
		stopped: make(chan struct{}),
		state:   state,
		view:    state.View(),
		brain:   control.New(state.View(), cfg.Policy),
		records: make(map[cluster.JobID]*record),
		waited:  make(map[cluster.JobID]*record),
		submits: make(map[submitKey]chan<- submitted),
		links:   make(map[string]func(*wire.Order)),
	}, nil
}

// Run is the loop. It ends with ctx, and then waits for the work under way,
// whose context ends too.
func (m *Master) Run(ctx context.Context) {
	defer close(m.stopped)
	defer m.workers.Wait()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		m.setTimer(timer)
		select {
		case <-ctx.Done():
			return
		case <-m.inbox.Ready():
			for _, msg := range m.inbox.Take() {
				msg.handle(m)
			}
		case batch := <-m.cfg.Log.Committed():
			m.apply(batch)
		case <-timer.C:
		}
		m.step(ctx)
	}
}

func (m *Master) now() int64 { return m.cfg.Now().UnixMilli() }

// setTimer sets the timer to when something has to be done though nothing
// happens.
func (m *Master) setTimer(timer *time.Timer) {
	wait := time.Hour
	if m.wake != 0 {
		wait = max(0, time.UnixMilli(m.wake).Sub(m.cfg.Now()))
	}
	for _, r := range m.waited {
		if r.stale {
			wait = min(wait, progressInterval)
		}
	}
	timer.Reset(wait)
}

// apply takes over a batch that the log has committed.
func (m *Master) apply(batch []cluster.Entry) {
	results := make([]control.Result, len(batch))
	for i, entry := range batch {
		delta, err := m.state.Apply(entry)
		results[i] = control.Result{Entry: entry, Delta: delta, Err: err}
		m.answerSubmit(entry, delta, err)
		if err != nil {
			m.cfg.Logger.Debug("command refused", "command", entry.Command, "error", err)
			continue
		}
		m.follow(delta)
	}
	m.events = append(m.events, control.Applied{Results: results})
}

// follow keeps the records beside the state up to date.
func (m *Master) follow(delta cluster.Delta) {
	for _, id := range delta.Jobs {
		r := m.record(id)
		r.touch()
		if m.view.Job(id).State.Final() {
			r.splits, r.outputs, r.progress = nil, outputLog{}, nil
		}
	}
	for _, id := range delta.Started {
		m.record(id.Task.Job).touch()
	}
	for _, id := range delta.Ended {
		r := m.record(id.Task.Job)
		delete(r.progress, id)
		r.touch()
	}
	for _, id := range delta.Published {
		m.published(id)
	}
	for _, id := range delta.Revoked {
		m.revoked(id)
	}
}

// step lets the brain decide, and does what it says.
func (m *Master) step(ctx context.Context) {
	out := m.brain.Step(m.now(), m.events)
	m.events = nil
	m.wake = out.Wake
	if len(out.Commands) > 0 {
		m.cfg.Log.Propose(out.Commands)
	}
	for _, o := range out.Orders {
		m.send(o)
	}
	for _, w := range out.Work {
		m.begin(ctx, w)
	}
	m.answerWaiters()
}

// ask puts a question to the loop and waits for the answer.
func ask[T any](ctx context.Context, m *Master, msg message, answer <-chan T) (T, error) {
	m.inbox.Put(msg)
	var none T
	select {
	case a := <-answer:
		return a, nil
	case <-m.stopped:
		return none, ErrStopped
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}
