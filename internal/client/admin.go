package client

import (
	"context"
	"io"
	"time"

	"github.com/hammr/hammr/internal/wire"
)

// Admin inspects and controls a cluster. Its methods may be called by several goroutines at
// once. The leading master answers, except for Info, which any master answers.
//
// The error wraps ErrUnknownJob for an unknown job, and ErrUnknown for an unknown attempt,
// tasknode or master. It wraps ErrRefused if the present state does not allow the request.
type Admin interface {
	// Info describes the cluster and its masters as the answering master knows them.
	Info(ctx context.Context) (*wire.Info, error)
	// LeaderInfo is Info as the leader knows it. A master that was removed and still runs does
	// not know that, and describes the cluster as it was.
	LeaderInfo(ctx context.Context) (*wire.Info, error)

	// Jobs returns the status of every job in order of submission. Unless all is set, it
	// leaves out jobs that are over. A status has no tasks, counters, phases, failures,
	// partitions and properties.
	Jobs(ctx context.Context, all bool) ([]*wire.JobStatus, error)
	// JobsSince is Jobs for all jobs, also those that only the index of histories has, but
	// without jobs that finished before since, in ms since the epoch. It needs the master's
	// history directory.
	JobsSince(ctx context.Context, since int64) ([]*wire.JobStatus, error)
	// Job returns the status of one job, whether it is over or not. If tasks is set, the
	// status includes the tasks, partitions and properties, which may be very many.
	Job(ctx context.Context, jobID string, tasks bool) (*wire.JobStatus, error)
	// SetPriority changes the priority of a job; the range is -2 to 2.
	SetPriority(ctx context.Context, jobID string, priority int) error
	// MoveJob moves a job that is not over to another pool.
	MoveJob(ctx context.Context, jobID, pool string) error
	// EndAttempt kills a running attempt, and its task is tried again. If fail is set, the
	// kill counts as a failure of the task.
	EndAttempt(ctx context.Context, attemptID string, fail bool) error
	// PreemptAttempt takes the slot of a running attempt. The mode is split, checkpoint,
	// suspend, kill, or auto for the cheapest of these. It returns the mode that it used.
	PreemptAttempt(ctx context.Context, attemptID, mode string) (string, error)
	// ResumeAttempt gives a suspended attempt a slot on its machine.
	ResumeAttempt(ctx context.Context, attemptID string) error
	// SuspendJob takes the slots of a job. The job gets no slots until ResumeJob is called.
	// mode is auto, checkpoint or suspend.
	SuspendJob(ctx context.Context, jobID, mode string) error
	// ResumeJob lets a suspended job have slots again.
	ResumeJob(ctx context.Context, jobID string) error

	// Tasknodes describes every tasknode, sorted by name. Unless all is set, it leaves out
	// lost tasknodes.
	Tasknodes(ctx context.Context, all bool) ([]*wire.Tasknode, error)
	// Tasknode describes one tasknode, even if it is lost.
	Tasknode(ctx context.Context, name string) (*wire.Tasknode, error)
	// AdmitTasknode excludes a tasknode from new tasks, or admits it again. Its running
	// attempts continue.
	AdmitTasknode(ctx context.Context, name string, excluded bool) error

	// DrainTasknode excludes a tasknode from new tasks and moves its outputs and checkpoints
	// to other machines. AdmitTasknode ends the drain; if untilRestart is set, the next start of
	// the tasknode does so too. within is the time after which a user expects it to be over, 0 for
	// none; it is only shown.
	DrainTasknode(ctx context.Context, name string, untilRestart bool, within time.Duration) error

	// SetPolicy replaces the scheduling policy and all of its settings.
	SetPolicy(ctx context.Context, name string, conf map[string]string) error
	// Policy describes the scheduling policy, its settings and the pool file that the
	// masters watch.
	Policy(ctx context.Context) (*wire.GetPolicyResponse, error)
	// Explain says why a job has or lacks slots. If taskID is not "", it also explains that
	// task.
	Explain(ctx context.Context, jobID, taskID string) (*wire.Explanation, error)
	// Queues describes every pool, sorted by name.
	Queues(ctx context.Context) (*wire.ListQueuesResponse, error)

	// AddMaster adds a master whose Raft listener is at address (host:port). It has a vote when
	// AddMaster returns. If it has not caught up in time, it stays a non-voter, and another call
	// continues.
	AddMaster(ctx context.Context, id, address string) error
	// RemoveMaster removes a master permanently.
	RemoveMaster(ctx context.Context, id string) error
	// TransferLeadership makes the master with this id the leader, or any other master if id
	// is "".
	TransferLeadership(ctx context.Context, id string) error
	// Backup writes a backup of the masters' state. If it returns an error, what it has written
	// cannot be used.
	Backup(ctx context.Context, to io.Writer) error
}
