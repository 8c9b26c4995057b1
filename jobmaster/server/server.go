package server

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/protocol"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/rpc/wire/wireconnect"
	"github.com/hammr/hammr/jobmaster"
)

// Admin changes the masters of a cluster and backs up their state. If this master does not lead,
// the error wraps jobmaster.ErrNotLeader.
type Admin interface {
	// AddMaster adds a master whose log listens at address (host:port), and waits until it has
	// caught up and has a vote.
	AddMaster(id, address string) error
	// RemoveMaster removes a master permanently.
	RemoveMaster(id string) error
	// TransferLeadership makes the master with this id the leader, or any other master if id
	// is "".
	TransferLeadership(id string) error
	// Backup writes a backup of the state.
	Backup(ctx context.Context, to io.Writer) error
}

// Config configures the handler.
type Config struct {
	// Master carries out the calls; there is no default.
	Master *jobmaster.Master
	// Token is the cluster's token; if it is "", every call is refused.
	Token string
	// ClusterID is the id of the cluster.
	ClusterID string
	// Info describes the cluster as this master knows it; there is no default.
	Info func() *wire.Info
	// Leader returns the RPC address of the leader (host:port), "" if unknown; default
	// always unknown.
	Leader func() string
	// Confirm checks that this master still leads. It is called before a read is answered.
	// Its error wraps jobmaster.ErrNotLeader. Default nil: no check.
	Confirm func(ctx context.Context) error
	// Docs answers the documents that only the leader knows; default none.
	Docs docs.Table
	// Admin changes the masters; there is no default.
	Admin Admin
	// API answers requests below rpc.APIRoot, whose callers are checked as those of calls are. Default
	// none: 404.
	API http.Handler
	// Now is the time of day that answers carry in their header Date; default time.Now.
	Now func() time.Time
	// Protocol is the versions of messages that callers may speak; default rpc.Protocol.
	Protocol protocol.Versions
	// Rates bound the calls of each user; default no bounds.
	Rates Rates
	// Logger receives log lines; default none.
	Logger *slog.Logger
}

// Server answers all calls. It is an http.Handler, which the caller serves. Its calls end when
// Master.Run returns.
//
//	authHandler ─► audit ─► limiter ─► calls ─► jobmaster.Master
//	     ├──────────────────────────► tasknodes
//	     └──────────────────────────► Config.API
type Server struct {
	authHandler
	limiter *limiter
}

// RefusedByRate returns how many calls were refused because their user makes too many.
func (s *Server) RefusedByRate() int64 { return s.limiter.refused.Load() }

// SetRates replaces the bounds of the calls of each user.
func (s *Server) SetRates(rates Rates) {
	if rates != s.limiter.currentRates() { // otherwise users keep what they have used
		s.limiter.setRates(rates)
	}
}

// New makes a server.
func New(cfg Config) *Server {
	if cfg.Leader == nil {
		cfg.Leader = func() string { return "" }
	}
	if cfg.Confirm == nil {
		cfg.Confirm = func(context.Context) error { return nil }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	cfg.Protocol = cmp.Or(cfg.Protocol, rpc.Protocol)
	options := []connect.HandlerOption{
		connect.WithReadMaxBytes(rpc.MaxMessageBytes),
		connect.WithCompression("gzip", nil, nil), // compression costs more than it saves on a local network
	}
	mux := http.NewServeMux()
	audit, limiter := &auditor{logger: cfg.Logger}, newLimiter(cfg.Rates, cfg.Logger)
	checks := connect.WithInterceptors(audit, limiter) // the first is the outermost
	mux.Handle(wireconnect.NewJobmasterHandler(&calls{cfg}, append(options, checks)...))
	mux.Handle(wireconnect.NewTasknodesHandler(&tasknodes{cfg}, options...))
	return &Server{authHandler{cfg: cfg, next: mux, refuse: connect.NewErrorWriter(options...), audit: audit}, limiter}
}
