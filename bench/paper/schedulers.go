package paper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/web/draw"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/tables"
	"github.com/hammr/hammr/sim/workload"
)

// Comparison plays every policy on every workload, with known and with mistaken job sizes, with
// and without failing machines, and makes one table of the results. The same Comparison gives
// the same table, byte for byte.
//
//	workloads: hfsp_fb2009, hfsp_fb2010, three samples of SWIM's FB-2009 and FB-2010
//	arms:      fifo, hammr, disco, fair as in Hadoop, by default and with hfsp inside of pools, both with a pool for each user too,
//	           hfsp with three errors of sizes and with shares of users after four times, policies of other modules,
//	           chronos over three policies
//	each with four users, without failures, and with one machine that fails every hour for ten minutes
type Comparison struct {
	Dir   string // of the traces: hfsp_fb2009.csv, hfsp_fb2010.csv, swim/
	Only  string // name of the one workload to play; "" is all
	Arms  string // pattern for path.Match of the arms to play, beside the reference; "" is all
	Seed  uint64 // 0 is 1
	Short bool   // a tenth of the first workload's tasks, on a tenth of the machines
}

// reference is the arm whose sojourn times count as fair: Hadoop's fair scheduler.
const reference = "fair as in Hadoop"

// schedulerArms are the policies to compare. HFSP runs with errors of sizes of sigma 0, 0.5 and 1
// (lognormal), because real clusters do not know sizes. Each policy takes slots in the cheapest mode.
func schedulerArms() []Arm {
	arm := func(name, policy string, conf map[string]string) Arm {
		return Arm{Name: name, Policy: policy, Conf: conf, Setup: sched.Setup{
			Placement: sched.DefaultPlacement(), Preempt: preempt.Config{Map: preempt.Auto, Reduce: preempt.Auto},
		}}
	}
	const hfspInside = "<allocations><defaultPoolSchedulingMode>hfsp</defaultPoolSchedulingMode></allocations>"
	arms := []Arm{
		arm("fifo", "fifo", nil), arm(reference, "fair", asInHadoop("fair")), arm("fair", "fair", nil),
		arm("fair, hfsp inside", "fair", map[string]string{registry.Allocations: hfspInside}), arm("hammr", "hammr", nil), arm("disco", "disco", nil),
	}
	for _, sigma := range []string{"0", "0.5", "1"} {
		arms = append(arms, arm("hfsp, error "+sigma, "hfsp", map[string]string{"hammr.hfsp.size-error": sigma}))
	}
	for _, name := range registry.Names() { // those of other modules
		if !strings.HasPrefix(name, "chronos") && !slices.ContainsFunc(arms, func(a Arm) bool { return a.Policy == name }) {
			arms = append(arms, arm(name, name, nil))
		}
	}
	for _, timeout := range []string{"10", "15", "20", "30"} {
		arms = append(arms, arm("hfsp, user share "+timeout+" s", "hfsp", map[string]string{registry.UserShareTimeout: timeout + "000"}))
	}
	for _, a := range arms[2:4] { // the arms of fair
		a.Name, a.Set = a.Name+", user pools", func(t *Trial) { t.Workload = t.Workload.Each(func(_ int, j *workload.Job) { j.Pool = j.User }) }
		arms = append(arms, a)
	}
	return append(arms,
		arm("chronos+fifo", "chronos+fifo", nil), arm("chronos+"+reference, "chronos+fair", asInHadoop("fair")), arm("chronos+hfsp", "chronos+hfsp", nil),
	)
}

// arms returns the arms to compare, the reference always among them.
func (c Comparison) arms() (chosen []Arm, err error) {
	matched := false
	for _, a := range schedulerArms() {
		ok, err := path.Match(cmp.Or(c.Arms, "*"), a.Name)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", c.Arms, err)
		}
		if ok || a.Name == reference {
			chosen = append(chosen, a)
		}
		matched = matched || ok
	}
	if !matched {
		return nil, fmt.Errorf("no policy matches %q", c.Arms)
	}
	return chosen, nil
}

// comparedMachines is the number of machines in the HFSP paper; all clusters here have its machines.
const comparedMachines = 100

