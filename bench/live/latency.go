package live

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/syncutil"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/sim/tables"
)

// PreemptionLatency measures the time from an order that takes a slot until the master gives
// the slot to another job. A cluster has one slot, which a long job occupies; a job of
// higher priority waits for it.
//
// The time starts just before the call to the master, and ends with the start of the waiting
// job's attempt in the master's log. It includes the call, two entries of the log and the
// decision of the policy. The slot of a suspended attempt is given away at once; its process
// stops when the tasknode receives the order.
//
//	measureOrder:  long job runs ≥ minAge ─ short job waits ─ order ┄┄ Took ┄┄ short job starts ─ ends
//
// This time is the latency of preemption, because the cluster has only one slot: the waiting
// job cannot get another one.
type PreemptionLatency struct {
	Hammr  string // file of the hammr program
	Work   string // directory for clusters and for the input of maps that buffer
	Orders int    // number of orders of each kind
	Logf   func(format string, args ...any)
}

// OrderKind is an order to attempts in a phase.
type OrderKind struct {
	Name  string
	mode  string
	kind  taskproc.Kind
	phase string // phase of a reduce: copy or reduce

	Bound time.Duration // limit of the 95th percentile, without the time to write the bytes; 0 for none
	bytes bool          // the attempt has buffered output that it must write
}

// OrderKinds are the measured kinds.
var OrderKinds = []OrderKind{
	{Name: "split a map", mode: "split", kind: taskproc.Kind_MAP, Bound: 100 * time.Millisecond},
	{Name: "split a map that buffers", mode: "split", kind: taskproc.Kind_MAP, Bound: 100 * time.Millisecond, bytes: true},
	{Name: "checkpoint a reduce that copies", mode: "checkpoint", kind: taskproc.Kind_REDUCE, phase: "copy", Bound: 250 * time.Millisecond},
	{Name: "checkpoint a reduce that reduces", mode: "checkpoint", kind: taskproc.Kind_REDUCE, phase: "reduce", Bound: 250 * time.Millisecond},
	{Name: "suspend a map", mode: "suspend", kind: taskproc.Kind_MAP},
	{Name: "kill a map", mode: "kill", kind: taskproc.Kind_MAP},
}

// Latency is the result of one order. Took includes the write of Bytes, which Allowed
// accounts for.
type Latency struct {
	Kind  OrderKind
	Took  time.Duration
	Bytes int64 // bytes that the attempt had emitted and buffered when it ended
}

// Run measures the kinds of orders whose names contain a text. With an error it returns what was
// measured before. It measures the disk first: its rate explains long checkpoints.
func (o PreemptionLatency) Run(ctx context.Context, only string) (tables.Results, error) {
	rate, err := diskRate(o.Work)
	o.Logf("the disk takes %.0f MB/s", rate/1e6)
	var all []Latency
	for _, kind := range OrderKinds {
		if err == nil && strings.Contains(kind.Name, only) {
			o.Logf("%s, %d times", kind.Name, o.Orders)
			var list []Latency
			list, err = o.measure(ctx, kind)
			all = append(all, list...)
		}
	}
	return latencyResults(all, rate), err
}

// measure measures all orders of one kind, on a cluster of its own. Orders follow one
// another on the same long job, which continues from its checkpoint or in a new attempt
// each time.
func (o PreemptionLatency) measure(ctx context.Context, kind OrderKind) (list []Latency, err error) {
	maps := 1
	if kind.kind == taskproc.Kind_REDUCE {
		maps = 3 // two maps of the long job and one of the waiting job
	}
	cluster, err := Start(ctx, Config{Hammr: o.Hammr, Dir: filepath.Join(o.Work, "cluster"), Tasknodes: 1, MapSlots: maps, ReduceSlots: 1, Policy: "fifo"})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	t := &latencyRun{PreemptionLatency: o, kind: kind, cluster: cluster, client: cluster.Client()}
	if t.long, err = t.submitLong(ctx); err != nil {
		return nil, err
	}
	for n := range o.Orders {
		l, err := t.measureOrder(ctx)
		if err != nil {
			return list, fmt.Errorf("%s, order %d: %w", kind.Name, n+1, err)
		}
		list = append(list, l)
	}
	return list, nil
}

// latencyRun takes the slot from one long job repeatedly. It belongs to one kind of order.
type latencyRun struct {
	PreemptionLatency
	kind    OrderKind
	cluster *Cluster
	client  *remote.Client
	long    string // id of the long job
	written int64  // bytes emitted by its ended attempts
}

