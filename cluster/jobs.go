package cluster

import "slices"

// jobList has the jobs of the state. Its size depends only on the jobs that are in the state,
// so a cluster may run for years.
//
// Invariant: numbers in live ascend, and none is above submitted.
type jobList struct {
	submitted int    // number of jobs that were ever submitted; their numbers are 1 to submitted
	live      []*Job // jobs that are not retired, ascending by number
}

// find returns the place of a number in live, or where it belongs.
func (l *jobList) find(number int) (place int, found bool) {
	return slices.BinarySearchFunc(l.live, number, func(j *Job, n int) int { return j.ID.Number - n })
}

// get returns the job with a number, nil if it is retired or was never submitted.
func (l *jobList) get(number int) *Job {
	if i, found := l.find(number); found {
		return l.live[i]
	}
	return nil
}

// add appends a job whose number is above those of all other jobs.
func (l *jobList) add(j *Job) {
	l.live = append(l.live, j)
	l.submitted = max(l.submitted, j.ID.Number)
}

// remove removes the job with a number.
func (l *jobList) remove(number int) {
	if i, found := l.find(number); found {
		l.live = slices.Delete(l.live, i, i+1)
	}
}
