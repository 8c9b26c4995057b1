package chronos

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// submission is the order of jobs under a policy that defines none: by priority, then
// by submission.
type submission struct{}

// Precedes implements sched.JobComparer.
func (submission) Precedes(_ int64, _ sched.View, _ cluster.Slot, a, b *cluster.Job) bool {
	return compareSubmission(a, b) < 0
}

// compareSubmission returns a negative number if a has the higher priority or, at equal
// priority, is older.
func compareSubmission(a, b *cluster.Job) int {
	return sched.SubmissionOf(a).Compare(sched.SubmissionOf(b))
}

// order is the priority of some jobs for slots of one kind. Under fair sharing many
// jobs are equal: neither precedes the other.
type order struct {
	place map[cluster.JobID]int // 0 for the highest priority
}

// orderOf ranks jobs by the number of jobs that precede them; equal jobs are ordered by
// submission.
func (r *recovery) orderOf(kind cluster.Slot, jobs []*cluster.Job) order {
	slices.SortFunc(jobs, compareSubmission)
	jobs = slices.Compact(jobs)
	before := make(map[cluster.JobID]int, len(jobs))
	for _, a := range jobs {
		for _, b := range jobs {
			if a != b && r.precedes(kind, b, a) {
				before[a.ID]++
			}
		}
	}
	slices.SortStableFunc(jobs, func(a, b *cluster.Job) int { return cmp.Compare(before[a.ID], before[b.ID]) })
	o := order{place: make(map[cluster.JobID]int, len(jobs))}
	for i, j := range jobs {
		o.place[j.ID] = i
	}
	return o
}

// compare returns a negative number if a has the higher priority.
func (o order) compare(a, b *cluster.Job) int { return cmp.Compare(o.place[a.ID], o.place[b.ID]) }

// pair is two jobs and the kind of slot that they compete for.
type pair struct {
	kind cluster.Slot
	a, b cluster.JobID
}

// precedes asks the wrapped policy which of two jobs precedes. It asks once for each pair.
func (r *recovery) precedes(kind cluster.Slot, a, b *cluster.Job) bool {
	key := pair{kind, a.ID, b.ID}
	answer, known := r.known[key]
	if !known {
		answer = r.policy.Precedes(r.now, r.view, kind, a, b)
		r.known[key] = answer
	}
	return answer
}
