package cluster

import "slices"

// jobList has the jobs that are not retired, ascending by number. Its size depends only on the
// jobs that are in the state, so a cluster may run for years.
type jobList []*Job

// find returns the place of a number in the list, or where it belongs.
func (l jobList) find(number int) (place int, found bool) {
	return slices.BinarySearchFunc(l, number, func(j *Job, n int) int { return j.ID.Number - n })
}

// get returns the job with a number, nil if it is retired or was never submitted.
func (l jobList) get(number int) *Job {
	if i, found := l.find(number); found {
		return l[i]
	}
	return nil
}

// remove removes the job with a number.
func (l *jobList) remove(number int) {
	if i, found := l.find(number); found {
		*l = slices.Delete(*l, i, i+1)
	}
}
