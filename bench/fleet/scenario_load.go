package fleet

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/kit/syncutil"
)

// window measures the leader over a time.
type window struct {
	run            *run
	leader         string
	began          time.Time
	usage          procfs.Process
	received, sent int64
	starts, ends   int64
}

// measure measures the leader for Options.Duration, and profiles it if a profile is wanted.
func (r *run) measure(ctx context.Context) (x rates, err error) {
	profiled := r.profileFor(ctx, min(r.Duration/2, 30*time.Second))
	w, err := r.openWindow(ctx)
	if err == nil {
		err = syncutil.Sleep(ctx, r.Duration)
	}
	if err == nil {
		x, err = w.close(ctx)
	}
	if err != nil {
		return x, err
	}
	return x, profiled()
}

func (r *run) openWindow(ctx context.Context) (w *window, err error) {
	w = &window{run: r, began: time.Now(), sent: r.fleet.sent(), starts: r.fleet.counts.starts.Load(), ends: r.fleet.counts.ends.Load()}
	w.received, _ = r.fleet.received()
	r.fleet.turnaround.take()
	w.leader, w.usage, err = leaderUsage(ctx, r.cluster.Cluster)
	return w, err
}

// rates are what a window has measured.
type rates struct {
	starts, ends   float64 // in a second
	cpu            float64 // share of a core
	cpuPerTask     time.Duration
	resident       int64   // bytes
	received, sent float64 // bytes in a second, by machines
}

func (w *window) close(ctx context.Context) (x rates, err error) {
	r, seconds := w.run, time.Since(w.began).Seconds()
	leader, usage, err := leaderUsage(ctx, r.cluster.Cluster)
	if err != nil {
		return x, err
	}
	if leader != w.leader {
		return x, fmt.Errorf("the leader has changed from %s to %s while it was measured: the machine is too slow or too loaded", w.leader, leader)
	}
	received, _ := r.fleet.received()
	ends := r.fleet.counts.ends.Load() - w.ends
	cpu := usage.CPU - w.usage.CPU
	return rates{
		starts: float64(r.fleet.counts.starts.Load()-w.starts) / seconds, ends: float64(ends) / seconds,
		cpu: cpu.Seconds() / seconds, cpuPerTask: cpu / time.Duration(max(ends, 1)), resident: usage.RSSBytes,
		received: float64(received-w.received) / seconds, sent: float64(r.fleet.sent()-w.sent) / seconds,
	}, nil
}

// addLoopTurn adds the time of the slowest hundredth of the leader's turns, if the masters
// have that metric.
func (r *run) addLoopTurn(ctx context.Context) error {
	leader, err := r.cluster.AwaitLeader(ctx)
	if err != nil {
		return err
	}
	values, err := metrics(ctx, r.cluster.Cluster, leader)
	for name, seconds := range values {
		if strings.HasPrefix(name, "hammr_loop_turn_seconds{") && strings.Contains(name, `quantile="0.99"`) {
			r.result.atMost("loop turn p99", seconds*1000, "ms", 50)
		}
	}
	return err
}

// throughput runs tasks at a given rate. Jobs overlap, so that slots always have tasks that
// wait for them; the rate follows from the duration of a task.
func throughput(ctx context.Context, r *run) error {
	slots := r.Machines * r.MapSlots
	task := time.Duration(float64(time.Second) * float64(slots) / float64(r.Rate))
	job := Job{Maps: max(slots, r.Rate*5), Map: Span{task / 2, task * 3 / 2}} // so that ends are spread over time
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	fed := r.feed(ctx, job, time.Now().Add(r.Duration+2*task))
	if err := r.awaitCount(ctx, &r.fleet.counts.starts, 0, slots+slots/10); err != nil {
		return err
	}
	x, err := r.measure(ctx)
	if err != nil {
		return err
	}
	p50, p99 := r.fleet.turnaround.take()
	r.result.add("tasks asked for", float64(r.Rate), "/s")
	r.result.atLeast("tasks started", x.starts, "/s", 0.95*float64(r.Rate))
	r.result.add("tasks ended", x.ends, "/s")
	r.result.atMost("leader's CPU for a task", float64(x.cpuPerTask.Microseconds()), "µs", 500)
	r.result.atMost("leader's CPU", 100*x.cpu, "%", 100)
	r.result.add("leader's resident memory", mebibytes(x.resident), "MiB")
	r.result.atMost("slot turnaround p50", millis(p50), "ms", 10)
	r.result.add("slot turnaround p99", millis(p99), "ms")
	r.result.add("machines receive", x.received/1e6, "MB/s")
	r.result.add("machines send", x.sent/1e6, "MB/s")
	if err := r.addLoopTurn(ctx); err != nil {
		return err
	}
	return fed()
}

