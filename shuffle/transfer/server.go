package transfer

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/httpserver"
)

// ServerConfig configures a Server.
type ServerConfig struct {
	// Dirs are the local directories of the tasknode. The files of an attempt are in the
	// directory of one of them that taskdir names. A directory may be missing or broken for
	// some time. There is no default.
	Dirs []string
	// Key is the secret from which the token of each job is derived (JobToken). A client must
	// show the token of the job that it requests. "" admits every client.
	Key string
	// Other serves paths below neither Prefix nor ChannelPrefix, and checks its callers itself.
	// Default: they are refused.
	Other http.Handler
	// MaxStreams is how many requests are answered at once. Further requests are refused
	// with 503. Default 256.
	MaxStreams int
	// RetryAfter is the time after which a refused client should retry, in whole seconds.
	// Default 1 s.
	RetryAfter time.Duration
	// IdleTimeout is how long a client may leave an answer unread, and how long an idle
	// connection is kept. Default 1 min.
	IdleTimeout time.Duration
	// Logger receives messages about bad disks and refused clients. Default none.
	Logger *slog.Logger
}

// EnsureDefaults sets fields that are not set to their defaults.
func (c *ServerConfig) EnsureDefaults() {
	c.MaxStreams = cmp.Or(c.MaxStreams, 256)
	c.RetryAfter = max(c.RetryAfter, time.Second)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, time.Minute)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

// Counts describes what a Server has done so far.
type Counts struct {
	Requests int64 // all requests
	Bytes    int64 // bytes sent in bodies
	Open     int64 // requests being answered
	Busy     int64 // requests refused by MaxStreams
	Denied   int64 // requests without the token of their job
	Failed   int64 // requests that failed on this machine, such as for an unreadable disk
	Verified int64 // verifications of the disk
	Corrupt  int64 // verifications that found damage
}

// Server serves segments, and joins the streams of Nodes. It is an http.Handler for paths
// below Prefix and ChannelPrefix. A tasknode has one Server, which outlives the tasks that
// wrote the files. net/http starts a goroutine for each connection.
type Server struct {
	cfg      ServerConfig
	channels Rendezvous        // streams whose reader is on this machine
	indexes  indexCache        // indexes of files from which runs were requested
	denial   syncutil.Throttle // log lines about denied requests
	counts   struct {
		requests, bytes, open, busy, denied, failed, verified, corrupt atomic.Int64
	}
}

// NewServer makes a server.
func NewServer(cfg ServerConfig) (*Server, error) {
	cfg.EnsureDefaults()
	if len(cfg.Dirs) == 0 {
		return nil, errors.New("transfer: no local directories to serve")
	}
	return &Server{cfg: cfg}, nil
}

// Counts returns the counts so far.
func (s *Server) Counts() Counts {
	c := &s.counts
	return Counts{
		Requests: c.requests.Load(), Bytes: c.bytes.Load(), Open: c.open.Load(), Busy: c.busy.Load(),
		Denied: c.denied.Load(), Failed: c.failed.Load(), Verified: c.verified.Load(), Corrupt: c.corrupt.Load(),
	}
}

// shutdownGrace is how long active answers may take after the end of ctx.
const shutdownGrace = 5 * time.Second

// Serve serves on a listener, which it closes, until ctx ends. Then active answers have
// shutdownGrace to complete, and Serve returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := httpserver.New(s, s.cfg.Logger)
	server.IdleTimeout, server.ReadHeaderTimeout = s.cfg.IdleTimeout, min(s.cfg.IdleTimeout, server.ReadHeaderTimeout)
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
		defer cancel()
		if server.Shutdown(grace) != nil {
			_ = server.Close()
		}
	})
	err := server.Serve(l)
	if stop() {
		return errors.Join(err, server.Close())
	}
	<-closed
	return nil
}

// refusal is an error with the status of the answer. Other errors are 500, or 404 if the
// file does not exist.
type refusal struct {
	status int
	err    error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// refuse makes a refusal.
func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Errorf(format, args...)}
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Other != nil && !isChannel(r) && !strings.HasPrefix(r.URL.Path, Prefix) {
		s.cfg.Other.ServeHTTP(w, r)
		return
	}
	s.counts.requests.Add(1)
	out := &response{ResponseWriter: w, control: http.NewResponseController(w), idle: s.cfg.IdleTimeout, sent: &s.counts.bytes}
	out.extend()
	if err := s.answer(out, r); err != nil {
		status := http.StatusInternalServerError
		if refused, ok := errors.AsType[*refusal](err); ok {
			status = refused.status
		} else if errors.Is(err, fs.ErrNotExist) {
			status = http.StatusNotFound
		} else {
			s.counts.failed.Add(1)
		}
		http.Error(out, err.Error(), status)
	}
}

// answer answers a request, or returns an error before it has sent anything.
func (s *Server) answer(w *response, r *http.Request) error {
	if !s.authorized(r) {
		s.counts.denied.Add(1)
		if skipped, ok := s.denial.Allow(); ok {
			s.cfg.Logger.Warn("request without the job's token", "client", r.RemoteAddr, "not logged", skipped)
		}
		w.Header().Set("WWW-Authenticate", "Bearer")
		return refuse(http.StatusUnauthorized, "not the token of the job in the path")
	}
	if isChannel(r) {
		return s.joinStream(w, r)
	}
	defer s.counts.open.Add(-1)
	if s.counts.open.Add(1) > int64(s.cfg.MaxStreams) {
		s.counts.busy.Add(1)
		w.Header().Set("Retry-After", fmt.Sprint(int(s.cfg.RetryAfter/time.Second)))
		return refuse(http.StatusServiceUnavailable, "%d requests are open already; retry later", s.cfg.MaxStreams)
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return refuse(http.StatusMethodNotAllowed, "method %s: only GET and HEAD are served", r.Method)
	}
	q, err := parseRequest(r.URL)
	if err != nil {
		return &refusal{http.StatusBadRequest, err}
	}
	if q.verify {
		return s.verify(w, r, q)
	}
	return s.send(w, r, q)
}

// authorized reports whether a request shows the token of the job in its path. The time of the
// comparison does not depend on the bytes.
func (s *Server) authorized(r *http.Request) bool {
	shown, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	wanted := JobToken(s.cfg.Key, jobOf(r.URL.Path))
	if s.cfg.Key != "" && (subtle.ConstantTimeCompare([]byte(shown), []byte(wanted)) == 0 || !found) {
		return false
	}
	httpserver.Identify(r.Context())
	return true
}
