package task

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/storage"
)

// Attempt is the state that the Nodes of one attempt share. The user's code may call its
// exported methods in any goroutine.
//
// Start, Conf and the file systems do not change once the Nodes run. The session sets
// resumed, origin and origins before that. declines changes only between two runs of the
// Nodes.
type Attempt struct {
	Start    *taskproc.Start // the order that started the attempt
	Conf     *conf.Conf      // nil if the properties are invalid; then no Node runs
	Counters *counter.Set    // counters, with those of a checkpoint
	Files    *storage.Router // inputs and outputs by full name; use Resolve, which counts

	// Local is the file system of Start.LocalDir.
	Local storage.FS

	ctx    context.Context                // context of all work; its cause is the error of the attempt
	cancel context.CancelCauseFunc        // ends ctx
	log    *logTail                       // receives the lines of Logger, and keeps the last for a failure
	send   func(*taskproc.FromTask) error // any goroutine may call it; it blocks until the tasknode receives

	signals  signals                  // orders to the record loops
	gate     quiesceGate              // remote files, and suspension
	resident atomic.Int64             // resident bytes of the process at the last sample; 0 before the first
	activity atomic.Uint64            // number of times that tick has counted activity without a poll
	serial   atomic.Int64             // number of the next output file; counts those of attempts before a checkpoint
	resumed  *taskproc.CheckpointBody // the checkpoint that it resumes from; nil if it starts from the beginning
	origin   origin                   // where resumed, and the files that it names, were read
	origins  []origin                 // further places that have the checkpoint
	declines int                      // checkpoints that were declined after the Nodes had stopped

	mu struct {
		sync.Mutex
		status string // text from SetStatus
	}
}

// Context ends when the attempt is ordered to end.
func (a *Attempt) Context() context.Context { return a.ctx }

// Logger writes to the attempt's log. A failure shows its last lines.
func (a *Attempt) Logger() *slog.Logger { return a.log.logger }

// SetStatus sets the line that progress reports show.
func (a *Attempt) SetStatus(text string) {
	a.mu.Lock()
	a.mu.status = valid(text)
	a.mu.Unlock()
	a.KeepAlive()
}

// KeepAlive reports that user code is at work although no record ends. It restarts the time
// of mapreduce.task.timeout.
func (a *Attempt) KeepAlive() { a.signals.alive.Store(true) }

// Open opens a file by its full name. The caller closes it.
func (a *Attempt) Open(name string) (storage.File, error) {
	fs, path, err := a.Resolve(a.ctx, name)
	if err != nil {
		return nil, err
	}
	return fs.Open(a.ctx, path)
}

// Number returns the number of the attempt at its task, the last part of its id.
func (a *Attempt) Number() int {
	id := a.Start.AttemptId
	n, _ := strconv.Atoi(id[strings.LastIndexByte(id, '_')+1:]) // an id without a number is of a test
	return n
}

// RequestSplit makes the attempt end before its next record, as an order to truncate it does.
func (a *Attempt) RequestSplit() { a.signals.raise(&a.signals.split) }

// RequestCheckpoint makes the attempt write a checkpoint and end, as an order to preempt it does.
func (a *Attempt) RequestCheckpoint() { a.signals.requestCheckpoint() }

// counterMessages returns the counters of a set as messages carry them.
func counterMessages(set *counter.Set) (out []*taskproc.Counter) {
	for group, names := range set.Values() {
		for name, value := range names {
			out = append(out, &taskproc.Counter{Group: valid(group), Name: valid(name), Value: value})
		}
	}
	return out
}

// addCounters adds the counters of a checkpoint, which include those of earlier attempts.
func addCounters(set *counter.Set, messages []*taskproc.Counter) {
	for _, c := range messages {
		set.Add(counter.ID{Group: c.Group, Name: c.Name}, c.Value)
	}
}

// LocalFile returns the path of a file in the attempt's local directory. After a
// checkpoint was declined the Nodes run again, so the name is another one: files of the
// first run are still in use.
func (a *Attempt) LocalFile(name string) string {
	if a.declines > 0 {
		name = fmt.Sprintf("again%d-%s", a.declines, name)
	}
	return fmt.Sprintf("%s/%s", a.Start.LocalDir, name)
}

// Detached returns a Node of an attempt without a tasknode. The client uses it to run user
// code itself, to sample a job's keys. It is one map of start.Maps and has no channels.
func Detached(ctx context.Context, start *taskproc.Start, c *conf.Conf, files *storage.Router) *NodeRun {
	ctx, cancel := context.WithCancelCause(ctx)
	a := &Attempt{
		Start: start, Conf: c, Counters: new(counter.Set), Files: files,
		ctx: ctx, cancel: cancel, log: newLogTail(nil),
		send: func(*taskproc.FromTask) error { return nil },
	}
	a.signals.init()
	g := &groupRun{Attempt: a, graph: dag.MapReduce(int(start.Maps), int(start.Reduces))}
	return &NodeRun{Attempt: a, group: g, number: int(start.Part)}
}
