package results

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/web/draw"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/tables"
	"github.com/hammr/hammr/sim/workload"
)

// Recorded draws jobs as they ran on a real cluster: the map slots and the reduce slots in use over
// time, by pool if there are several and else by job, and the distribution of the sojourn times.
// Jobs are in the order of submission.
func Recorded(title string, jobs []workload.RecordedJob) *draw.Figure {
	r, work := new(sim.Result), make([]int64, len(jobs))
	var changes []sim.Sample
	for i, j := range jobs {
		r.Jobs = append(r.Jobs, sim.JobResult{ID: j.ID, Pool: j.Pool, Submit: j.Submit, Finish: j.Finish})
		r.End = max(r.End, j.Finish)
		for _, s := range j.Slots {
			work[i] += s.End - s.Start
			c := sim.Sample{Job: j.ID, Pool: j.Pool, Kind: s.Kind, At: s.Start, Running: 1}
			changes = append(changes, c)
			c.At, c.Running = s.End, -1
			changes = append(changes, c)
		}
	}
	r.Series = Series(changes)
	g := groupsOf(r, func(i int) int64 { return work[i] })
	figures := g.areas("", r, cluster.Slots{})
	return draw.Grid(title, 2, append(figures, draw.CDF(draw.Axes{Title: "sojourn times", X: "sojourn time [s]"}, g.sojourns(r)...))...)
}

// sojourns returns the times of the jobs of each pool, in s, or of all jobs.
func (g *groups) sojourns(r *sim.Result) (samples []draw.Sample) {
	of := make(map[string][]float64)
	for i := range r.Jobs {
		name := "" // the legend leaves it out
		if g.byPool {
			name = g.of[r.Jobs[i].ID]
		}
		of[name] = append(of[name], float64(r.Jobs[i].Sojourn())/1000)
	}
	for _, name := range append([]string{""}, g.names...) {
		if of[name] != nil {
			samples = append(samples, draw.Sample{Name: name, Values: of[name]})
		}
	}
	return samples
}

// Series turns changes into slot usage over time: a sample whenever the number of a job's attempts of
// a kind has changed at the end of a millisecond. Running of a change is the difference. Changes are
// in any order, and Series sorts them.
func Series(changes []sim.Sample) (samples []sim.Sample) {
	slices.SortStableFunc(changes, func(a, b sim.Sample) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Kind, b.Kind))
	})
	running := make(map[sim.Sample]int) // by job, pool and kind
	for sample, changes := range tables.Groups(changes, func(c sim.Sample) sim.Sample { c.Running = 0; return c }) {
		of := sample
		of.At = 0
		before := running[of]
		for _, c := range changes {
			running[of] += c.Running
		}
		if sample.Running = running[of]; sample.Running != before {
			samples = append(samples, sample)
		}
	}
	return samples
}
