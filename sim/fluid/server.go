package fluid

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// discipline decides which jobs are served. Jobs are numbered by arrival from 0. A
// discipline does not know the time.
//
//	         arrive            elapse(dt < horizon)
//	serve ───────────► jobs ◄──────────────────────┐
//	  ▲                  └─ horizon ─► next change ─┤
//	  └──────────────────── complete at the horizon ┘
type discipline interface {
	// arrive adds a job, now.
	arrive(job int)
	// horizon is the time until the next completion or change of order, if no job arrives;
	// false if there is none.
	horizon() (number, bool)
	// elapse passes time, less than to the horizon.
	elapse(dt number)
	// complete passes time up to the horizon. It returns the job that completes then, or
	// noJob.
	complete() int
}

// noJob means that the order changes and no job completes.
const noJob = -1

// disciplines is in the order of documentation.
var disciplines = []struct {
	name string
	make func(demands) discipline
}{
	{"fifo", func(d demands) discipline { return &fifo{left: d.size} }},
	{"ps", func(d demands) discipline { return &ps{size: d.size, weight: d.weight} }},
	{"srpt", func(d demands) discipline { return &srpt{left: d.size, estimate: d.estimate} }},
	{"fsp", func(d demands) discipline { return newFSP(d, &fifo{left: d.size}) }},
	{"psbs", func(d demands) discipline { return newFSP(d, &ps{size: d.size, weight: d.weight}) }},
	{"las", func(d demands) discipline { return &las{size: d.size} }},
}

// Disciplines lists the names that Sojourns accepts.
func Disciplines() []string {
	names := make([]string, len(disciplines))
	for i, d := range disciplines {
		names[i] = d.name
	}
	return names
}

// CheckDiscipline reports an unknown name.
func CheckDiscipline(name string) error {
	if !slices.Contains(Disciplines(), name) {
		return fmt.Errorf("unknown discipline %q; known are %s", name, strings.Join(Disciplines(), ", "))
	}
	return nil
}

// demands holds sizes, estimates and weights by job number. The discipline owns it and may
// count size down.
type demands struct{ size, estimate, weight []number }

// Sojourns returns the time from arrival to completion of each job, in seconds and in the
// order of jobs. It returns an error for an unknown discipline or a job that Job does not
// allow.
func Sojourns(discipline string, jobs []Job) ([]float64, error) {
	if err := CheckDiscipline(discipline); err != nil {
		return nil, err
	}
	in := newJobCheck()
	for i, j := range jobs {
		if err := in.admit(j, fmt.Sprintf("place %d", i+1)); err != nil {
			return nil, fmt.Errorf("place %d: %w", i+1, err)
		}
	}
	order := arrivalOrder(jobs)
	i := slices.Index(Disciplines(), discipline)
	sorted := serve(disciplines[i].make(demandsOf(jobs, order)), arrivalsOf(jobs, order))
	sojourns := make([]float64, len(jobs))
	for job, place := range order {
		sojourns[place] = sorted[job].float()
	}
	return sojourns, nil
}

// serve returns the sojourn times of jobs in the order of arrival. A completion at the
// moment of an arrival comes first, whatever rounding says. Under las, for one, that job
// would otherwise wait for the new one. It jumps from event to event; between two events
// all rates are constant.
func serve(d discipline, arrivals []number) []number {
	sojourns := make([]number, len(arrivals))
	now := zero
	for next := 0; ; {
		dt, busy := d.horizon()
		if next < len(arrivals) {
			if gap := now.until(arrivals[next]); !busy || gap.clearlyLess(dt) {
				d.elapse(gap)
				d.arrive(next)
				now = arrivals[next]
				next++
				continue
			}
		} else if !busy {
			return sojourns
		}
		now = now.plus(dt)
		if done := d.complete(); done != noJob {
			sojourns[done] = arrivals[done].until(now)
		}
	}
}

// arrivalOrder returns the indexes of jobs, by arrival and then id.
func arrivalOrder(jobs []Job) []int {
	order := make([]int, len(jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(jobs[a].ArrivalS, jobs[b].ArrivalS), cmp.Compare(jobs[a].ID, jobs[b].ID))
	})
	return order
}

func arrivalsOf(jobs []Job, order []int) []number {
	arrivals := make([]number, len(order))
	for i, place := range order {
		arrivals[i] = decimal(jobs[place].ArrivalS)
	}
	return arrivals
}

func demandsOf(jobs []Job, order []int) demands {
	var d demands
	for _, place := range order {
		j := jobs[place]
		size := decimal(j.SizeS)
		estimate := size
		if j.EstimateS != j.SizeS {
			estimate = decimal(j.EstimateS)
		}
		d.size, d.estimate = append(d.size, size), append(d.estimate, estimate)
		d.weight = append(d.weight, decimal(j.Weight))
	}
	return d
}
