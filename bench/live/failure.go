package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sim"
)

// LostMachine is a machine that has failed. Its tasks end with its tasknode. Only the next
// trial starts the machine again.
type LostMachine struct {
	Machine int
	At      time.Time
}

// progressInterval is the time between two checks of the progress of jobs.
const progressInterval = 200 * time.Millisecond

// startFailures makes machines fail from now on, at wall-clock times: its tasknode with all tasks,
// and its DataNode if there is HDFS, are killed. end waits until all of them have failed or
// ctx has ended. There is one goroutine for each failure.
func (c *Cluster) startFailures(ctx context.Context, failures []sim.Failure, begin time.Time) (end func() ([]LostMachine, error)) {
	var all sync.WaitGroup
	lost := make([]*LostMachine, len(failures))
	errs := make([]error, len(failures))
	// Each goroutine writes its own element of both lists.
	for i, f := range failures {
		all.Go(func() { lost[i], errs[i] = c.failWhen(ctx, f, begin) })
	}
	return func() (list []LostMachine, err error) {
		all.Wait()
		for _, l := range lost {
			if l != nil {
				list = append(list, *l)
			}
		}
		slices.SortFunc(list, func(a, b LostMachine) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Machine, b.Machine)) })
		return list, errors.Join(errs...)
	}
}

// failWhen makes a machine fail when its failure is due. It returns nil if ctx ends before.
// The time of a failure with a job counts from the moment of its progress.
func (c *Cluster) failWhen(ctx context.Context, f sim.Failure, begin time.Time) (*LostMachine, error) {
	if f.Job != "" {
		err := syncutil.Poll(ctx, progressInterval, func(ctx context.Context) (bool, error) {
			jobs, err := docs.AllJobs.From(ctx, c.Client(), docs.AllQuery{})
			return slices.ContainsFunc(jobs, func(j apidoc.Job) bool { return madeProgress(f, j) }), err
		})
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
		begin = time.Now()
	}
	select {
	case <-ctx.Done():
		return nil, nil
	case <-time.After(time.Until(begin.Add(time.Duration(f.At) * time.Millisecond))):
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	return c.fail(ctx, f.Machine)
}

// madeProgress reports whether a job has made the progress that a failure waits for. For maps
// finished tasks count; for reduces the work after the shuffle counts. The progress of a
// reduce includes its copy phase up to ReducePhaseStart, which is taken out here.
func madeProgress(f sim.Failure, j apidoc.Job) bool {
	switch {
	case j.Name != f.Job || j.Maps.Total == 0:
		return false
	case f.Phase == "map":
		return float64(j.Maps.Done)*100 >= f.Percent*float64(j.Maps.Total)
	}
	return j.Reduces.Total > 0 && (j.Reduces.Fraction-sched.ReducePhaseStart)/(1-sched.ReducePhaseStart)*100 >= f.Percent
}

// fail kills the tasknode of a machine, and its DataNode if it has one. The kernel ends the
// tasks with their tasknode. The time of the returned LostMachine is taken before the kill.
func (c *Cluster) fail(ctx context.Context, node int) (*LostMachine, error) {
	lost := &LostMachine{Machine: node, At: time.Now()}
	if node >= len(c.tasknodes) {
		return nil, fmt.Errorf("failure of machine %d: the cluster has %d machines with a tasknode", node, len(c.tasknodes))
	}
	name := c.tasknodes[node]
	if err := c.Kill(ctx, name); err != nil {
		return nil, fmt.Errorf("failure of machine %d: %w", node, err)
	}
	switch {
	case c.hdfs != nil:
		return lost, c.hdfs.DataNode(node).Kill()
	case c.ssh != nil && c.ssh.Plan().FileSystem() != "":
		return lost, c.ssh.KillDataNode(ctx, name)
	}
	return lost, nil
}
