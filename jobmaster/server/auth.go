package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"

	"connectrpc.com/connect"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/wire"
)

// authHandler lets callers in.
type authHandler struct {
	cfg    Config
	next   http.Handler
	refuse *connect.ErrorWriter
}

// ServeHTTP implements http.Handler.
func (g *authHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(rpc.HeaderProtocol, rpc.Version)
	if !strings.HasPrefix(r.URL.Path, "/hammr.") {
		http.Error(w, "This is where a hammr jobmaster takes calls; people want the address of its pages.", http.StatusNotFound)
		return
	}
	if err := g.check(r.Header); err != nil {
		g.cfg.Logger.Warn("caller refused", "caller", r.RemoteAddr, "call", r.URL.Path, "error", err)
		_ = g.refuse.Write(w, r, err) // a caller that is gone does not miss it
		return
	}
	g.next.ServeHTTP(w, r.WithContext(withController(r.Context(), http.NewResponseController(w))))
}

// check is why a caller is not let in, nil when it is. The token comes last: one
// of another cluster is wrong for a reason that is worth telling.
func (g *authHandler) check(h http.Header) error {
	if v := h.Get(rpc.HeaderProtocol); v != rpc.Version {
		return rpc.Refuse(wire.Refusal_PROTOCOL, rpc.Version, fmt.Sprintf("protocol version %q, not %s", v, rpc.Version))
	}
	if id := h.Get(rpc.HeaderCluster); id != "" && id != g.cfg.ClusterID {
		return rpc.Refuse(wire.Refusal_CLUSTER, g.cfg.ClusterID, fmt.Sprintf("cluster %q, not %s", id, g.cfg.ClusterID))
	}
	if !sameToken(rpc.Token(h), g.cfg.Token) {
		return rpc.Refuse(wire.Refusal_TOKEN, g.cfg.ClusterID, "not the cluster's token")
	}
	return nil
}

// sameToken takes as long for tokens that are nearly right as for any other.
func sameToken(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && want != ""
}

type controllerKey struct{}

// withController lets a call set deadlines for its connection.
func withController(ctx context.Context, c *http.ResponseController) context.Context {
	return context.WithValue(ctx, controllerKey{}, c)
}

func controllerOf(ctx context.Context) *http.ResponseController {
	return ctx.Value(controllerKey{}).(*http.ResponseController)
}