// comparedLoads are all workloads, by the names of their files. Machines fail during length.
var comparedLoads = []struct {
	name, file string
	swim       workload.SWIM
	length     time.Duration
}{
	{"hfsp_fb2009", "hfsp_fb2009.csv", workload.SWIM{}, time.Hour},
	{"hfsp_fb2010", "hfsp_fb2010.csv", workload.SWIM{}, 12 * time.Hour},
	{"FB-2009, sample 0", "swim/FB-2009_samples_24_times_1hr_0.tsv", workload.SWIM{OriginalMachines: 600, TargetMachines: comparedMachines}, 24 * time.Hour},
	{"FB-2009, sample 1", "swim/FB-2009_samples_24_times_1hr_1.tsv", workload.SWIM{OriginalMachines: 600, TargetMachines: comparedMachines}, 24 * time.Hour},
	{"FB-2010, sample 0", "swim/FB-2010_samples_24_times_1hr_0.tsv", workload.SWIM{OriginalMachines: 3000, TargetMachines: comparedMachines}, 24 * time.Hour},
}

// ComparedLoads returns the names of all workloads.
func ComparedLoads() (names []string) {
	for _, l := range comparedLoads {
		names = append(names, l.name)
	}
	return names
}

// experiments returns an experiment for each workload. The short form has the first workload only: a tenth of
// the tasks on a tenth of the machines has about the same load.
func (c Comparison) experiments() (list []Experiment, err error) {
	arms, err := c.arms()
	if err != nil {
		return nil, err
	}
	for _, l := range comparedLoads {
		if c.Only != "" && c.Only != l.name {
			continue
		}
		file := filepath.Join(c.Dir, filepath.FromSlash(l.file))
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("trace %s does not exist: name the directory of the traces", file)
		}
		e := Experiment{
			ID: l.name, Arms: arms, Runs: 1,
			// The machines of the HFSP paper have 4 map slots and 2 reduce slots.
			Cluster: sim.Config{Machines: comparedMachines, MapSlots: 4, ReduceSlots: 2, Replication: 3, UserShares: true},
			Points:  []Point{{}, {Name: "a machine an hour fails", Set: func(t *Trial) { failHourly(t, l.length) }}},
			Workload: Source(func(seed uint64) (*workload.Workload, error) {
				return workload.ReadFile(file, workload.Options{Model: workload.Model{Sigma: taskSigma, Seed: seed}, SWIM: l.swim})
			}).Each(func(n int, j *workload.Job) { j.User = fmt.Sprintf("user%d", n%users) }),
		}
		if c.Short {
			e.Cluster.Machines, e.Workload = comparedMachines/sampleEvery, sampled(e.Workload)
			return []Experiment{e}, nil
		}
		list = append(list, e)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("workload %q: not one of %s", c.Only, strings.Join(ComparedLoads(), ", "))
	}
	return list, nil
}

// users is the number of users to whom the jobs of a load belong in turn. The traces name none.
const users = 4

// failHourly lets a machine fail in the middle of each hour and return after ten minutes. The
// machines are chosen in steps, so that each fails about equally often, and the choice is the
// same for all policies.
func failHourly(t *Trial, length time.Duration) {
	const stride = 37 // prime to the number of machines, so no machine fails twice before all others have
	for n := 0; time.Duration(n)*time.Hour < length; n++ {
		t.Cluster.Failures = append(t.Cluster.Failures, sim.Failure{
			Machine: n * stride % t.Cluster.Machines,
			At:      (time.Duration(n)*time.Hour + 30*time.Minute).Milliseconds(), BackAfter: (10 * time.Minute).Milliseconds(),
		})
	}
}

