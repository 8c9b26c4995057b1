package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/syncutil"
	"github.com/hammr/hammr/sched"
)

// Failure is the loss of a machine: its tasknode with all tasks, and its DataNode if there
// is HDFS, are killed. The failure happens at a given time, or when a job has made some
// progress.
//
// It corresponds to sim.Failure, but its times are wall-clock times.
type Failure struct {
	Machine int           // number of the machine, from 0
	At      time.Duration // since the start of the run, or with Job since the job made the progress

	Job     string // name of the job whose progress triggers the failure; "" for none
	Phase   string // "map" or "reduce"
	Percent float64
}

// LostMachine is a machine that has failed. Its tasks end with its tasknode. Only the next
// trial starts the machine again.
type LostMachine struct {
	Machine int
	At      time.Time
}

// progressInterval is the time between two checks of the progress of jobs.
const progressInterval = 200 * time.Millisecond

// startFailures makes machines fail from now on. end waits until all of them have failed or
// ctx has ended. There is one goroutine for each failure.
func (c *Cluster) startFailures(ctx context.Context, failures []Failure, begin time.Time) (end func() ([]LostMachine, error)) {
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
func (c *Cluster) failWhen(ctx context.Context, f Failure, begin time.Time) (*LostMachine, error) {
	reached, err := c.awaitProgress(ctx, f)
	if err != nil || !reached {
		return nil, err
	}
	if f.Job != "" {
		begin = time.Now()
	}
	select {
	case <-ctx.Done():
		return nil, nil
	case <-time.After(time.Until(begin.Add(f.At))):
	}
	return c.fail(ctx, f.Machine)
}

// awaitProgress waits until the job of a failure has made the required progress. It reports
// false if ctx ends before.
func (c *Cluster) awaitProgress(ctx context.Context, f Failure) (reached bool, err error) {
	if f.Job == "" {
		return true, nil
	}
	err = syncutil.Poll(ctx, progressInterval, func(ctx context.Context) (bool, error) {
		jobs, err := docs.AllJobs.From(ctx, c.Client(), docs.AllQuery{})
		return slices.ContainsFunc(jobs, f.reached), err
	})
	if ctx.Err() != nil {
		return false, nil
	}
	return err == nil, err
}

// reached reports whether a job has made the progress that a failure waits for. For maps
// finished tasks count; for reduces the work after the shuffle counts. The progress of a
// reduce includes its copy phase up to ReducePhaseStart, which is taken out here.
func (f Failure) reached(j apidoc.Job) bool {
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
	if err := c.Kill(ctx, tasknodeName(node)); err != nil {
		return nil, fmt.Errorf("failure of machine %d: %w", node, err)
	}
	if c.hdfs != nil {
		return lost, c.hdfs.DataNode(node).Kill()
	}
	return lost, nil
}
