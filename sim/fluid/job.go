package fluid

import (
	"fmt"
	"math"
)

// Limits within which results are exact.
const (
	maxSeconds = 1e18
	minWeight  = 1e-9
	maxWeight  = 1e9
)

// Job is a job of the server. Times are in seconds, from 0 to 1e18.
type Job struct {
	ID       string  // not empty, unique
	ArrivalS float64 // not less than that of the job before it in a list
	SizeS    float64 // service that it needs

	// EstimateS is the size that srpt, fsp and psbs assume instead of SizeS. It has no
	// default: 0 is an estimate of 0.
	EstimateS float64
	// Weight is the job's weight under ps, fsp and psbs, from 1e-9 to 1e9; usually 1.
	Weight float64
}

// validate reports an invalid field.
func (j Job) validate() error {
	if j.ID == "" {
		return fmt.Errorf("%s is empty; expected a name", columnID)
	}
	for _, q := range []struct {
		column string
		value  float64
	}{{columnArrival, j.ArrivalS}, {columnSize, j.SizeS}, {columnEstimate, j.EstimateS}} {
		if !(q.value >= 0 && q.value <= maxSeconds) {
			return fmt.Errorf("job %q: %s is %v; expected seconds from 0 to %g", j.ID, q.column, q.value, maxSeconds)
		}
	}
	if !(j.Weight >= minWeight && j.Weight <= maxWeight) {
		return fmt.Errorf("job %q: %s is %v; expected a number from %g to %g", j.ID, columnWeight, j.Weight, minWeight, maxWeight)
	}
	return nil
}

// jobCheck compares each job of a list with those before it. It is shared by ReadJobs and
// Sojourns, so both refuse the same lists.
type jobCheck struct {
	seen  map[string]string // place of each id
	last  Job
	where string // place of last
}

func newJobCheck() *jobCheck {
	return &jobCheck{seen: make(map[string]string), last: Job{ArrivalS: math.Inf(-1)}}
}

// admit reports what is wrong with the next job. where is its place in the input.
func (in *jobCheck) admit(j Job, where string) error {
	if err := j.validate(); err != nil {
		return err
	}
	if before, twice := in.seen[j.ID]; twice {
		return fmt.Errorf("job %q is repeated, first at %s; expected one job for each %s", j.ID, before, columnID)
	}
	if j.ArrivalS < in.last.ArrivalS {
		return fmt.Errorf("job %q arrives at %v s, before job %q of %s, which arrives at %v s; expected jobs sorted by %s",
			j.ID, j.ArrivalS, in.last.ID, in.where, in.last.ArrivalS, columnArrival)
	}
	in.seen[j.ID], in.last, in.where = where, j, where
	return nil
}
