package results

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hammr/hammr/internal/web/draw"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// saveFigures draws the sojourn times of all repetitions and the slots of the first.
//
//	sojourn            distribution of sojourn times, a curve for each policy
//	sojourn-by-class   the same for each class of jobs, if there are several
//	slots              usage over time under each policy
func (r *Report) saveFigures(dir string) error {
	axes := draw.Axes{Title: "Sojourn times", X: "sojourn time [s]"}
	if err := draw.CDF(axes, r.sojourns("")...).Save(dir, "sojourn"); err != nil {
		return err
	}
	if classes := r.classes(); len(classes) > 1 {
		var figures []*draw.Figure
		for _, class := range classes {
			axes := draw.Axes{Title: class, X: "sojourn time [s]"}
			figures = append(figures, draw.CDF(axes, r.sojourns(class)...))
		}
		if err := draw.Grid("Sojourn times by class", 2, figures...).Save(dir, "sojourn-by-class"); err != nil {
			return err
		}
	}
	return r.slotsFigure().Save(dir, "slots")
}

// sojourns returns the times of all repetitions under each policy, of one class; "" is all
// classes. Values are in s.
func (r *Report) sojourns(class string) (samples []draw.Sample) {
	for i, run := range r.Repetitions[0].Runs {
		sample := draw.Sample{Name: run.Policy}
		for _, repetition := range r.Repetitions {
			jobs := repetition.Runs[i].Result.Jobs
			for k := range jobs {
				if class == "" || jobs[k].Class == class {
					sample.Values = append(sample.Values, float64(jobs[k].Sojourn())/1000)
				}
			}
		}
		samples = append(samples, sample)
	}
	return samples
}

// maxClasses is the number of classes that have pictures of their own. More pictures would
// be too small to read.
const maxClasses = 12

// classes returns the classes, sorted by the size of their smallest job, so that small,
// medium and big have this order. It returns none if there are more than maxClasses.
func (r *Report) classes() (names []string) {
	least := make(map[string]int)
	for i := range r.Workload.Jobs {
		j := &r.Workload.Jobs[i]
		tasks, known := least[j.Class]
		if j.Class == "" {
			continue
		}
		if !known {
			names = append(names, j.Class)
		}
		if n := len(j.Maps) + len(j.Reduces); !known || n < tasks {
			least[j.Class] = n
		}
	}
	if len(names) > maxClasses {
		return nil
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(least[a], least[b]) })
	return names
}

// slotsFigure shows the slots of the first repetition: each slot on small clusters, else
// numbers of slots. A colour is a job or a pool. Suspended attempts have no row of their own,
// so runs with suspension show numbers too.
func (r *Report) slotsFigure() *draw.Figure {
	first := r.Repetitions[0]
	groups := groupsOf(first.Runs[0].Result, func(i int) int64 {
		j := &r.Workload.Jobs[i]
		return workload.Sum(j.Maps).Millis + workload.Sum(j.Reduces).Millis
	})
	var figures []*draw.Figure
	columns := 2
	if DrawsEachSlot(r.Cluster, r.Workload) && !anySuspended(first.Runs) {
		columns = 1
		for _, run := range first.Runs {
			figures = append(figures, r.gantt(run, groups))
		}
	} else {
		for _, run := range first.Runs {
			figures = append(figures, groups.areas(run.Policy+": ", run.Result, r.perMachine().Times(r.Cluster.Machines))...)
		}
	}
	title := "Slots by job"
	if groups.byPool {
		title = "Slots by pool"
	}
	if len(r.Repetitions) > 1 {
		title = fmt.Sprintf("%s, seed %d", title, first.Seed)
	}
	return draw.Grid(title, columns, figures...)
}

// marks returns the failures of machines. A mark shows where a curve changes because of a
// failure, not of the policy.
func marks(r *sim.Result) (list []draw.Mark) {
	for _, lost := range r.Lost {
		list = append(list, draw.Mark{X: float64(lost.At) / 1000, Name: sim.MachineName(lost.Machine) + " is lost"})
	}
	if len(list) > 5 { // names would overlap
		for i := range list {
			list[i].Name = ""
		}
	}
	return list
}
