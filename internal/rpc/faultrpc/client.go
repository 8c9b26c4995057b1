package faultrpc

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/rpc/wire/wireconnect"
)

// Client injects faults into daemons. A daemon is named by the address of its page,
// host:port. Any goroutine may call its methods.
type Client struct {
	token string
	http  *http.Client
}

// NewClient makes a client with the cluster's token. The caller calls Close.
func NewClient(token string) *Client {
	return &Client{token: token, http: &http.Client{Transport: new(http.Transport)}}
}

// authorize adds the cluster's token to every call.
func (c *Client) authorize(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		rpc.SetHeaders(r.Header(), c.token, "")
		return next(ctx, r)
	}
}

// Close closes the connections. No call may be running.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// SlowDisk delays each operation of the daemon and its tasks on local files; 0 ends the
// delay.
func (c *Client) SlowDisk(ctx context.Context, page string, by time.Duration) error {
	return c.inject(ctx, page, &wire.InjectRequest{Fault: &wire.InjectRequest_SlowDisk{SlowDisk: int64(by)}})
}

// IOErrors makes one in oneOf operations on local files fail; 0 ends the errors.
func (c *Client) IOErrors(ctx context.Context, page string, oneOf int) error {
	return c.inject(ctx, page, &wire.InjectRequest{Fault: &wire.InjectRequest_IoErrors{IoErrors: int64(oneOf)}})
}

// JumpClock moves the daemon's clock forward, or back if by is negative.
func (c *Client) JumpClock(ctx context.Context, page string, by time.Duration) error {
	return c.inject(ctx, page, &wire.InjectRequest{Fault: &wire.InjectRequest_ClockJump{ClockJump: int64(by)}})
}

// SetFailpoint sets the action of a failpoint in the daemon or its tasks; "" removes it.
func (c *Client) SetFailpoint(ctx context.Context, page, point, action string) error {
	return c.inject(ctx, page, &wire.InjectRequest{Fault: &wire.InjectRequest_Failpoint_{
		Failpoint: &wire.InjectRequest_Failpoint{Name: point, Action: action},
	}})
}

// Clear removes all faults of the daemon.
func (c *Client) Clear(ctx context.Context, page string) error {
	return c.inject(ctx, page, &wire.InjectRequest{Fault: &wire.InjectRequest_Clear{Clear: true}})
}

// Hits returns, by name, how often each failpoint was hit since it was set.
func (c *Client) Hits(ctx context.Context, page string) (map[string]int64, error) {
	answer, err := c.failpoints(ctx, page)
	if err != nil {
		return nil, err
	}
	hits := make(map[string]int64)
	for _, p := range answer.Points {
		hits[p.Name] = p.Hits
	}
	return hits, nil
}

// PID returns the process id of the daemon on its machine.
func (c *Client) PID(ctx context.Context, page string) (int, error) {
	answer, err := c.failpoints(ctx, page)
	return int(answer.GetPid()), err
}

// failpoints asks a daemon for its process id and its failpoints.
func (c *Client) failpoints(ctx context.Context, page string) (*wire.FailpointsResponse, error) {
	answer, err := c.stub(page).Failpoints(ctx, new(wire.FailpointsRequest))
	if err != nil {
		return nil, fmt.Errorf("failpoints of the daemon at %s: %w", page, err)
	}
	return answer, nil
}

// stub returns the generated client for the daemon with that page. The connections belong to
// http, so a stub costs nothing.
func (c *Client) stub(page string) wireconnect.DrillsClient {
	return wireconnect.NewDrillsClient(c.http, "http://"+page,
		connect.WithReadMaxBytes(maxRequestBytes), connect.WithInterceptors(connect.UnaryInterceptorFunc(c.authorize)))
}

// inject sends one fault. The error names the daemon, because a drill uses many daemons.
func (c *Client) inject(ctx context.Context, page string, r *wire.InjectRequest) error {
	if _, err := c.stub(page).Inject(ctx, r); err != nil {
		return fmt.Errorf("fault in the daemon at %s: %w", page, err)
	}
	return nil
}