// feed keeps three jobs in the cluster until a time. It returns a function that waits for all of
// them.
func (r *run) feed(ctx context.Context, job Job, until time.Time) (wait func() error) {
	done := make(chan error, 1)
	go func() { done <- r.submitUntil(ctx, job, until) }()
	return func() error { return <-done }
}

func (r *run) submitUntil(ctx context.Context, job Job, until time.Time) error {
	slots, errs := make(chan struct{}, 3), make(chan error)
	jobs := 0
	var failed error
	for time.Now().Before(until) && failed == nil {
		select {
		case slots <- struct{}{}:
			id, err := r.submit(ctx, job)
			if err != nil {
				failed = err
				break
			}
			jobs++
			go func() {
				err := r.await(ctx, id)
				<-slots
				errs <- err
			}()
		case err := <-errs:
			jobs--
			failed = err
		}
	}
	for ; jobs > 0; jobs-- {
		if err := <-errs; failed == nil {
			failed = err
		}
	}
	return failed
}

// running measures what attempts cost that only run: heartbeats and progress.
func running(ctx context.Context, r *run) error {
	// The only map of the first job ends at once, so that its reduces have all of their input.
	var ids []string
	for _, job := range []Job{
		{Maps: 1, Reduces: r.Machines * r.ReduceSlots, Reduce: Exactly(time.Hour)},
		{Maps: r.Machines * r.MapSlots, Map: Exactly(time.Hour)},
	} {
		before := r.fleet.counts.starts.Load()
		id, err := r.submit(ctx, job)
		if err != nil {
			return err
		}
		if err := r.awaitCount(ctx, &r.fleet.counts.starts, before, job.Maps+job.Reduces); err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if err := syncutil.Sleep(ctx, 3*time.Second); err != nil { // the starts are over
		return err
	}
	x, err := r.measure(ctx)
	if err != nil {
		return err
	}
	r.result.add("attempts that run", float64(r.fleet.counts.starts.Load()-r.fleet.counts.ends.Load()), "")
	r.result.atMost("leader's CPU", 100*x.cpu, "%", 20)
	r.result.atMost("master receives", x.sent/1e6, "MB/s", 5)
	r.result.add("master sends", x.received/1e6, "MB/s")
	r.result.add("leader's resident memory", mebibytes(x.resident), "MiB")
	if err := r.addLoopTurn(ctx); err != nil {
		return err
	}
	for _, id := range ids {
		if err := r.kill(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// mapOutputs runs one job with many maps and reduces to its end.
func mapOutputs(ctx context.Context, r *run) error {
	job := Job{
		Maps: r.scaled(50_000), Reduces: r.scaled(2000),
		Map: Span{500 * time.Millisecond, 1500 * time.Millisecond}, Reduce: Span{time.Second, 3 * time.Second},
	}
	leader, err := r.cluster.AwaitLeader(ctx)
	if err != nil {
		return err
	}
	before, err := heapOf(ctx, r.cluster.Cluster, leader)
	if err != nil {
		return err
	}
	bytesBefore, _ := r.fleet.received()
	profiled := r.profileFor(ctx, 20*time.Second)
	id, err := r.submit(ctx, job)
	if err != nil {
		return err
	}
	most := before
	watch, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		syncutil.Every(watch, 2*time.Second, func() {
			if heap, err := heapOf(watch, r.cluster.Cluster, leader); err == nil {
				most = max(most, heap)
			}
		})
	}()
	err = r.await(ctx, id)
	cancel()
	<-watched
	if err != nil {
		return err
	}
	all, one := r.fleet.received()
	r.result.add("maps", float64(job.Maps), "")
	r.result.add("reduces", float64(job.Reduces), "")
	r.result.atMost("leader's heap for the job", mebibytes(most-before), "MiB", 200)
	r.result.atMost("a tasknode's memory for outputs", mebibytes(r.fleet.counts.mostRetained.Load()), "MiB", 100)
	r.result.add("a machine has received at most", mebibytes(one), "MiB")
	r.result.add("machines have received", mebibytes(all-bytesBefore), "MiB")
	r.result.add("of them outputs", mebibytes(r.fleet.counts.outputBytes.Load()), "MiB")
	return profiled()
}

// scaled returns a number of tasks in proportion to the machines; of is the number for 1,000.
func (r *run) scaled(of int) int {
	if r.Tasks > 0 {
		return max(1, r.Tasks*of/50_000)
	}
	return max(1, of*r.Machines/1000)
}
