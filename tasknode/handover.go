package tasknode

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Handover is the state of a Daemon for the program that replaces it. Bytes are encoded protobuf
// messages; docs/formats/handover.md describes the fields.
type Handover struct {
	Name     string                 `json:"name"`
	Instance string                 `json:"instance"`
	Restores int32                  `json:"restores"`        // how often the state of the masters was restored, as far as all attempts know
	Attempts []AttemptHandover      `json:"attempts"`        // that have a process, in order of ids
	Unacked  map[string][]byte      `json:"unacked"`         // final reports, by attempt
	Known    map[string]string      `json:"known"`           // jobs, by attempt; without attempts that have no process yet
	Retained map[string]string      `json:"retained"`        // paths of records, by attempt
	Stuck    map[string]int32       `json:"stuck,omitempty"` // kinds of attempts whose processes cannot be killed
	Jobs     map[string]JobHandover `json:"jobs"`
}

// AttemptHandover is the state of an attempt that runs.
type AttemptHandover struct {
	Start       []byte `json:"start"` // taskproc.Start
	Preemptions int    `json:"preemptions"`
	Declines    int    `json:"declines"`
	Killed      bool   `json:"killed"`           // it is ordered to end
	Failed      string `json:"failed,omitempty"` // why the tasknode has ended it
	// The state of an order to suspend it, as in suspendState.
	SuspendOrders   int64 `json:"suspend_orders"`
	SuspendAnswered int64 `json:"suspend_answered"`
	SuspendOrdered  bool  `json:"suspend_ordered"`
	Suspended       bool  `json:"suspended"`

	Greeted  bool   `json:"greeted,omitempty"`  // the task has sent a message
	Speaks   int32  `json:"speaks,omitempty"`   // newest version that its program speaks; 0 also from a program that did not write this
	Received []byte `json:"received,omitempty"` // the beginning of a message of the task
	Unsent   []byte `json:"unsent,omitempty"`   // rest of a message, and messages, that the task must get first
	Last     []byte `json:"last,omitempty"`     // taskproc.FromTask: its last message, if it has sent one
}

// JobHandover is the state of a job.
type JobHandover struct {
	LogDir    string `json:"log_dir,omitempty"`
	DiskLimit int64  `json:"disk_limit,omitempty"`
	Removed   bool   `json:"removed,omitempty"`
	// Outputs are the attempts whose outputs readers know, by edge. The master sends the log of
	// outputs again; what it lacks is then revoked.
	Outputs map[int32][]string `json:"outputs,omitempty"`
}

// errBusy means that some state is in no table, such as that of an attempt that is ending.
var errBusy = errors.New("the tasknode cannot hand over now")

// handOverInterval is the time between two tries of HandOver.
const handOverInterval = 50 * time.Millisecond

