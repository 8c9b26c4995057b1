package server

import (
	"context"
	"log/slog"
	"net/http"

	"connectrpc.com/connect"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/internal/wire/wireconnect"
	"github.com/hammr/hammr/jobmaster"
)

// Admin changes which masters a cluster has and which of them leads. Errors of
// one that does not lead wrap jobmaster.ErrNotLeader.
type Admin interface {
	// AddMaster takes in a master whose log listens at address, host:port.
	AddMaster(id, address string) error
	// RemoveMaster removes a master for good.
	RemoveMaster(id string) error
	// TransferLeadership hands the lead to another master, any when id is "".
	TransferLeadership(id string) error
}

// Config says what is served.
type Config struct {
	// Master answers; there is no default.
	Master *jobmaster.Master
	// Token is the cluster's token; "" lets nobody in.
	Token string
	// ClusterID is the id of the cluster.
	ClusterID string
	// Info tells of the cluster as this master sees it; there is no default.
	Info func() *wire.Info
	// Leader is the address for calls, host:port, of the master that leads, ""
	// for unknown; default unknown.
	Leader func() string
	// Confirm makes sure that this master still leads, before it answers with
	// what it knows; its error wraps jobmaster.ErrNotLeader when another one
	// does. Default nil, when the master's own word is taken.
	Confirm func(ctx context.Context) error
	// Admin changes the masters; default nil, when they cannot be changed.
	Admin Admin
	// Logger hears of callers that are refused; default nobody.
	Logger *slog.Logger
}

// New makes the handler of every call.
func New(cfg Config) http.Handler {
	if cfg.Leader == nil {
		cfg.Leader = func() string { return "" }
	}
	if cfg.Confirm == nil {
		cfg.Confirm = func(context.Context) error { return nil }
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	options := []connect.HandlerOption{
		connect.WithReadMaxBytes(rpc.MaxMessageBytes),
		connect.WithCompression("gzip", nil, nil), // which costs more than it saves between near machines
	}
	mux := http.NewServeMux()
	mux.Handle(wireconnect.NewJobmasterHandler(&calls{cfg}, options...))
	mux.Handle(wireconnect.NewTasknodesHandler(&tasknodes{cfg}, options...))
	return &authHandler{cfg: cfg, next: mux, refuse: connect.NewErrorWriter(options...)}
}
