package sched

import (
	"cmp"

	"github.com/hammr/hammr/cluster"
)

// Submission is the place of a job in the order of Hadoop's JobQueueTaskScheduler. A policy that
// keeps a list in this order finds a job by its Submission after the priority has changed.
type Submission struct {
	Job      cluster.JobID
	Priority int   // cluster.Job.EffectivePriority
	At       int64 // ms since the epoch
}

// SubmissionOf returns the present place of a job.
func SubmissionOf(j *cluster.Job) Submission {
	return Submission{j.ID, j.EffectivePriority(), j.SubmittedAt}
}

// Compare orders jobs by priority, then by age.
func (s Submission) Compare(other Submission) int {
	return cmp.Or(-cmp.Compare(s.Priority, other.Priority), s.CompareAge(other))
}

// CompareAge orders jobs by the time of their submission, the oldest first.
func (s Submission) CompareAge(other Submission) int {
	return cmp.Or(cmp.Compare(s.At, other.At), s.Job.Compare(other.Job))
}
