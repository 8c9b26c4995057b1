package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/plot"
)

// draw makes the pictures: sojourn times of all runs, and slots of the first.
func (s *simRun) draw(dir string, runs []repetition) error {
	axes := plot.Axes{Title: "Sojourn times", X: "sojourn time [s]"}
	if err := plot.CDF(axes, s.sojourns(runs, "")...).Save(dir, "sojourn"); err != nil {
		return err
	}
	if classes := s.classes(); len(classes) > 1 {
		var figures []*plot.Figure
		for _, class := range classes {
			axes := plot.Axes{Title: class, X: "sojourn time [s]"}
			figures = append(figures, plot.CDF(axes, s.sojourns(runs, class)...))
		}
		if err := plot.Grid("Sojourn times by class", 2, figures...).Save(dir, "sojourn-by-class"); err != nil {
			return err
		}
	}
	return s.slotsFigure(runs[0]).Save(dir, "slots")
}

// sojourns are the times of all runs under each policy, of one class or of all.
func (s *simRun) sojourns(runs []repetition, class string) (samples []plot.Sample) {
	for i, name := range s.policies {
		sample := plot.Sample{Name: name}
		for _, r := range runs {
			jobs := r.played[i].Result.Jobs
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

// maxClasses is how many classes have pictures of their own.
const maxClasses = 12

// classes are those of the jobs, by the size of the smallest of each; none when
// there are too many.
func (s *simRun) classes() (names []string) {
	least := make(map[string]int)
	for i := range s.first.Jobs {
		j := &s.first.Jobs[i]
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

// slotsFigure is who has slots: on small clusters slot by slot, else how many of
// them, each job or pool by its colour.
func (s *simRun) slotsFigure(run repetition) *plot.Figure {
	groups := s.groups(run)
	var figures []*plot.Figure
	columns := 2
	if s.draws() && neverSuspended(run) {
		columns = 1
		for _, p := range run.played {
			figures = append(figures, s.gantt(p, groups))
		}
	} else {
		for _, p := range run.played {
			figures = append(figures, s.areas(p, groups)...)
		}
	}
	title := "Slots by job"
	if groups.pools {
		title = "Slots by pool"
	}
	if s.runs > 1 {
		title = fmt.Sprintf("%s, seed %d", title, run.seed)
	}
	return plot.Grid(title, columns, figures...)
}

// marks are the failures of machines.
func marks(r *sim.Result) (list []plot.Mark) {
	for _, lost := range r.Lost {
		list = append(list, plot.Mark{X: float64(lost.At) / 1000, Name: sim.MachineName(lost.Machine) + " is lost"})
	}
	if len(list) > 5 { // names would hide each other
		for i := range list {
			list[i].Name = ""
		}
	}
	return list
}
