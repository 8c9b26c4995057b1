package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	orders "github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/ops/testcluster"
)

// serves waits until a master answers a call that changes the log, and returns how long
// that took.
func (r *run) serves(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	err := syncutil.Poll(ctx, 10*time.Millisecond, func(ctx context.Context) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		return orders.SetPolicy(ctx, r.cluster.Client(), "fifo", nil) == nil, nil
	})
	return time.Since(began), err
}

// failover kills the leader while the state has many tasks, and waits for another.
func failover(ctx context.Context, r *run) error {
	if r.Tasks == 0 {
		r.Tasks = 200 * r.Machines
	}
	id, err := r.submit(ctx, Job{Maps: r.Tasks, Map: Span{20 * time.Second, 60 * time.Second}})
	if err != nil {
		return err
	}
	running := min(r.Tasks, r.Machines*r.MapSlots)
	if err := r.awaitCount(ctx, &r.fleet.counts.starts, 0, running); err != nil {
		return err
	}
	leader, err := r.cluster.AwaitLeader(ctx)
	if err != nil {
		return err
	}
	if err := r.cluster.Kill(ctx, leader); err != nil {
		return err
	}
	served, err := r.serves(ctx)
	if err != nil {
		return err
	}
	profiled := r.profileFor(ctx, 10*time.Second)
	began := time.Now()
	if err := r.fleet.Await(ctx); err != nil {
		return err
	}
	attached := time.Since(began) + served
	starts := r.fleet.counts.starts.Load()
	if err := r.awaitCount(ctx, &r.fleet.counts.starts, starts, running/2); err != nil { // slots get new tasks
		return err
	}
	r.result.add("tasks in the state", float64(r.Tasks), "")
	r.result.atMost("another leader serves after", served.Seconds(), "s", 3)
	r.result.add("all machines attached after", attached.Seconds(), "s")
	r.result.atMost("attempts lost", float64(r.fleet.ledger.Restarts()), "", 0)
	if r.fleet.ledger.Restarts() > 0 {
		r.result.violated("attempts ran again because the leader was killed")
	}
	if err := errors.Join(profiled(), r.addLoopTurn(ctx), r.cluster.Start(ctx, leader)); err != nil {
		return err
	}
	return r.kill(ctx, id)
}

// drainRack drains all machines of a rack at once, when the maps of a job have finished and
// its reduces, which may read their outputs again, still run.
func drainRack(ctx context.Context, r *run) error {
	names := r.fleet.Names()[:min(r.RackSize, r.Machines/2)]
	job := Job{
		Maps: 2 * r.Machines * r.MapSlots, Reduces: r.Machines, Map: Span{time.Second, 3 * time.Second}, Reduce: Span{20 * time.Second, 30 * time.Second},
	}
	id, err := r.submit(ctx, job)
	if err != nil {
		return err
	}
	if err := r.awaitCount(ctx, &r.fleet.counts.ends, 0, job.Maps); err != nil {
		return err
	}
	began := time.Now()
	err = syncutil.Each(names, 0, func(name string) error { return orders.Change(ctx, r.client, "node.drain", name, "") })
	if err != nil {
		return err
	}
	answered := time.Since(began)
	if err := r.awaitNodes(ctx, names, func(n apidoc.Tasknode) bool { return len(n.Outputs) == 0 }); err != nil {
		return err
	}
	r.result.add("machines drained at once", float64(len(names)), "")
	r.result.add("calls answered after", answered.Seconds(), "s")
	r.result.add("outputs moved after", time.Since(began).Seconds(), "s")
	if err := r.await(ctx, id); err != nil {
		return err
	}
	if err := r.awaitNodes(ctx, names, func(n apidoc.Tasknode) bool { return n.State == "DECOMMISSIONED" }); err != nil {
		return err
	}
	if n := r.fleet.ledger.Restarts(); n > 0 {
		r.result.violated("%d attempts ran again because of a drain", n)
	}
	return r.addLoopTurn(ctx)
}

