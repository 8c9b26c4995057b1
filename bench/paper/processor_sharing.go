package paper

import (
	"cmp"
	"math"
	"slices"
)

// cappedJob is a job that can use only a part of a divisible cluster: Fig. 2 of the HFSP
// paper.
type cappedJob struct {
	id      string
	arrival float64 // s
	demand  float64 // part of the cluster that it can use, up to 1
	seconds float64 // its time with that part
}

// discipline divides the cluster among the active jobs.
type discipline func(jobs []cappedJob, active []int) []float64

// serve computes the sojourn times of jobs, in their order.
//
// Time jumps from event to event: an arrival, or the end of a job at the present rates.
// Between two events all rates are constant, so remaining work falls linearly. Remaining
// work of less than 1e-9 s is rounding and counts as none.
func serve(jobs []cappedJob, d discipline) []float64 {
	left, out := make([]float64, len(jobs)), make([]float64, len(jobs))
	for i, j := range jobs {
		left[i] = j.seconds * j.demand
	}
	// now is the time of the last event, in s.
	for now := 0.; ; {
		var active []int
		next := math.Inf(1)
		for i, j := range jobs {
			switch {
			case j.arrival > now:
				next = min(next, j.arrival)
			case left[i] > 0:
				active = append(active, i)
			}
		}
		rates := d(jobs, active)
		for k, i := range active {
			next = min(next, now+left[i]/rates[k])
		}
		if math.IsInf(next, 1) {
			return out
		}
		for k, i := range active {
			if left[i] -= rates[k] * (next - now); left[i] < 1e-9 {
				left[i], out[i] = 0, next-jobs[i].arrival
			}
		}
		now = next
	}
}

// processorSharing gives all jobs the same part, up to what they can use. Jobs are served
// in order of what they can use: one that needs less than its equal part leaves the rest to
// the others (max-min fairness).
func processorSharing(jobs []cappedJob, active []int) []float64 {
	rates := make([]float64, len(active))
	order := make([]int, len(active))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(jobs[active[a]].demand, jobs[active[b]].demand) })
	free := 1.
	// The remaining jobs share free equally.
	for n, k := range order {
		rates[k] = min(jobs[active[k]].demand, free/float64(len(order)-n))
		free -= rates[k]
	}
	return rates
}

// inOrder serves jobs by rank, each with as much as it can use. What the first jobs cannot
// use serves the next ones, so no part of the cluster is idle while a job could use it.
func inOrder(rank func(job int) float64) discipline {
	return func(jobs []cappedJob, active []int) []float64 {
		order := make([]int, len(active))
		for k := range order {
			order[k] = k
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(active[a]), rank(active[b])) })
		rates, free := make([]float64, len(active)), 1.
		for _, k := range order {
			rates[k] = min(jobs[active[k]].demand, free)
			free -= rates[k]
		}
		return rates
	}
}

// fspSojourns returns the sojourn times under FSP on many processors: jobs are served in the
// order in which they would end under processor sharing. Processor sharing is computed first
// to find that order.
func fspSojourns(jobs []cappedJob) []float64 {
	virtual := serve(jobs, processorSharing)
	return serve(jobs, inOrder(func(i int) float64 { return jobs[i].arrival + virtual[i] }))
}
