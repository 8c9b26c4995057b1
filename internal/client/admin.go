package client

import (
	"context"

	"github.com/hammr/hammr/internal/wire"
)

// Admin inspects and controls a cluster. Its methods may be called by several goroutines
// at once. The leading master answers, except for Info, which any master answers.
//
// For an unknown job the error wraps ErrUnknownJob; for an unknown attempt, tasknode or
// master, ErrUnknown. ErrRefused is for requests that the present state does not allow.
type Admin interface {
	// Info describes the cluster and its masters as the answering master knows them.
	Info(ctx context.Context) (*wire.Info, error)

	// Jobs returns the status of every job, or of those that are not over, in order of
	// submission. The tasks, failures, partitions and properties are left out.
	Jobs(ctx context.Context, all bool) ([]*wire.JobStatus, error)
	// Job returns the status of one job, whether it is over or not. With tasks, its
	// tasks, partitions and properties are included, which may be very many.
	Job(ctx context.Context, jobID string, tasks bool) (*wire.JobStatus, error)
	// SetPriority changes the priority of a job, from -2 to 2.
	SetPriority(ctx context.Context, jobID string, priority int) error
	// MoveJob moves a job that is not over to another pool.
	MoveJob(ctx context.Context, jobID, pool string) error
	// EndAttempt kills a running attempt, and its task is tried again. With fail, the
	// task is charged with a failure.
	EndAttempt(ctx context.Context, attemptID string, fail bool) error
	// PreemptAttempt takes the slot of a running attempt by split, checkpoint, suspend
	// or kill, or by the cheapest of them for auto. It returns the mode.
	PreemptAttempt(ctx context.Context, attemptID, mode string) (string, error)
	// ResumeAttempt gives a suspended attempt a slot of its machine.
	ResumeAttempt(ctx context.Context, attemptID string) error
	// SuspendJob takes the slots of a job, which gets none until ResumeJob. mode is
	// auto, checkpoint or suspend.
	SuspendJob(ctx context.Context, jobID, mode string) error
	// ResumeJob lets a suspended job have slots again.
	ResumeJob(ctx context.Context, jobID string) error

	// Tasknodes describes every tasknode, or those that are not lost, by name.
	Tasknodes(ctx context.Context, all bool) ([]*wire.Tasknode, error)
	// AdmitTasknode excludes a tasknode from new tasks, or admits it again. Its running
	// attempts continue.
	AdmitTasknode(ctx context.Context, name string, excluded bool) error

	// DrainTasknode excludes a tasknode from new tasks and moves its outputs and
	// checkpoints to other machines. AdmitTasknode ends it.
	DrainTasknode(ctx context.Context, name string) error

	// SetPolicy replaces the scheduling policy and all of its settings.
	SetPolicy(ctx context.Context, name string, conf map[string]string) error
	// Policy describes the scheduling policy, its settings and the pool file that the
	// masters watch.
	Policy(ctx context.Context) (*wire.GetPolicyResponse, error)
	// Explain says why a job, and perhaps one task of it, has or lacks slots; taskID is
	// "" for no task.
	Explain(ctx context.Context, jobID, taskID string) (*wire.Explanation, error)
	// Queues describes every pool, by name.
	Queues(ctx context.Context) (*wire.ListQueuesResponse, error)

	// AddMaster adds a master whose Raft listener is at address, host:port.
	AddMaster(ctx context.Context, id, address string) error
	// RemoveMaster removes a master for good.
	RemoveMaster(ctx context.Context, id string) error
	// TransferLeadership makes another master lead, any if id is "".
	TransferLeadership(ctx context.Context, id string) error
}
