package httpserver

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	headerTimeout  = 5 * time.Second // for the header of a request
	idleTimeout    = 2 * time.Minute // between requests; longer than clients keep idle connections
	maxHeaderBytes = 16 << 10        // of a request
	bodyTimeout    = time.Second     // for the rest of a body after the answer to a stranger
)

// New returns a server. The caller may change fields, except Handler and ConnContext, and serves and
// shuts down. logger receives errors of connections; nil discards them.
func New(handler http.Handler, logger *slog.Logger) *http.Server {
	logger = cmp.Or(logger, slog.New(slog.DiscardHandler))
	return &http.Server{
		Handler:           leaveBodies(handler),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, connOf(c))
		},
	}
}

// leaveBodies bounds how long net/http waits, after the answer to a stranger, for the rest of the body
// that no handler has read. An honest client has sent it by then, and gets the answer.
func leaveBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		if c := of(r.Context()); r.ProtoMajor == 1 && r.ContentLength != 0 && c != nil && !c.Identified() {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout)) // without effect if the connection is closed
		}
	})
}