// awaitNodes waits until machines are as wanted.
func (r *run) awaitNodes(ctx context.Context, names []string, wanted func(apidoc.Tasknode) bool) error {
	return syncutil.Poll(ctx, 100*time.Millisecond, func(ctx context.Context) (bool, error) {
		all, err := docs.Nodes.From(ctx, r.client, docs.No{})
		n := 0
		for _, node := range all {
			if slices.Contains(names, node.Name) && wanted(node) {
				n++
			}
		}
		return n == len(names), err
	})
}

// outage takes the network of half the machines away, first for less than the expiry, when
// nothing may run again, and then for longer.
func outage(ctx context.Context, r *run) error {
	id, err := r.submit(ctx, Job{
		Maps: 4 * r.Machines * r.MapSlots, Reduces: r.Machines, Map: Span{5 * time.Second, 15 * time.Second}, Reduce: Span{time.Second, 3 * time.Second},
	})
	if err != nil {
		return err
	}
	if err := r.awaitCount(ctx, &r.fleet.counts.starts, 0, r.Machines*r.MapSlots); err != nil {
		return err
	}
	for _, away := range []time.Duration{r.Expiry / 3, r.Expiry * 3 / 2} {
		before := r.fleet.ledger.Restarts()
		for i := range r.Machines / 2 {
			r.fleet.Cut(i, away)
		}
		stall, err := r.longestCall(ctx, away)
		if err != nil {
			return err
		}
		began := time.Now()
		if err := r.fleet.Await(ctx); err != nil {
			return err
		}
		name := fmt.Sprintf("away %v: ", away.Round(time.Second))
		r.result.atMost(name+"longest call", millis(stall), "ms", 1000)
		r.result.add(name+"all machines back after", time.Since(began).Seconds(), "s")
		r.result.add(name+"attempts run again so far", float64(r.fleet.ledger.Restarts()-before), "")
	}
	if err := r.await(ctx, id); err != nil {
		return err
	}
	return r.addLoopTurn(ctx)
}

// longestCall calls the leader all the time for a while, and returns the time of the longest
// call. A call waits for the loop, so this is a bound of its longest stall.
func (r *run) longestCall(ctx context.Context, d time.Duration) (most time.Duration, err error) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		began := time.Now()
		if _, err := docs.Policy.From(ctx, r.client, docs.No{}); err != nil {
			return most, err
		}
		most = max(most, time.Since(began))
		if err := syncutil.Sleep(ctx, 10*time.Millisecond); err != nil {
			return most, err
		}
	}
	return most, nil
}

// flap lets machines crash, or lose their network, and come back all the time.
func flap(ctx context.Context, r *run) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	end := time.Now().Add(r.Duration)
	fed := r.feed(ctx, r.mixedJob(), end)
	rng := rand.New(rand.NewPCG(r.Seed, 1))
	for time.Now().Before(end) {
		r.disturb(rng)
		if err := syncutil.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
	err := fed()
	return errors.Join(err, r.addLoopTurn(ctx))
}

// disturb lets one machine in a hundred crash or lose its network, for a time that may be
// longer than the expiry.
func (r *run) disturb(rng *rand.Rand) {
	for range max(1, r.Machines/100) {
		i, away := rng.IntN(r.Machines), time.Duration(rng.Int64N(int64(r.Expiry*3/2)))
		if rng.IntN(2) == 0 {
			r.fleet.Crash(i, away)
		} else {
			r.fleet.Cut(i, away)
		}
	}
}

// mixedJob is a job of two waves of short maps, with failures.
func (r *run) mixedJob() Job {
	return Job{
		Maps: max(1, r.Machines*r.MapSlots/2), Reduces: max(1, r.Machines/2), FailPercent: 1,
		Map: Span{time.Second, 4 * time.Second}, Reduce: Span{500 * time.Millisecond, 2 * time.Second},
	}
}

