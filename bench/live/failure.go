package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/hammr/hammr/sched"
)

// Failure is the loss of a machine: its tasknode, and with it all tasks there, and its
// DataNode where there is HDFS, are killed at a time, or when a job is so far.
type Failure struct {
	Node int           // number of the machine, from 0
	At   time.Duration // since the start of the run; with Job, since the job is so far

	Job     string // its name, "" for none
	Phase   string // "map" or "reduce"
	Percent float64
}

// LostMachine is a machine that was made to fail.
type LostMachine struct {
	Node int
	At   time.Time
}

// pollEvery is how often it is looked how far jobs are for which failures wait.
const pollEvery = 200 * time.Millisecond

// startFailures has machines fail from now on. What it returns waits until all
// failures have come to pass or ctx has ended.
func (c *Cluster) startFailures(ctx context.Context, failures []Failure, begin time.Time) (end func() ([]LostMachine, error)) {
	var all sync.WaitGroup
	lost := make([]*LostMachine, len(failures))
	errs := make([]error, len(failures))
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
		slices.SortFunc(list, func(a, b LostMachine) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Node, b.Node)) })
		return list, errors.Join(errs...)
	}
}

// failWhen fails a machine at its time; nil when that never comes.
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
	return c.fail(f.Node)
}

// awaitProgress waits until the job of a failure is so far; it is false when ctx
// ends before.
func (c *Cluster) awaitProgress(ctx context.Context, f Failure) (reached bool, err error) {
	look := time.NewTicker(pollEvery)
	defer look.Stop()
	for f.Job != "" {
		jobs, err := c.jobs(ctx)
		if ctx.Err() != nil {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(jobs, f.reached) {
			break
		}
		select {
		case <-ctx.Done():
			return false, nil
		case <-look.C:
		}
	}
	return true, nil
}

// reached reports whether a job is as far as a failure waits for. Of maps, those
// that have finished count; of reduces, their work, without the shuffle.
func (f Failure) reached(j jobProgress) bool {
	switch {
	case j.Name != f.Job || j.Maps.Total == 0:
		return false
	case f.Phase == "map":
		return float64(j.Maps.Done)*100 >= f.Percent*float64(j.Maps.Total)
	}
	return j.Reduces.Total > 0 && (j.Reduces.Fraction-sched.ReducePhaseStart)/(1-sched.ReducePhaseStart)*100 >= f.Percent
}

// fail kills the tasknode of a machine, and its DataNode where it has one. The
// kernel ends its tasks with it.
func (c *Cluster) fail(node int) (*LostMachine, error) {
	state, err := c.State()
	if err != nil {
		return nil, err
	}
	name := nodeName(node)
	for _, n := range state.Tasknodes {
		if n.Name != name {
			continue
		}
		lost := &LostMachine{Node: node, At: time.Now()}
		if err := syscall.Kill(n.PID, syscall.SIGKILL); err != nil {
			return nil, fmt.Errorf("failure of tasknode %s, process %d: %w", name, n.PID, err)
		}
		if c.hdfs != nil {
			return lost, c.hdfs.KillDataNode(node)
		}
		return lost, nil
	}
	return nil, fmt.Errorf("failure of tasknode %s: the cluster has none of that name", name)
}

// nodeName is the name that hammr up gives to a tasknode.
func nodeName(node int) string { return fmt.Sprintf("n%d", node+1) }
