package client

import (
	"context"

	"github.com/hammr/hammr/internal/wire"
)

// Admin looks at a cluster and changes how it runs. Its methods may be called by
// several goroutines at once. Each is answered by the master that leads, but
// Info, which any master answers.
//
// A job that is not known wraps ErrUnknownJob, an attempt, a tasknode or a master
// that is not known ErrUnknown, and ErrRefused what cannot be done in the present state.
type Admin interface {
	// Info tells of the cluster and its masters, as the master that answers sees
	// them.
	Info(ctx context.Context) (*wire.Info, error)

	// Jobs has the status of each job without tasks, failures, partitions and
	// properties, in order of submission; those that are over only when all is set.
	Jobs(ctx context.Context, all bool) ([]*wire.JobStatus, error)
	// Job is the status of one job, whether it is over or not; with its tasks,
	// partitions and properties, which may be very many, only when tasks is set.
	Job(ctx context.Context, jobID string, tasks bool) (*wire.JobStatus, error)
	// SetPriority changes how urgent a job is, -2 to 2.
	SetPriority(ctx context.Context, jobID string, priority int) error
	// MoveJob moves a job that is not over to another pool.
	MoveJob(ctx context.Context, jobID, pool string) error
	// EndAttempt ends an attempt that runs, so that its task is tried again.
	// With fail it is charged like one that failed by itself.
	EndAttempt(ctx context.Context, attemptID string, fail bool) error
	// PreemptAttempt takes its slot from an attempt that runs, and tells how:
	// by split, checkpoint, suspend or kill, or the cheapest of them for auto.
	PreemptAttempt(ctx context.Context, attemptID, how string) (string, error)
	// ResumeAttempt gives a slot of its machine to an attempt that stands still.
	ResumeAttempt(ctx context.Context, attemptID string) error
	// SuspendJob takes its slots from a job and gives it none until ResumeJob; its
	// work is kept by auto, checkpoint or suspend.
	SuspendJob(ctx context.Context, jobID, how string) error
	// ResumeJob lets a suspended job have slots again.
	ResumeJob(ctx context.Context, jobID string) error

	// Tasknodes describes every tasknode, by name; those that are lost only when all
	// is set.
	Tasknodes(ctx context.Context, all bool) ([]*wire.Node, error)
	// AdmitTasknode excludes a tasknode from new tasks, or admits it again. What it
	// runs goes on.
	AdmitTasknode(ctx context.Context, name string, excluded bool) error

	// DrainTasknode excludes a tasknode from new tasks and has what is there go
	// elsewhere, until AdmitTasknode.
	DrainTasknode(ctx context.Context, name string) error

	// SetPolicy chooses the policy that gives out slots, and sets it to conf and
	// nothing else.
	SetPolicy(ctx context.Context, name string, conf map[string]string) error
	// Policy is the policy that gives out slots, what it is set to, and the file of
	// pools that masters follow.
	Policy(ctx context.Context) (*wire.GetPolicyResponse, error)
	// Explain tells why a job, and perhaps one task of it, has or lacks slots; ""
	// is no task.
	Explain(ctx context.Context, jobID, taskID string) (*wire.Explanation, error)
	// Queues describes every pool, by name.
	Queues(ctx context.Context) (*wire.ListQueuesResponse, error)

	// AddMaster takes a master in whose raft listener is at address, host:port.
	AddMaster(ctx context.Context, id, address string) error
	// RemoveMaster removes a master for good.
	RemoveMaster(ctx context.Context, id string) error
	// TransferLeadership hands the lead to another master, any when id is "".
	TransferLeadership(ctx context.Context, id string) error
}
