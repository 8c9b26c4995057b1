package remote

import (
	"context"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/wire"
)

// Info implements client.Admin.
func (c *Client) Info(ctx context.Context) (*wire.Info, error) { return c.cluster.Info(ctx) }

// Jobs implements client.Admin.
func (c *Client) Jobs(ctx context.Context, all bool) ([]*wire.JobStatus, error) {
	a, err := rpc.Ask(ctx, c.cluster, (*rpc.Master).ListJobs, &wire.ListJobsRequest{All: all})
	return a.GetJobs(), err
}

// Job implements client.Admin.
func (c *Client) Job(ctx context.Context, jobID string, tasks bool) (*wire.JobStatus, error) {
	status, err := rpc.Ask(ctx, c.cluster, (*rpc.Master).GetJob, &wire.JobRequest{JobId: jobID, Tasks: tasks})
	return status, known(err, client.ErrUnknownJob)
}

// SetPriority implements client.Admin.
func (c *Client) SetPriority(ctx context.Context, jobID string, priority int) error {
	_, err := rpc.Ask(ctx, c.cluster, (*rpc.Master).SetPriority, &wire.SetPriorityRequest{JobId: jobID, Priority: int32(priority)})
	return known(err, client.ErrUnknownJob)
}

// MoveJob implements client.Admin.
func (c *Client) MoveJob(ctx context.Context, jobID, pool string) error {
	_, err := rpc.Ask(ctx, c.cluster, (*rpc.Master).MoveJob, &wire.MoveJobRequest{JobId: jobID, Queue: pool})
	return known(err, client.ErrUnknownJob)
}

// EndAttempt implements client.Admin.
func (c *Client) EndAttempt(ctx context.Context, attemptID string, fail bool) error {
	_, err := rpc.Ask(ctx, c.cluster, (*rpc.Master).EndAttempt, &wire.EndAttemptRequest{AttemptId: attemptID, Fail: fail})
	return known(err, client.ErrUnknown)
}

// PreemptAttempt implements client.Admin.
func (c *Client) PreemptAttempt(ctx context.Context, attemptID, how string) (string, error) {
	a, err := rpc.Ask(ctx, c.cluster, (*rpc.Master).PreemptAttempt, &wire.PreemptAttemptRequest{AttemptId: attemptID, How: how})
	return a.GetHow(), known(err, client.ErrUnknown)
}

// ResumeAttempt implements client.Admin.
func (c *Client) ResumeAttempt(ctx context.Context, attemptID string) error {
	_, err := rpc.Ask(ctx, c.cluster, (*rpc.Master).PreemptAttempt, &wire.PreemptAttemptRequest{AttemptId: attemptID, Resume: true})
	return known(err, client.ErrUnknown)
}

// SuspendJob implements client.Admin.
func (c *Client) SuspendJob(ctx context.Context, jobID, how string) error {
	_, err := rpc.Ask(ctx, c.cluster, (*rpc.Master).SuspendJob, &wire.SuspendJobRequest{JobId: jobID, How: how})
	return known(err, client.ErrUnknownJob)
}

// ResumeJob implements client.Admin.
func (c *Client) ResumeJob(ctx context.Context, jobID string) error {
	_, err := rpc.Ask(ctx, c.cluster, (*rpc.Master).ResumeJob, &wire.ResumeJobRequest{JobId: jobID})
	return known(err, client.ErrUnknownJob)
}

// Nodes implements client.Admin.
func (c *Client) Nodes(ctx context.Context, all bool) ([]*wire.Node, error) {
	a, err := rpc.Ask(ctx, c.cluster, (*rpc.Master).ListNodes, &wire.ListNodesRequest{All: all})
	return a.GetNodes(), err
}

// AdmitNode implements client.Admin.
func (c *Client) AdmitNode(ctx context.Context, name string, excluded bool) error {
	_, err := rpc.Ask(ctx, c.cluster, (*rpc.Master).AdmitNode, &wire.AdmitNodeRequest{Name: name, Excluded: excluded})
	return known(err, client.ErrUnknown)
}

// DrainNode implements client.Admin.
func (c *Client) DrainNode(ctx context.Context, name string) error {
	_, err := rpc.Ask(ctx, c.cluster, (*rpc.Master).DrainNode, &wire.DrainNodeRequest{Name: name})
	return known(err, client.ErrUnknown)
}

// SetPolicy implements client.Admin.
func (c *Client) SetPolicy(ctx context.Context, name string, conf map[string]string) error {
	_, err := rpc.Ask(ctx, c.cluster, (*rpc.Master).SetPolicy, &wire.SetPolicyRequest{Name: name, Conf: conf})
	return known(err, client.ErrUnknown)
}

// Policy implements client.Admin.
func (c *Client) Policy(ctx context.Context) (*wire.GetPolicyResponse, error) {
	return rpc.Ask(ctx, c.cluster, (*rpc.Master).GetPolicy, &wire.GetPolicyRequest{})
}

// Explain implements client.Admin.
func (c *Client) Explain(ctx context.Context, jobID, taskID string) (*wire.Explanation, error) {
	e, err := rpc.Ask(ctx, c.cluster, (*rpc.Master).Explain, &wire.ExplainRequest{JobId: jobID, TaskId: taskID})
	if taskID != "" {
		return e, known(err, client.ErrUnknown)
	}
	return e, known(err, client.ErrUnknownJob)
}

// Queues implements client.Admin.
func (c *Client) Queues(ctx context.Context) (*wire.ListQueuesResponse, error) {
	return rpc.Ask(ctx, c.cluster, (*rpc.Master).ListQueues, &wire.ListQueuesRequest{})
}

// AddMaster implements client.Admin.
func (c *Client) AddMaster(ctx context.Context, id, address string) error {
	_, err := rpc.Ask(ctx, c.cluster, (*rpc.Master).AddMaster, &wire.MasterRequest{Id: id, Address: address})
	return known(err, client.ErrUnknown)
}

// RemoveMaster implements client.Admin.
func (c *Client) RemoveMaster(ctx context.Context, id string) error {
	_, err := rpc.Ask(ctx, c.cluster, (*rpc.Master).RemoveMaster, &wire.MasterRequest{Id: id})
	return known(err, client.ErrUnknown)
}

// TransferLeadership implements client.Admin.
func (c *Client) TransferLeadership(ctx context.Context, id string) error {
	_, err := rpc.Ask(ctx, c.cluster, (*rpc.Master).TransferLeadership, &wire.MasterRequest{Id: id})
	return known(err, client.ErrUnknown)
}