// measureOrder gives one order and waits until the waiting job has ended. Its slot is then
// free for the next order.
func (t *latencyRun) measureOrder(ctx context.Context) (l Latency, err error) {
	attempt, err := t.awaitVictim(ctx)
	if err != nil {
		return l, err
	}
	waiting, err := t.submitShort(ctx)
	if err != nil {
		return l, err
	}
	began := time.Now()
	if _, err := t.client.Change(ctx, wire.NewChange("attempt.preempt", attempt, t.kind.mode)); err != nil {
		return l, err
	}
	start, err := t.awaitStart(ctx, waiting)
	if err != nil {
		return l, err
	}
	l = Latency{Kind: t.kind, Took: time.UnixMilli(start).Sub(began)}
	if t.kind.bytes {
		before := t.written
		if t.written, err = t.output(ctx); err != nil {
			return l, err
		}
		l.Bytes = t.written - before
	}
	return l, t.await(ctx, "end of "+waiting, func() (bool, error) {
		j, err := docs.Progress.From(ctx, t.client, docs.JobID{Job: waiting})
		return j.GetFinishTime() != 0, err
	})
}

// await waits until cond holds. what describes cond in the error.
func (t *latencyRun) await(ctx context.Context, what string, cond func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stepTimeout, fmt.Errorf("not within %v: %s", stepTimeout, what))
	defer cancel()
	return syncutil.Poll(ctx, 5*time.Millisecond, func(context.Context) (bool, error) { return cond() })
}

// stepTimeout bounds every wait.
const stepTimeout = 2 * time.Minute

// minAge is how long an attempt runs before it gets an order, so that the order arrives in
// the middle of its work. A map that buffers runs longer, so that it has something to write.
const (
	minAge          = time.Second
	minAgeBuffering = 4 * time.Second
)

// awaitVictim waits for an attempt of the long job in the phase. It returns the id of an
// attempt that has run for long enough.
func (t *latencyRun) awaitVictim(ctx context.Context) (attempt string, err error) {
	age := minAge
	if t.kind.bytes {
		age = minAgeBuffering
	}
	err = t.await(ctx, "an attempt to take the slot from", func() (bool, error) {
		a, j, err := t.running(ctx, t.long)
		if a == nil || err != nil || time.Since(time.UnixMilli(a.StartTime)) < age {
			return false, err
		}
		attempt = a.Id
		reducing := j.MapsDone == j.Maps && a.ShuffleFinishTime != 0
		return t.kind.phase == "" || reducing == (t.kind.phase == "reduce"), nil
	})
	return attempt, err
}

// running returns the running attempt of a job; nil if no attempt of the job has the slot.
func (t *latencyRun) running(ctx context.Context, id string) (*wire.TaskStatus_Attempt, *wire.JobStatus, error) {
	j, err := docs.Status.From(ctx, t.client, docs.JobID{Job: id})
	for _, task := range j.GetTasks() {
		for _, a := range task.Attempts {
			if task.Kind == t.kind.kind && a.State == wire.AttemptState_ATTEMPT_RUNNING && !a.Suspended && !a.Preempting {
				return a, j, err
			}
		}
	}
	return nil, j, err
}

// awaitStart waits until the waiting job has the slot. It returns the time from the master's
// log.
func (t *latencyRun) awaitStart(ctx context.Context, id string) (at int64, err error) {
	err = t.await(ctx, "a slot for "+id, func() (bool, error) {
		j, err := docs.Status.From(ctx, t.client, docs.JobID{Job: id})
		for _, task := range j.GetTasks() {
			if task.Kind == t.kind.kind && len(task.Attempts) > 0 {
				at = task.Attempts[0].StartTime
			}
		}
		return at != 0, err
	})
	return at, err
}

// output returns how many bytes the ended maps of the long job have emitted.
func (t *latencyRun) output(ctx context.Context) (bytes int64, err error) {
	j, err := docs.Progress.From(ctx, t.client, docs.JobID{Job: t.long})
	for _, c := range j.GetCounters() {
		if (counter.ID{Group: c.Group, Name: c.Name}) == counter.MapOutputBytes {
			bytes = c.Value
		}
	}
	return bytes, err
}

func (t *latencyRun) submit(ctx context.Context, args ...string) (id string, err error) {
	return t.cluster.Program().Run(ctx, append([]string{"submit"}, args...)...)
}
