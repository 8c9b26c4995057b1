package remote

import (
	"context"
	"time"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/wire"
)

// Info implements client.Admin.
func (c *Client) Info(ctx context.Context) (*wire.Info, error) { return c.masters.Info(ctx) }

// LeaderInfo implements client.Admin.
func (c *Client) LeaderInfo(ctx context.Context) (*wire.Info, error) {
	return c.masters.LeaderInfo(ctx)
}

// Jobs implements client.Admin.
func (c *Client) Jobs(ctx context.Context, all bool) ([]*wire.JobStatus, error) {
	a, err := rpc.Call(ctx, c.masters, (*rpc.Master).ListJobs, &wire.ListJobsRequest{All: all})
	return a.GetJobs(), err
}

// JobsSince implements client.Admin.
func (c *Client) JobsSince(ctx context.Context, since int64) ([]*wire.JobStatus, error) {
	a, err := rpc.Call(ctx, c.masters, (*rpc.Master).ListJobs, &wire.ListJobsRequest{All: true, Since: max(since, 1)})
	return a.GetJobs(), err
}

// Job implements client.Admin.
func (c *Client) Job(ctx context.Context, jobID string, tasks bool) (*wire.JobStatus, error) {
	status, err := rpc.Call(ctx, c.masters, (*rpc.Master).GetJob, &wire.JobRequest{JobId: jobID, Tasks: tasks})
	return status, classify(err, client.ErrUnknownJob)
}

// SetPriority implements client.Admin.
func (c *Client) SetPriority(ctx context.Context, jobID string, priority int) error {
	return change(ctx, c, (*rpc.Master).SetPriority, &wire.SetPriorityRequest{JobId: jobID, Priority: int32(priority)}, client.ErrUnknownJob)
}

// MoveJob implements client.Admin.
func (c *Client) MoveJob(ctx context.Context, jobID, pool string) error {
	return change(ctx, c, (*rpc.Master).MoveJob, &wire.MoveJobRequest{JobId: jobID, Queue: pool}, client.ErrUnknownJob)
}

// EndAttempt implements client.Admin.
func (c *Client) EndAttempt(ctx context.Context, attemptID string, fail bool) error {
	return change(ctx, c, (*rpc.Master).EndAttempt, &wire.EndAttemptRequest{AttemptId: attemptID, Fail: fail}, client.ErrUnknown)
}

// PreemptAttempt implements client.Admin.
func (c *Client) PreemptAttempt(ctx context.Context, attemptID, mode string) (string, error) {
	a, err := rpc.Call(ctx, c.masters, (*rpc.Master).PreemptAttempt, &wire.PreemptAttemptRequest{AttemptId: attemptID, Mode: mode})
	return a.GetMode(), classify(err, client.ErrUnknown)
}

// ResumeAttempt implements client.Admin.
func (c *Client) ResumeAttempt(ctx context.Context, attemptID string) error {
	return change(ctx, c, (*rpc.Master).PreemptAttempt, &wire.PreemptAttemptRequest{AttemptId: attemptID, Resume: true}, client.ErrUnknown)
}

// SuspendJob implements client.Admin.
func (c *Client) SuspendJob(ctx context.Context, jobID, mode string) error {
	return change(ctx, c, (*rpc.Master).SuspendJob, &wire.SuspendJobRequest{JobId: jobID, Mode: mode}, client.ErrUnknownJob)
}

// ResumeJob implements client.Admin.
func (c *Client) ResumeJob(ctx context.Context, jobID string) error {
	return change(ctx, c, (*rpc.Master).ResumeJob, &wire.ResumeJobRequest{JobId: jobID}, client.ErrUnknownJob)
}

// Tasknodes implements client.Admin.
func (c *Client) Tasknodes(ctx context.Context, all bool) ([]*wire.Tasknode, error) {
	a, err := rpc.Call(ctx, c.masters, (*rpc.Master).ListNodes, &wire.ListNodesRequest{All: all})
	return a.GetTasknodes(), err
}

// Tasknode implements client.Admin.
func (c *Client) Tasknode(ctx context.Context, name string) (*wire.Tasknode, error) {
	n, err := rpc.Call(ctx, c.masters, (*rpc.Master).GetNode, &wire.GetNodeRequest{Name: name})
	return n, classify(err, client.ErrUnknown)
}

// AdmitTasknode implements client.Admin.
func (c *Client) AdmitTasknode(ctx context.Context, name string, excluded bool) error {
	return change(ctx, c, (*rpc.Master).AdmitNode, &wire.AdmitNodeRequest{Name: name, Excluded: excluded}, client.ErrUnknown)
}

// DrainTasknode implements client.Admin.
func (c *Client) DrainTasknode(ctx context.Context, name string, untilRestart bool, within time.Duration) error {
	q := &wire.DrainNodeRequest{Name: name, UntilRestart: untilRestart, DeadlineMillis: within.Milliseconds()}
	return change(ctx, c, (*rpc.Master).DrainNode, q, client.ErrUnknown)
}

// SetPolicy implements client.Admin.
func (c *Client) SetPolicy(ctx context.Context, name string, conf map[string]string) error {
	return change(ctx, c, (*rpc.Master).SetPolicy, &wire.SetPolicyRequest{Name: name, Conf: conf}, client.ErrUnknown)
}

// Policy implements client.Admin.
func (c *Client) Policy(ctx context.Context) (*wire.GetPolicyResponse, error) {
	return rpc.Call(ctx, c.masters, (*rpc.Master).GetPolicy, &wire.GetPolicyRequest{})
}

// Explain implements client.Admin.
func (c *Client) Explain(ctx context.Context, jobID, taskID string) (*wire.Explanation, error) {
	e, err := rpc.Call(ctx, c.masters, (*rpc.Master).Explain, &wire.ExplainRequest{JobId: jobID, TaskId: taskID})
	if taskID != "" {
		return e, classify(err, client.ErrUnknown)
	}
	return e, classify(err, client.ErrUnknownJob)
}

// Queues implements client.Admin.
func (c *Client) Queues(ctx context.Context) (*wire.ListQueuesResponse, error) {
	return rpc.Call(ctx, c.masters, (*rpc.Master).ListQueues, &wire.ListQueuesRequest{})
}

// AddMaster implements client.Admin.
func (c *Client) AddMaster(ctx context.Context, id, address string) error {
	return change(ctx, c, (*rpc.Master).AddMaster, &wire.MasterRequest{Id: id, Address: address}, client.ErrUnknown)
}

// RemoveMaster implements client.Admin.
func (c *Client) RemoveMaster(ctx context.Context, id string) error {
	return change(ctx, c, (*rpc.Master).RemoveMaster, &wire.MasterRequest{Id: id}, client.ErrUnknown)
}

// TransferLeadership implements client.Admin.
func (c *Client) TransferLeadership(ctx context.Context, id string) error {
	return change(ctx, c, (*rpc.Master).TransferLeadership, &wire.MasterRequest{Id: id}, client.ErrUnknown)
}

// change makes a call whose answer says only whether it succeeded. The error wraps unknown
// if the masters do not know what the request names.
func change[Q, A any](ctx context.Context, c *Client, call func(*rpc.Master, context.Context, Q) (A, error), question Q, unknown error) error {
	_, err := rpc.Call(ctx, c.masters, call, question)
	return classify(err, unknown)
}
