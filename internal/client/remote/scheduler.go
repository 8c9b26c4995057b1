package remote

import (
	"context"

	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/wire"
)

// PreviewPolicy says what a policy would do now, and changes nothing.
func (c *Client) PreviewPolicy(ctx context.Context, q *wire.SetPolicyRequest) (*wire.PolicyPreview, error) {
	p, err := rpc.Call(ctx, c.masters, (*rpc.Master).PreviewPolicy, q)
	return p, classify(err)
}

// Decisions returns the latest decisions of the scheduler that match, the latest first.
func (c *Client) Decisions(ctx context.Context, q *wire.ListDecisionsRequest) (*wire.ListDecisionsResponse, error) {
	return rpc.Call(ctx, c.masters, (*rpc.Master).ListDecisions, q)
}
