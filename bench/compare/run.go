package compare

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/sim"
)

// Row is the result of a policy on a workload.
type Row struct {
	Load, Arm string
	Failing   bool // one machine failed every hour
	sim.Summary
	BelowShare float64 // the longest time for which a user was below its share, in seconds

	// WorstJob is the job with the largest slowdown compared with fair sharing, and Worst is
	// its slowdown. Late is the number of jobs with a slowdown above 1.25.
	WorstJob string
	Worst    float64
	Late     int
}

// late is the slowdown compared with fair sharing that no job should exceed.
const late = 1.25

// Table has all rows. Each load has first the rows without failures, then the rows with
// failures. Mean slowdowns hide starvation, so each row has the worst job too.
type Table struct {
	Loads []Load
	Rows  []Row
}

// Run runs all policies on all workloads. progress may be nil; calls do not overlap. Each
// row is compared with the reference arm of the same load and the same failures.
func Run(ctx context.Context, o Options, on paper.Runner, progress func(done, all int)) (*Table, error) {
	loads, err := Loads(o)
	if err != nil {
		return nil, err
	}
	arms, err := o.arms()
	if err != nil {
		return nil, err
	}
	var trials []paper.Trial
	for i := range loads {
		for _, failing := range []bool{false, true} {
			for _, a := range arms {
				trials = append(trials, loads[i].trial(a, failing, cmp.Or(o.Seed, 1)))
			}
		}
	}
	outcomes, err := paper.RunAll(ctx, trials, on, progress)
	if err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	rows, fair := make([]Row, len(trials)), slices.IndexFunc(arms, func(a Arm) bool { return a.Name == reference })
	for i, t := range trials {
		rows[i] = Row{Load: t.Experiment, Arm: t.Arm, Failing: len(t.Cluster.Failures) > 0, Summary: outcomes[i].Summary()}
		rows[i].BelowShare = float64(outcomes[i].BelowShare) / 1000
		rows[i].judge(outcomes[i].Jobs, outcomes[i-i%len(arms)+fair].Jobs)
	}
	return &Table{loads, rows}, nil
}

// judge compares the jobs with those under fair sharing. Jobs are matched by
// their ids. fair is the outcome of the reference arm.
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