// mixed is the soak: jobs all the time, while machines flap and are drained, and leaders suffer
// masterFaults. At the end every job must have finished, and the masters' heaps
// must not have grown.
func mixed(ctx context.Context, r *run) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	end := time.Now().Add(r.Duration)
	fed := r.feed(ctx, r.mixedJob(), end)
	rng := rand.New(rand.NewPCG(r.Seed, 2))
	period := min(max(r.Duration/6, 5*time.Second), 30*time.Second)
	third, faults := time.Now().Add(r.Duration/3), time.Now().Add(period/2)
	var early map[string]int64
	kills, rounds := 0, 0
	for ; time.Now().Before(end); rounds++ {
		if rounds%3 == 0 {
			r.disturb(rng)
		}
		err := r.restartMasters(ctx)
		if err == nil && time.Now().After(faults) {
			faults = time.Now().Add(period)
			err = r.breakMaster(ctx, kills)
			kills++
		}
		if err == nil && early == nil && time.Now().After(third) {
			early, err = r.heaps(ctx)
		}
		if err = errors.Join(err, syncutil.Sleep(ctx, time.Second)); err != nil {
			return err
		}
	}
	if err := fed(); err != nil {
		return err
	}
	r.result.add("faults of leaders", float64(kills), "")
	r.result.add("tasks ended", float64(r.fleet.counts.ends.Load()), "")
	return r.compareHeaps(ctx, early)
}

// masterFaults are what mixed does to the leader, one after the other. A fault that lasts ends
// before inflict returns.
var masterFaults = []struct {
	does    string
	inflict func(ctx context.Context, r *run, leader string) error
}{
	{"is killed", killLeader},
	{"is stopped for 3 s", func(ctx context.Context, r *run, leader string) error {
		return errors.Join(r.cluster.Stop(ctx, leader), syncutil.Sleep(ctx, 3*time.Second), r.cluster.Continue(ctx, leader))
	}},
	{"has a disk that needs 1 s for each operation, for 4 s", func(ctx context.Context, r *run, leader string) error {
		err := errors.Join(r.cluster.SlowDisk(ctx, leader, time.Second), syncutil.Sleep(ctx, 4*time.Second))
		return errors.Join(err, r.revive(ctx, leader))
	}},
	{"has a disk whose operations fail, for 2 s", func(ctx context.Context, r *run, leader string) error {
		err := errors.Join(r.cluster.IOErrors(ctx, leader, 1), syncutil.Sleep(ctx, 2*time.Second))
		return errors.Join(err, r.revive(ctx, leader))
	}},
	{"has a clock that jumps by an hour", func(ctx context.Context, r *run, leader string) error {
		return r.cluster.JumpClock(ctx, leader, time.Hour)
	}},
}

// killLeader kills the leader, measures until another one serves, and starts it again.
func killLeader(ctx context.Context, r *run, leader string) error {
	if err := r.cluster.Kill(ctx, leader); err != nil {
		return err
	}
	took, err := r.serves(ctx)
	r.result.add("another leader serves after", took.Seconds(), "s")
	return errors.Join(err, r.cluster.Start(ctx, leader))
}

// reviveTimeout is how long a master may take to answer after its faults, or to end.
const reviveTimeout = time.Minute

// revive ends the faults inside a master. A master that they have ended, perhaps during the call,
// is started again by restartMasters: some take seconds to notice that they cannot serve.
func (r *run) revive(ctx context.Context, master string) error {
	return r.retry(ctx, "end of the faults of "+master, func(ctx context.Context) error {
		if err := r.cluster.ClearFaults(ctx, master); !errors.Is(err, testcluster.ErrNotRunning) {
			return err
		}
		return nil
	})
}

