package paper

import (
	"math"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sim"
)

// seconds converts ms to s.
func seconds(ms int64) float64 { return float64(ms) / 1000 }

// Mean returns the mean of values; NaN of none.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// fraction returns how many of all are wanted, from 0 for none of them to 1; NaN if all is empty.
func fraction[T any](all []T, wanted func(T) bool) float64 {
	hits := 0
	for _, one := range all {
		if wanted(one) {
			hits++
		}
	}
	return float64(hits) / float64(len(all))
}

// jobNamed returns a job of an outcome. It panics if there is none: the ids are constants of
// this package, so the experiment has a mistake.
func jobNamed(o *Outcome, id string) *sim.JobResult {
	for i := range o.Jobs {
		if o.Jobs[i].ID == id {
			return &o.Jobs[i]
		}
	}
	panic("paper: no job " + id)
}

// sojourn returns the time from a job's submission to its end, in s.
func sojourn(o *Outcome, id string) float64 { return seconds(jobNamed(o, id).Sojourn()) }

// sojourns returns the sojourn times of the jobs of a class in s, or of all jobs if the class
// is "".
func sojourns(o *Outcome, class string) (times []float64) {
	for i := range o.Jobs {
		if j := &o.Jobs[i]; class == "" || j.Class == class {
			times = append(times, seconds(j.Sojourn()))
		}
	}
	return times
}

// localMaps returns the part of the maps that ran where their input is, in %. All maps of
// all jobs count.
func localMaps(o *Outcome) float64 { return 100 * o.Summary().Local }

// slotsUsed returns the number of slots that the selected samples of a kind use, over time. A
// sample has the number of one job, so the total changes by its difference from the job's
// last sample. The trial needs sim.Config.Series.
func slotsUsed(o *Outcome, kind cluster.Slot, belongs func(sim.Sample) bool) steps {
	var s steps
	last := make(map[string]int)
	total := 0
	for _, sample := range o.Series {
		if sample.Kind != kind || !belongs(sample) {
			continue
		}
		// Method to keeps the last of several samples of one moment.
		total += sample.Running - last[sample.Job]
		last[sample.Job] = sample.Running
		s = s.to(seconds(sample.At), float64(total))
	}
	return s
}

func ofJob(id string) func(sim.Sample) bool {
	return func(s sim.Sample) bool { return s.Job == id }
}

func ofPool(name string) func(sim.Sample) bool {
	return func(s sim.Sample) bool { return s.Pool == name }
}

// step is a value from a time in s on.
type step struct{ from, value float64 }

// steps is a value over time, 0 before the first step.
//
//	value   3 ┤      ┌────┐
//	        1 ┤ ┌────┘    └──       steps{{2, 1}, {5, 3}, {8, 1}}
//	        0 ┼─┘
//	            2    5    8   s
type steps []step

// to appends a value from a time on, which is not before the last one.
func (s steps) to(at, value float64) steps {
	if n := len(s); n > 0 && s[n-1].from == at {
		s[n-1].value = value
		return s
	}
	return append(s, step{at, value})
}

// at returns the value at a time.
func (s steps) at(t float64) float64 {
	value := 0.0
	for _, step := range s {
		if step.from > t {
			break
		}
		value = step.value
	}
	return value
}

// mean returns the mean value between two times. from is before to. The value is weighted by
// time.
func (s steps) mean(from, to float64) float64 {
	sum, at, value := 0.0, from, s.at(from)
	for _, step := range s {
		if step.from <= from || step.from >= to {
			continue
		}
		sum += value * (step.from - at)
		at, value = step.from, step.value
	}
	return (sum + value*(to-at)) / (to - from)
}

// first returns the first time, not before from, at which the value is as wanted; NaN for
// never. A value that is wanted at from itself counts at once.
func (s steps) first(from float64, wanted func(value float64) bool) float64 {
	if wanted(s.at(from)) {
		return from
	}
	for _, step := range s {
		if step.from > from && wanted(step.value) {
			return step.from
		}
	}
	return math.NaN()
}

// atLeast returns the condition that a value is not below another one.
func atLeast(least float64) func(float64) bool {
	return func(v float64) bool { return v >= least }
}
