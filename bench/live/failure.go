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

// startFailures makes machines fail from now on, at wall-clock times. end waits until all of them have failed or
// ctx has ended. There is one goroutine for each failure.
func (c *Cluster) startFailures(ctx context.Context, p Plan, begin time.Time) (end func() ([]LostMachine, error)) {
	var all sync.WaitGroup
	lost := make([]*LostMachine, len(p.Failures))
	errs := make([]error, len(p.Failures))
	// Each goroutine writes its own element of both lists.
	for i, f := range p.Failures {
		all.Go(func() { lost[i], errs[i] = c.failWhen(ctx, f, p.ReduceTimes[f.Job], begin) })
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
func (c *Cluster) failWhen(ctx context.Context, f sim.Failure, reduceTime time.Duration, begin time.Time) (*LostMachine, error) {
	if f.Job != "" {
		var due time.Time
		err := syncutil.Poll(ctx, progressInterval, func(ctx context.Context) (bool, error) {
			jobs, err := docs.AllJobs.From(ctx, c.Client(), docs.AllQuery{})
			due = dueBy(f, jobs, reduceTime, time.Now(), due)
			return !due.IsZero() && time.Until(due) < progressInterval, err
		})
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
		begin = due
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

// dueBy returns when a job has made the progress that a failure waits for, or due if that is earlier; the zero time if
// it is not known. Progress of reduces is up to a second old, and reduces may take no longer. So it is extrapolated, if the time
// of their function is known; the report that was least old gives the earliest moment.
func dueBy(f sim.Failure, jobs []apidoc.Job, reduceTime time.Duration, now, due time.Time) time.Time {
	for _, j := range jobs {
		left, known := missingProgress(f, j)
		if !known || left > 0 && reduceTime == 0 {
			continue
		}
		if at := now.Add(time.Duration(max(left, 0) * float64(reduceTime))); due.IsZero() || at.Before(due) {
			due = at
		}
	}
	return due
}

// missingProgress returns how much of the phase a job still has to do before a failure, as a part of it. known is false
// if that cannot be said: of maps only finished ones count, and of reduces the work after the shuffle. The progress of a
// reduce includes its copy phase up to ReducePhaseStart, which is taken out here.
func missingProgress(f sim.Failure, j apidoc.Job) (left float64, known bool) {
	switch {
	case j.Name != f.Job || j.Maps.Total == 0:
		return 0, false
	case f.Phase == "map":
		left = f.Percent/100 - float64(j.Maps.Done)/float64(j.Maps.Total)
		return left, left <= 0
	}
	done := (j.Reduces.Fraction - sched.ReducePhaseStart) / (1 - sched.ReducePhaseStart)
	return f.Percent/100 - done, j.Reduces.Total > 0 && done > 0
}

// fail makes a machine fail as one does that loses its power: its tasknode is silent, and the master finds that out by
// the time-out of the trial. If the tasknode were killed at once, the master would know within a second, because the
// machine refuses connections. Its DataNode is killed, and once it is lost its tasknode with its tasks. The time of the
// returned LostMachine is that of the silence.
func (c *Cluster) fail(ctx context.Context, node int) (lost *LostMachine, err error) {
	if node >= len(c.tasknodes) {
		return nil, fmt.Errorf("failure of machine %d: the cluster has %d machines with a tasknode", node, len(c.tasknodes))
	}
	name := c.tasknodes[node]
	defer func() {
		if err != nil {
			err = fmt.Errorf("failure of machine %d: %w", node, err)
		}
	}()
	lost = &LostMachine{Machine: node, At: time.Now()}
	if err := c.Cluster.Stop(ctx, name); err != nil {
		return nil, err
	}
	switch {
	case c.hdfs != nil:
		err = c.hdfs.DataNode(node).Kill()
	case c.ssh != nil && c.ssh.Plan().FileSystem() != "":
		err = c.ssh.KillDataNode(ctx, name)
	}
	_ = syncutil.Sleep(ctx, c.silence) // the run may be over before
	return lost, errors.Join(err, c.Kill(context.WithoutCancel(ctx), name))
}
