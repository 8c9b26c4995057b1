package cluster

import "fmt"

// maxSummary and maxArchivedCause bound what the state keeps of an archived job, in bytes.
const (
	maxSummary       = 64 << 10
	maxArchivedCause = 1 << 10
)

// ArchiveJob reports that the history of a finished job is written. The state drops the tasks
// of the job and keeps what lists of jobs show.
type ArchiveJob struct {
	Job     JobID  `cbor:"Job"`
	Summary []byte `cbor:"Summary"` // what lists show of the job, encoded by the jobmaster
}

func (c ArchiveJob) subject() any { return c.Job }

func (c ArchiveJob) apply(tx *transition, p taskRef) error {
	if !p.job.State.Final() || p.job.Archived {
		return fmt.Errorf("%w: %v is %v, archived: %v", ErrRefused, c.Job, p.job.State, p.job.Archived)
	}
	if len(c.Summary) > maxSummary {
		return fmt.Errorf("%w: summary of %d bytes for %v, which may have %d", ErrRefused, len(c.Summary), c.Job, maxSummary)
	}
	p.job.archive(c.Summary)
	tx.delta.Archived = append(tx.delta.Archived, c.Job)
	return nil
}

// archive drops everything that is in the job's history. What remains has a size that does
// not depend on the job's tasks.
func (j *Job) archive(summary []byte) {
	*j = Job{
		ID: j.ID, State: j.State, Outcome: j.Outcome, Cause: truncated(j.Cause, maxArchivedCause),
		Spec:        JobSpec{User: j.Spec.User, Pool: j.Spec.Pool, Priority: j.Spec.Priority},
		SubmittedAt: j.SubmittedAt, StartedAt: j.StartedAt, CommitAt: j.CommitAt, FinishedAt: j.FinishedAt,
		Archived: true, Summary: summary,
	}
}
