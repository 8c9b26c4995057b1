package server

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"connectrpc.com/connect"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// authHandler checks a caller before it passes the call on.
type authHandler struct {
	cfg    Config
	next   http.Handler
	refuse *connect.ErrorWriter

	audit *auditor

	refusal syncutil.Throttle // log lines about refused callers
}

// ServeHTTP implements http.Handler. A request of a browser gets a readable text. Every
// answer has the headers with the versions that the server accepts and with the time, so that a caller can choose a
// version and compare the clocks.
func (g *authHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(rpc.HeaderProtocol, g.cfg.Protocol.String())
	w.Header().Set("Date", g.cfg.Now().UTC().Format(http.TimeFormat))
	api := g.cfg.API != nil && strings.HasPrefix(r.URL.Path, rpc.APIRoot)
	if !api && !strings.HasPrefix(r.URL.Path, "/hammr.") {
		http.Error(w, "This is the RPC address of a hammr jobmaster; browsers need the address of its pages.", http.StatusNotFound)
		return
	}
	if err := g.check(r); err != nil {
		if skipped, ok := g.refusal.Allow(); ok {
			g.cfg.Logger.Warn("caller refused", "caller", r.RemoteAddr, "call", r.URL.Path, "error", err, "not logged", skipped)
		}
		g.audit.strangerRefused(r, err)
		_ = g.refuse.Write(w, r, err) // the caller may have disconnected
		return
	}
	if api {
		g.cfg.API.ServeHTTP(w, r)
		return
	}
	g.next.ServeHTTP(w, r.WithContext(withController(r.Context(), http.NewResponseController(w))))
}

// check returns why a caller is refused, nil if it is accepted. It checks the token last:
// the token of another cluster is wrong too, but the error should name the other cluster.
func (g *authHandler) check(r *http.Request) error {
	h := r.Header
	v := h.Get(rpc.HeaderProtocol)
	if version, err := strconv.Atoi(v); err != nil || !g.cfg.Protocol.Accepts(version) {
		return rpc.Refuse(wire.Refusal_PROTOCOL, g.cfg.Protocol.String(), fmt.Sprintf("protocol version %q, not %v", v, g.cfg.Protocol))
	}
	if id := h.Get(rpc.HeaderCluster); id != "" && id != g.cfg.ClusterID {
		return rpc.Refuse(wire.Refusal_CLUSTER, g.cfg.ClusterID, fmt.Sprintf("cluster %q, not %s", id, g.cfg.ClusterID))
	}
	if !rpc.Authorized(r, g.cfg.Token) {
		return rpc.Refuse(wire.Refusal_TOKEN, g.cfg.ClusterID, "not the cluster's token")
	}
	return nil
}

// controllerKey is the key of the connection's controller in a context.
type controllerKey struct{}

// withController lets the handler of a call set deadlines for its connection.
func withController(ctx context.Context, c *http.ResponseController) context.Context {
	return context.WithValue(ctx, controllerKey{}, c)
}

// controllerOf returns the controller that withController has stored. It panics if there is
// none. That cannot happen, because every call passes through authHandler.
func controllerOf(ctx context.Context) *http.ResponseController {
	return ctx.Value(controllerKey{}).(*http.ResponseController)
}
