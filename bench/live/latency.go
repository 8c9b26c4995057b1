package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/kit/percentile"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/sim/tables"
)

// Latency measures the time from an order that takes a slot until the master gives
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
//
// only is a text in the names of the kinds to measure. The rate of the disk is measured first: it
// explains long checkpoints.
func (b Bench) Latency(ctx context.Context, only string) (tables.Results, error) {
	rate, err := diskRate(b.Work)
	b.Logf("the disk takes %.0f MB/s", rate/1e6)
	var all []Latency
	for _, kind := range OrderKinds {
		if err == nil && strings.Contains(kind.Name, only) {
			b.Logf("%s, %d times", kind.Name, b.N)
			var list []Latency
			list, err = b.measureOrders(ctx, kind)
			all = append(all, list...)
		}
	}
	return latencyResults(all, rate), err
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

// measureOrders measures all orders of one kind, on a cluster of its own. Orders follow one
// another on the same long job, which continues from its checkpoint or in a new attempt
// each time.
func (b Bench) measureOrders(ctx context.Context, kind OrderKind) (list []Latency, err error) {
	maps := 1
	if kind.kind == taskproc.Kind_REDUCE {
		maps = 3 // two maps of the long job and one of the waiting job
	}
	cluster, err := Start(ctx, Config{Hammr: b.Hammr, Dir: filepath.Join(b.Work, "cluster"), Tasknodes: 1, MapSlots: maps, ReduceSlots: 1, Policy: "fifo", Testbed: b.Testbed})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	t := &latencyRun{Bench: b, kind: kind, cluster: cluster}
	if t.long, err = t.submitLong(ctx); err != nil {
		return nil, err
	}
	for n := range b.N {
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
	Bench
	kind    OrderKind
	cluster *Cluster
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
	if _, err := t.cluster.Client().Change(ctx, wire.NewChange("attempt.preempt", attempt, t.kind.mode)); err != nil {
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
	return l, t.cluster.awaitStep(ctx, "end of "+waiting, waiting, func(j *wire.JobStatus) bool { return j.FinishTime != 0 })
}

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
	err = t.cluster.awaitStep(ctx, "an attempt to take the slot from", t.long, func(j *wire.JobStatus) bool {
		all := running(j, t.kind.kind)
		if len(all) == 0 || all[0].Preempting || time.Since(time.UnixMilli(all[0].StartTime)) < age {
			return false
		}
		attempt = all[0].Id
		reducing := j.MapsDone == j.Maps && all[0].ShuffleFinishTime != 0
		return t.kind.phase == "" || reducing == (t.kind.phase == "reduce")
	})
	return attempt, err
}

// awaitStart waits until the waiting job has the slot. It returns the time from the master's
// log.
func (t *latencyRun) awaitStart(ctx context.Context, id string) (at int64, err error) {
	err = t.cluster.awaitStep(ctx, "a slot for "+id, id, func(j *wire.JobStatus) bool {
		for _, task := range j.Tasks {
			if task.Kind == t.kind.kind && len(task.Attempts) > 0 {
				at = task.Attempts[0].StartTime
			}
		}
		return at != 0
	})
	return at, err
}

// output returns how many bytes the ended maps of the long job have emitted.
func (t *latencyRun) output(ctx context.Context) (bytes int64, err error) {
	j, err := docs.Progress.From(ctx, t.cluster.Client(), docs.JobID{Job: t.long})
	return valueOf(j, counter.MapOutputBytes), err
}

// diskRate returns the bytes a second at which a file in a directory is written and synced.
// It is measured, since disks differ widely.
func diskRate(dir string) (rate float64, err error) {
	const size = 256 << 20
	path := filepath.Join(dir, "rate")
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(path)) }()
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = byte(i * i)
	}
	began := time.Now()
	for range size / len(block) {
		if _, err := f.Write(block); err != nil {
			return 0, err
		}
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	return size / time.Since(began).Seconds(), nil
}

// Allowed returns the bound for an order: the bound of its kind plus the time to write the
// attempt's buffered bytes at a rate in bytes/s. It returns 0 if the kind has no bound. A
// slow disk must not make an order look slow.
func (l Latency) Allowed(rate float64) time.Duration {
	if l.Kind.Bound == 0 {
		return 0
	}
	return l.Kind.Bound + time.Duration(float64(l.Bytes)/rate*float64(time.Second))
}

// latencyResults has a line for each order, times in ms, and the percentiles of each kind. P95
// WITHOUT BYTES is the 95th percentile of the time without the time for writing the bytes.
// It must be within BOUND.
func latencyResults(list []Latency, rate float64) tables.Results {
	r := tables.Results{
		Samples: tables.New("order", "took_ms", "bytes", "allowed_ms", "rate_bytes_per_s|%.0f"),
		Summary: tables.New("ORDER|%s", "ORDERS|%d", "P50", "P95", "MAX", "BYTES P50|%d", "P95 WITHOUT BYTES", "BOUND"),
	}
	for _, l := range list {
		r.Samples.Add(l.Kind.Name, l.Took.Milliseconds(), l.Bytes, l.Allowed(rate).Milliseconds(), rate)
	}
	for kind, of := range tables.Groups(list, func(l Latency) OrderKind { return l.Kind }) {
		var took, beyond []time.Duration
		var bytes []int64
		for _, l := range of {
			took, bytes = append(took, l.Took), append(bytes, l.Bytes)
			beyond = append(beyond, l.Took-time.Duration(float64(l.Bytes)/rate*float64(time.Second)))
		}
		bound := "-"
		if kind.Bound > 0 {
			bound = kind.Bound.String()
		}
		at := func(of []time.Duration, percent int) string { return testcluster.Millis(percentile.Of(of, percent)) }
		r.Summary.Add(kind.Name, len(of), at(took, 50), at(took, 95), at(took, 100), percentile.Of(bytes, 50), at(beyond, 95), bound)
	}
	return r
}
