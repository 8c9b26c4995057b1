package fluid

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// discipline is who is served. Jobs are known by their number: 0 is the first
// to arrive. It knows nothing of what time it is.
type discipline interface {
	// arrive takes in a job, now.
	arrive(job int)
	// horizon is how long it is, if nobody arrives, until a job is done or the
	// order changes; false: nothing will ever happen.
	horizon() (number, bool)
	// elapse lets time go by, less than to the horizon.
	elapse(dt number)
	// complete lets time go by to the horizon. It returns the job that is done
	// then, or nobody.
	complete() int
}

// noJob is no job.
const noJob = -1

// disciplines are the disciplines, in the order in which people list them.
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

// Disciplines are the names that Sojourns knows.
func Disciplines() []string {
	names := make([]string, len(disciplines))
	for i, d := range disciplines {
		names[i] = d.name
	}
	return names
}

// CheckDiscipline tells of a name that Sojourns does not know.
func CheckDiscipline(name string) error {
	if !slices.Contains(Disciplines(), name) {
		return fmt.Errorf("unknown discipline %q; known are %s", name, strings.Join(Disciplines(), ", "))
	}
	return nil
}

// demands is what jobs ask for, by their number. Its owner is the discipline,
// which may count size down.
type demands struct{ size, estimate, weight []number }

// Sojourns are the times from the arrival of each job until it is done, in
// seconds and in the order of jobs. The error names a discipline that is not
// known, or a job that Job forbids.
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

// serve returns the sojourn times of jobs that arrive in this order. A job that
// is done when another arrives is done before that, whatever rounding says: it
// would have to wait until the other is done, under las for one.
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

// arrivalOrder is places in the list of jobs by arrival, then id.
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
