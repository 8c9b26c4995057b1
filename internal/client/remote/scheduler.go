package remote

import (
	"context"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/wire"
)

// ChangePolicy is SetPolicy if the policy still is the one that the request expects; else the error
// wraps client.ErrRefused.
func (c *Client) ChangePolicy(ctx context.Context, q *wire.SetPolicyRequest) error {
	return change(ctx, c, (*rpc.Master).SetPolicy, q, client.ErrUnknown)
}

// PreviewPolicy says what a policy would do now, and changes nothing.
func (c *Client) PreviewPolicy(ctx context.Context, q *wire.SetPolicyRequest) (*wire.PolicyPreview, error) {
	p, err := rpc.Call(ctx, c.masters, (*rpc.Master).PreviewPolicy, q)
	return p, classify(err, client.ErrUnknown)
}

// Decisions returns the latest decisions of the scheduler that match, the latest first.
func (c *Client) Decisions(ctx context.Context, q *wire.ListDecisionsRequest) (*wire.ListDecisionsResponse, error) {
	return rpc.Call(ctx, c.masters, (*rpc.Master).ListDecisions, q)
}