// retry calls f until it succeeds, for reviveTimeout at most.
func (r *run) retry(ctx context.Context, what string, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, reviveTimeout)
	defer cancel()
	var last error
	err := syncutil.Poll(ctx, 100*time.Millisecond, func(ctx context.Context) (bool, error) {
		last = f(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", what, errors.Join(err, last))
	}
	return nil
}

// restartMasters starts the masters that do not run. Without that, a later fault could leave the
// cluster without a majority.
func (r *run) restartMasters(ctx context.Context) error {
	masters, _ := r.cluster.Names()
	ended := slices.DeleteFunc(masters, r.cluster.Running)
	if len(ended) == 0 {
		return nil
	}
	r.Logf("starting %s again", strings.Join(ended, ", "))
	return r.cluster.Start(ctx, ended...)
}

// breakMaster injects fault n of masterFaults, or drains a machine and admits it again.
func (r *run) breakMaster(ctx context.Context, n int) error {
	kind := n % (len(masterFaults) + 1)
	if kind == len(masterFaults) {
		return r.drainOne(ctx, n)
	}
	for {
		leader, err := r.cluster.AwaitLeader(ctx)
		if err != nil {
			return err
		}
		r.Logf("leader %s %s", leader, masterFaults[kind].does)
		if err = masterFaults[kind].inflict(ctx, r, leader); !errors.Is(err, testcluster.ErrNotRunning) {
			return err
		}
		// An earlier fault has ended it only now.
		if err := errors.Join(r.restartMasters(ctx), syncutil.Sleep(ctx, 100*time.Millisecond)); err != nil {
			return err
		}
	}
}

// drainOne drains a machine for 2 s. It begins with machine n, and continues with the next ones
// while machines are refused because they are lost: they flap at the same time, and on a busy
// computer many may be lost at once.
func (r *run) drainOne(ctx context.Context, n int) error {
	var name string
	err := r.retry(ctx, "drain of a machine", func(ctx context.Context) error {
		name = r.fleet.Names()[n%r.Machines]
		n++
		err := orders.Change(ctx, r.client, "node.drain", name, "")
		if err != nil {
			r.Logf("machine %s is not drained: %v", name, err)
		}
		return err
	})
	if err != nil {
		return err
	}
	r.Logf("machine %s is drained", name)
	return errors.Join(syncutil.Sleep(ctx, 2*time.Second), orders.Change(ctx, r.client, "node.admit", name, ""))
}

// heaps returns the heap of each master after a garbage collection.
func (r *run) heaps(ctx context.Context) (map[string]int64, error) {
	masters, _ := r.cluster.Names()
	out := make(map[string]int64)
	for _, name := range masters {
		var notStarted error
		err := r.retry(ctx, "heap of "+name, func(ctx context.Context) (err error) {
			if notStarted = r.restartMasters(ctx); notStarted == nil {
				out[name], err = heapOf(ctx, r.cluster.Cluster, name)
			}
			return err
		})
		if err := errors.Join(err, notStarted); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// heapSlack is how much a heap may differ between two moments without growth: jobs that run
// need different amounts.
const heapSlack = 32 << 20

// compareHeaps checks that the heap of no master has grown since a third of the run. Runs
// that are shorter than ten minutes only report it: their finished jobs are still retained.
func (r *run) compareHeaps(ctx context.Context, early map[string]int64) error {
	late, err := r.heaps(ctx)
	for name, heap := range late {
		r.result.add("heap of "+name+" at a third", mebibytes(early[name]), "MiB")
		r.result.add("heap of "+name+" at the end", mebibytes(heap), "MiB")
		if r.Duration >= 10*time.Minute && heap > early[name]*5/4+heapSlack {
			r.result.violated("the heap of %s has grown from %d to %d bytes", name, early[name], heap)
		}
	}
	jobs, listErr := docs.AllJobs.From(ctx, r.client, docs.AllQuery{})
	for _, j := range jobs {
		r.result.violated("%s is still %s at the end", j.JobID, j.State)
	}
	return errors.Join(err, listErr)
}
