package server

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	"connectrpc.com/connect"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/internal/wire/wireconnect"
	"github.com/hammr/hammr/jobmaster"
)

// Admin changes the masters of a cluster. If this master does not lead, the error wraps
// jobmaster.ErrNotLeader.
type Admin interface {
	// AddMaster adds a master whose log listens at address (host:port).
	AddMaster(id, address string) error
	// RemoveMaster removes a master permanently.
	RemoveMaster(id string) error
	// TransferLeadership makes the master with this id the leader, or any other master if id
	// is "".
	TransferLeadership(id string) error
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
	// Admin changes the masters; default nil: the masters cannot be changed.
	Admin Admin
	// Logger receives log lines; default none.
	Logger *slog.Logger
}

// New returns the handler of all calls.
//
// The caller serves it. The handler's calls end when Master.Run returns.
func New(cfg Config) http.Handler {
	if cfg.Leader == nil {
		cfg.Leader = func() string { return "" }
	}
	if cfg.Confirm == nil {
		cfg.Confirm = func(context.Context) error { return nil }
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	options := []connect.HandlerOption{
		connect.WithReadMaxBytes(rpc.MaxMessageBytes),
		connect.WithCompression("gzip", nil, nil), // compression costs more than it saves on a local network
	}
	mux := http.NewServeMux()
	mux.Handle(wireconnect.NewJobmasterHandler(&calls{cfg}, options...))
	mux.Handle(wireconnect.NewTasknodesHandler(&tasknodes{cfg}, options...))
	return &authHandler{cfg: cfg, next: mux, refuse: connect.NewErrorWriter(options...)}
}