// ComparedPolicy is the result of a policy on a workload. Mean slowdowns hide starvation, so it has the worst job
// too.
type ComparedPolicy struct {
	Load, Point, Arm string
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

// Compared has the results by workload, first those without failures, then those with failures.
type Compared []ComparedPolicy

// Run runs all policies on all workloads in the simulator. progress may be nil; calls do not overlap. Each
// policy is compared with the reference of the same workload and the same failures.
func (c Comparison) Run(ctx context.Context, progress func(done, all int)) (rows Compared, err error) {
	p := Paper{Runs: 1, Plan: func(Options) ([]Experiment, error) { return c.experiments() }}
	report, err := p.run(ctx, Options{Seed: c.Seed, Progress: progress}, Simulator{})
	if err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	for _, s := range report.Sections {
		for i, t := range s.Trials {
			o := s.Outcomes[i]
			row := ComparedPolicy{Load: t.Experiment, Point: t.Point, Arm: t.Arm, Summary: o.Summary(), BelowShare: seconds(o.BelowShare)}
			row.judge(o.Jobs, s.Repeats[0].At(reference, t.Point).Jobs)
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// judge compares the jobs with those under fair sharing. Jobs are matched by
// their ids.
func (r *ComparedPolicy) judge(jobs, fair []sim.JobResult) {
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

// Frontier draws what policies trade: the longest time for which a user was below its share, and the mean
// sojourn time over that of the best policy of each workload, both at the worst workload.
func (c Compared) Frontier() *draw.Figure {
	return draw.Lines(draw.Axes{X: "longest time of a user below its share [s]", Y: "mean sojourn time over the best policy's [%]", LogX: true, LogY: true}, c.frontier()...)
}

// frontier returns the limits of a new cluster's policy, and the points of all arms.
func (c Compared) frontier() (lines []draw.Line) {
	lines = []draw.Line{{Name: "limits: 60 s and 10 %", Steps: true, Points: []draw.Point{{X: 10, Y: 10}, {X: 60, Y: 10}, {X: 60, Y: 1}}}}
	at := make(map[string]*draw.Point)
	for _, rows := range tables.Groups(c, func(r ComparedPolicy) [2]string { return [2]string{r.Load, r.Point} }) {
		best := slices.MinFunc(rows, func(a, b ComparedPolicy) int { return cmp.Compare(a.Mean, b.Mean) }).Mean
		for _, r := range rows {
			p := at[r.Arm]
			if p == nil {
				p = &draw.Point{X: 1, Y: 1} // a logarithmic axis has no 0
				at[r.Arm] = p
				lines = append(lines, draw.Line{Name: r.Arm})
			}
			p.X, p.Y = max(p.X, r.BelowShare), max(p.Y, 100*(r.Mean/best-1))
		}
	}
	for i := range lines[1:] {
		lines[i+1].Points = []draw.Point{*at[lines[i+1].Name]}
	}
	return lines
}

// WriteCSV writes a line for each policy and workload, with a heading.
func (c Compared) WriteCSV(w io.Writer) error {
	t := tables.New("workload", "failures", "policy", "jobs", "mean_sojourn_s|%.4f", "p50_s|%.4f", "p95_s|%.4f", "p99_s|%.4f", "mean_slowdown|%.4f",
		"local_maps|%.4f", "preemptions", "work_lost_s|%.4f", "work_conserved_s|%.4f", "worst_against_fair|%.4f", "worst_job", "jobs_beyond_1.25",
		"end_s|%.4f", "below_share_s|%.4f")
	for _, r := range c {
		t.Add(r.Load, strconv.FormatBool(r.Point != ""), r.Arm, r.Jobs, r.Mean, r.P50, r.P95, r.P99, r.Slowdown, r.Local, r.Preemptions, r.Lost, r.Conserved,
			r.Worst, r.WorstJob, r.Late, r.End, r.BelowShare)
	}
	return t.CSV(w)
}

// WriteMarkdown writes a table for each workload, without and with failures.
func (c Compared) WriteMarkdown(w io.Writer) error {
	for group, rows := range tables.Groups(c, func(r ComparedPolicy) [2]string { return [2]string{r.Load, r.Point} }) {
		t := tables.New("policy", "mean s|%.1f", "p95 s|%.0f", "p99 s|%.0f", "slowdown|%.2f", "lost, slot-s|%.0f", "kept, slot-s|%.0f", "local|%.1f %%",
			"worst job by fair|%.2f", "beyond 1.25|%s", "below share, s|%.0f")
		for _, r := range rows {
			t.Add(r.Arm, r.Mean, r.P95, r.P99, r.Slowdown, r.Lost, r.Conserved, r.Local*100, r.Worst, fmt.Sprintf("%d of %d", r.Late, r.Jobs), r.BelowShare)
		}
		title := strings.TrimSuffix(group[0]+", "+group[1], ", ")
		if _, err := fmt.Fprintf(w, "\n### %s\n\n", title); err != nil {
			return err
		}
		if err := t.Markdown(w); err != nil {
			return err
		}
	}
	return nil
}
