package compare

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/sim"
)

// Row is what a policy made of a workload.
type Row struct {
	Load, Arm string
	Failing   bool // a machine an hour failed
	sim.Summary

	// WorstJob is the job that took longest beside what it took under fair
	// sharing, Worst is how many times as long, and Late is how many jobs took
	// more than 1.25 times as long.
	WorstJob string
	Worst    float64
	Late     int
}

// late is how many times as long as under fair sharing no job should take.
const late = 1.25

// Table is all rows: of each load first without failures, then with them.
type Table struct {
	Loads []Load
	Rows  []Row
}

// Run runs all policies on all workloads. Progress may be
// nil, and is called by one goroutine after the other.
func Run(ctx context.Context, o Options, on paper.Runner, progress func(done, all int)) (*Table, error) {
	loads, err := Loads(o)
	if err != nil {
		return nil, err
	}
	var trials []paper.Trial
	for i := range loads {
		for _, failing := range []bool{false, true} {
			for _, a := range Arms() {
				trials = append(trials, loads[i].trial(a, failing, cmp.Or(o.Seed, 1)))
			}
		}
	}
	rows := make([]Row, len(trials))
	jobs := make([][]sim.JobResult, len(trials))
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	var mu sync.Mutex // guards done, and calls of progress
	done := 0
	for i, t := range trials {
		workers.Go(func() error {
			r, err := on.Run(ctx, t)
			if err != nil {
				return fmt.Errorf("compare: %v: %w", t, err)
			}
			rows[i] = Row{Load: t.Experiment, Arm: t.Arm, Failing: len(t.Cluster.Failures) > 0, Summary: r.Summary()}
			jobs[i] = r.Jobs
			mu.Lock()
			defer mu.Unlock()
			if done++; progress != nil {
				progress(done, len(trials))
			}
			return nil
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	for i := range rows {
		rows[i].judge(jobs[i], jobs[i-i%len(Arms())+referenceIndex()])
	}
	return &Table{loads, rows}, nil
}

func referenceIndex() int {
	for i, a := range Arms() {
		if a.Name == reference {
			return i
		}
	}
	panic("compare: no arm " + reference)
}

// judge holds the jobs against what they took under fair sharing.
func (r *Row) judge(jobs, fair []sim.JobResult) {
	took := make(map[string]int64, len(fair))
	for i := range fair {
		took[fair[i].ID] = fair[i].Sojourn()
	}
	for i := range jobs {
		ratio := float64(jobs[i].Sojourn()) / float64(max(took[jobs[i].ID], 1))
		if ratio > r.Worst {
			r.Worst, r.WorstJob = ratio, jobs[i].ID
		}
		if ratio > late {
			r.Late++
		}
	}
}
