package remote

import (
	"context"

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
	return status, classify(err)
}

// Tasknodes implements client.Admin.
func (c *Client) Tasknodes(ctx context.Context, all bool) ([]*wire.Tasknode, error) {
	a, err := rpc.Call(ctx, c.masters, (*rpc.Master).ListNodes, &wire.ListNodesRequest{All: all})
	return a.GetTasknodes(), err
}

// Tasknode implements client.Admin.
func (c *Client) Tasknode(ctx context.Context, name string) (*wire.Tasknode, error) {
	n, err := rpc.Call(ctx, c.masters, (*rpc.Master).GetNode, &wire.GetNodeRequest{Name: name})
	return n, classify(err)
}

// Change implements client.Admin.
func (c *Client) Change(ctx context.Context, q *wire.ChangeRequest) (*wire.ChangeResponse, error) {
	done, err := rpc.Call(ctx, c.masters, (*rpc.Master).Change, q)
	return done, classify(err)
}

// Read implements client.Admin.
func (c *Client) Read(ctx context.Context, path string) (document []byte, err error) {
	a, err := rpc.Call(ctx, c.masters, (*rpc.Master).Read, &wire.ReadRequest{Path: path})
	return a.GetDocument(), classify(err)
}
