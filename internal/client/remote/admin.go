package remote

import (
	"context"

	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Info implements client.Admin.
func (c *Client) Info(ctx context.Context) (*wire.Info, error) { return c.masters.Info(ctx) }

// LeaderInfo implements client.Admin.
func (c *Client) LeaderInfo(ctx context.Context) (*wire.Info, error) {
	return c.masters.LeaderInfo(ctx)
}

// Change implements client.Admin.
func (c *Client) Change(ctx context.Context, q *wire.ChangeRequest) (*wire.ChangeResponse, error) {
	done, err := rpc.Call(ctx, c.masters, (*rpc.Master).Change, q)
	return done, classify(err)
}

// Read implements client.Admin.
func (c *Client) Read(ctx context.Context, path string) (document []byte, err error) {
	document, err = c.masters.Read(ctx, path)
	return document, classify(err)
}
