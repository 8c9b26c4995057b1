package faultrpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"connectrpc.com/connect"

	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/rpc/wire/wireconnect"
)

// Path is the handler's pattern for http.ServeMux.
const Path = "/" + wireconnect.DrillsName + "/"

// maxRequestBytes bounds a request.
const maxRequestBytes = 64 << 10

// ErrDrillsDisabled is the answer of a daemon that was started without --drills.
var ErrDrillsDisabled = errors.New("this daemon takes no faults: it was not started with --drills, which is for clusters whose work may be lost")

// Config configures the handler of a daemon.
type Config struct {
	// Token is the token of the cluster; with "" all callers are refused.
	Token string
	// Control has the daemon's faults; nil for a daemon that was started without --drills.
	Control *failpoint.Control
	// Logger logs every fault. Default none.
	Logger *slog.Logger
}

// NewHandler returns the handler that a daemon serves.
func NewHandler(cfg Config) http.Handler {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	option := connect.WithReadMaxBytes(maxRequestBytes)
	_, inside := wireconnect.NewDrillsHandler(&service{cfg}, option)
	return &authHandler{cfg: cfg, next: inside, errorWriter: connect.NewErrorWriter(option)}
}

// authHandler checks the callers.
//
// It runs before the handler of connect, so that no decoder reads the bytes of a caller
// without the token.
type authHandler struct {
	cfg         Config
	next        http.Handler
	errorWriter *connect.ErrorWriter
}

// ServeHTTP implements http.Handler.
func (g *authHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := g.check(r); err != nil {
		_ = g.errorWriter.Write(w, r, err) // the caller may have disconnected
		return
	}
	g.next.ServeHTTP(w, r)
}

// check returns why a caller is refused, nil if it is accepted. A caller without the token
// does not learn whether drills are enabled.
func (g *authHandler) check(r *http.Request) error {
	if !rpc.Authorized(r, g.cfg.Token) {
		return connect.NewError(connect.CodeUnauthenticated, errors.New("the token is not the cluster's"))
	}
	if g.cfg.Control == nil {
		return connect.NewError(connect.CodeFailedPrecondition, ErrDrillsDisabled)
	}
	return nil
}

// service answers authorized callers.
type service struct{ cfg Config }

// Inject implements wireconnect.DrillsHandler.
func (d *service) Inject(_ context.Context, r *wire.InjectRequest) (*wire.InjectResponse, error) {
	if err := apply(d.cfg.Control, r); err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	d.cfg.Logger.Warn("drill injects a fault", "fault", r.String())
	return new(wire.InjectResponse), nil
}

// apply injects the fault of a request.
func apply(c *failpoint.Control, r *wire.InjectRequest) error {
	switch f := r.Fault.(type) {
	case *wire.InjectRequest_SlowDisk:
		return c.SlowDisk(time.Duration(f.SlowDisk))
	case *wire.InjectRequest_IoErrors:
		return c.IOErrors(f.IoErrors)
	case *wire.InjectRequest_ClockJump:
		return c.JumpClock(time.Duration(f.ClockJump))
	case *wire.InjectRequest_Failpoint_:
		return c.Set(f.Failpoint.GetName(), f.Failpoint.GetAction())
	case *wire.InjectRequest_Clear:
		c.Clear()
		return nil
	}
	return fmt.Errorf("fault %v: this version of the daemon does not support it", r)
}

// Failpoints implements wireconnect.DrillsHandler.
func (d *service) Failpoints(context.Context, *wire.FailpointsRequest) (*wire.FailpointsResponse, error) {
	answer := &wire.FailpointsResponse{Pid: int64(os.Getpid())}
	for _, p := range d.cfg.Control.Points() {
		answer.Points = append(answer.Points, &wire.FailpointsResponse_Point{Name: p.Name, Hits: p.Hits})
	}
	return answer, nil
}
