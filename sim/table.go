package sim

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/hammr/hammr/internal/percentile"
)

// columns are those of jobs.csv; times are seconds.
var columns = []string{
	"policy", "jobid", "pool", "submit_s", "start_s", "finish_s", "sojourn_s", "slowdown", "maps", "reduces",
	"local_maps", "preemptions", "work_lost_s", "work_conserved_s",
}

// PolicyRun is what one policy made of a workload.
type PolicyRun struct {
	Policy string
	Result *Result
}

// WriteJobs writes a line for each job and policy, as CSV with a heading.
func WriteJobs(w io.Writer, all []PolicyRun) error {
	out := csv.NewWriter(w)
	lines := [][]string{columns}
	for _, p := range all {
		for i := range p.Result.Jobs {
			lines = append(lines, p.Result.Jobs[i].line(p.Policy))
		}
	}
	if err := out.WriteAll(lines); err != nil {
		return fmt.Errorf("sim: jobs: %w", err)
	}
	return nil
}

func (r *JobResult) line(policy string) []string {
	return []string{
		policy, r.ID, r.Pool, seconds(r.Submit), seconds(r.Start), seconds(r.Finish), seconds(r.Sojourn()),
		strconv.FormatFloat(r.Slowdown(), 'f', 4, 64), strconv.Itoa(r.Maps), strconv.Itoa(r.Reduces),
		strconv.Itoa(r.LocalMaps), strconv.Itoa(r.Preemptions), seconds(r.WorkLost), seconds(r.WorkConserved),
	}
}

// seconds is a time of ms; -1 ms stands for a time that never came.
func seconds(ms int64) string {
	if ms == -1 {
		return ""
	}
	return strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64)
}

// WriteSummary writes a table for people, a line for each policy.
func WriteSummary(w io.Writer, all []PolicyRun) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "POLICY\tJOBS\tMEAN SOJOURN\tP50\tP95\tP99\tMEAN SLOWDOWN\tLOCAL MAPS\tPREEMPTED\tWORK LOST\tCONSERVED\tALL OVER AFTER\t")
	for _, p := range all {
		s := p.Result.Summary()
		fmt.Fprintf(t, "%s\t%d\t%.1f s\t%.1f s\t%.1f s\t%.1f s\t%.2f\t%.1f %%\t%d\t%.0f s\t%.0f s\t%.0f s\t\n",
			p.Policy, s.Jobs, s.Mean, s.P50, s.P95, s.P99, s.Slowdown, s.Local*100, s.Preemptions, s.Lost, s.Conserved, s.End)
	}
	return t.Flush()
}

// Summary is a run in a few numbers. Times are seconds.
type Summary struct {
	Jobs            int
	Mean            float64 // sojourn time
	P50, P95, P99   float64 // of the sojourn times, by nearest rank
	Slowdown        float64 // mean
	Local           float64 // share of the maps that were local
	Preemptions     int
	Lost, Conserved float64 // work
	End             float64
}

// Summary sums a run up.
func (r *Result) Summary() Summary {
	s := Summary{Jobs: len(r.Jobs), End: float64(r.End) / 1000}
	var sojourns []float64
	maps, local := 0, 0
	for i := range r.Jobs {
		j := &r.Jobs[i]
		sojourns = append(sojourns, float64(j.Sojourn())/1000)
		s.Slowdown += j.Slowdown() / float64(len(r.Jobs))
		maps, local = maps+j.Maps, local+j.LocalMaps
		s.Preemptions += j.Preemptions
		s.Lost += float64(j.WorkLost) / 1000
		s.Conserved += float64(j.WorkConserved) / 1000
	}
	for _, t := range sojourns {
		s.Mean += t / float64(len(sojourns))
	}
	s.P50, s.P95, s.P99 = percentile.Of(sojourns, 50), percentile.Of(sojourns, 95), percentile.Of(sojourns, 99)
	s.Local = float64(local) / float64(max(maps, 1))
	return s
}