// HandOver hands the attempts over to the program that replace starts in this process. If
// replace succeeds it does not return; otherwise HandOver returns its error, and the daemon
// continues as before.
//
// It retries until no attempt is starting or ending, or ctx ends. In this time the daemon holds
// the orders of the master back. They are lost with the process: a master derives them again
// from its state for the next session.
//
// pause pauses the launcher and returns which attempts have a process. The error wraps
// ErrLauncherBusy if the launcher cannot be paused at this moment. HandOver calls pause and
// replace in the loop. ctx must end when Run does.
//
//	hold orders ─► pause the launcher ─► pause the connections ─► all attempts run? ─► replace
//	                     ▲                                              │ no
//	                     └────────── resume both, wait ◄────────────────┘
func (d *Daemon) HandOver(ctx context.Context, pause func() (running []string, resume func(), err error), replace func(*Handover) error) error {
	d.inbox.Put(func() { d.ordersPaused = true })
	defer d.inbox.Put(d.releaseOrders)
	for {
		tried := make(chan error, 1)
		d.inbox.Put(func() { tried <- d.tryHandOver(pause, replace) })
		var err error
		select {
		case err = <-tried:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if !errors.Is(err, errBusy) && !errors.Is(err, ErrLauncherBusy) {
			return err
		}
		if syncutil.Sleep(ctx, handOverInterval) != nil {
			return err
		}
	}
}

// ErrLauncherBusy marks a launcher that cannot be paused, because a process is starting or ending.
var ErrLauncherBusy = errors.New("processes are starting or ending")

// releaseOrders executes the orders that were held back.
func (d *Daemon) releaseOrders() {
	d.ordersPaused = false
	for _, execute := range d.delayed {
		execute()
	}
	d.delayed = nil
}

// tryHandOver tries HandOver once. The loop calls it.
func (d *Daemon) tryHandOver(pause func() ([]string, func(), error), replace func(*Handover) error) error {
	if !isClosed(d.restored) {
		return fmt.Errorf("%w: the local directories are being read", errBusy)
	}
	running, resume, err := pause()
	if err != nil {
		return err
	}
	defer resume()
	h := &Handover{
		Name: d.cfg.Name, Instance: d.cfg.Instance, Restores: d.confirmedRestores(), Unacked: make(map[string][]byte), Known: make(map[string]string),
		Retained: make(map[string]string), Stuck: make(map[string]int32), Jobs: make(map[string]JobHandover),
	}
	var busy []string
	for _, id := range slices.Sorted(maps.Keys(d.attempts)) {
		a := d.attempts[id]
		conn, hasProcess := a.conn.Load(), slices.Contains(running, id)
		switch {
		case conn == nil && !hasProcess:
			continue // the master orders its start again
		case conn == nil || !hasProcess || a.ending.Load() || conn.broken.Load():
			busy = append(busy, id)
			continue
		}
		received, unsent := conn.conn.Pause()
		defer conn.conn.Resume()
		state, err := a.handOver(received, unsent)
		if err != nil {
			return err
		}
		h.Attempts = append(h.Attempts, state)
		h.Known[id] = a.start.JobId
	}
	// What the goroutines have reported until now must not be lost.
	for _, do := range d.inbox.Take() {
		do()
	}
	if len(busy) > 0 {
		return fmt.Errorf("%w: attempts are starting or ending: %v", errBusy, busy)
	}
	if err := d.handOverTables(h); err != nil {
		return err
	}
	return replace(h)
}

// handOver returns the state of an attempt whose connection is paused.
func (a *attempt) handOver(received, unsent []byte) (h AttemptHandover, err error) {
	h = AttemptHandover{Preemptions: a.preemptions, Declines: a.declines, Killed: a.isKilled(), Received: received}
	if h.Killed && a.failed != nil {
		h.Failed = a.failed.Error()
	}
	s := &a.suspension
	s.mu.Lock()
	h.SuspendOrders, h.SuspendAnswered, h.SuspendOrdered, h.Suspended = s.orders, s.answered, s.ordered, s.suspended
	s.mu.Unlock()
	conn := a.conn.Load()
	if h.Start, err = proto.Marshal(a.start); err != nil {
		return h, fmt.Errorf("start of %s: %w", a.start.AttemptId, err)
	}
	if conn.lastMessage != nil {
		if h.Last, err = proto.Marshal(conn.lastMessage); err != nil {
			return h, fmt.Errorf("last message of %s: %w", a.start.AttemptId, err)
		}
	}
	h.Speaks = conn.speaks.Load()
	h.Greeted = h.Speaks > 0
	h.Unsent = slices.Clone(unsent)
	conn.pending = append(conn.pending, a.inbox.Take()...)
	for _, m := range conn.pending {
		if h.Unsent, err = taskproc.AppendMessage(h.Unsent, m); err != nil {
			return h, fmt.Errorf("message to %s: %w", a.start.AttemptId, err)
		}
	}
	return h, nil
}

// handOverTables adds everything but the attempts that run.
func (d *Daemon) handOverTables(h *Handover) error {
	for id, last := range d.unacked {
		encoded, err := proto.Marshal(last)
		if err != nil {
			return fmt.Errorf("final report of %s: %w", id, err)
		}
		h.Unacked[id] = encoded
	}
	for id, job := range d.known {
		if d.attempts[id] == nil {
			h.Known[id] = job
		}
	}
	maps.Copy(h.Retained, d.retained)
	for id, kind := range d.stuck {
		h.Stuck[id] = int32(kind)
	}
	for id, j := range d.jobs {
		h.Jobs[id] = j.handOver()
	}
	return nil
}

// handOver returns the state of a job.
func (j *job) handOver() JobHandover {
	h := JobHandover{LogDir: j.logDir, DiskLimit: j.diskLimit, Removed: j.removed, Outputs: make(map[int32][]string)}
	for edge, w := range j.outputs {
		known := maps.Clone(w.replaced)
		if known == nil {
			known = make(map[string]bool)
		}
		for o := range w.log.Outputs() {
			known[o.Attempt] = true
		}
		h.Outputs[edge] = slices.Sorted(maps.Keys(known))
	}
	return h
}

// orders executes the orders of a session, or holds them back during HandOver.
func (d *Daemon) orders(ctx context.Context, orders []*wire.Order) {
	if d.ordersPaused {
		d.delayed = append(d.delayed, func() { d.orders(ctx, orders) })
		return
	}
	for _, o := range orders {
		d.execute(ctx, o)
	}
}
