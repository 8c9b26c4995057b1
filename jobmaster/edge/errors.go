package edge

import (
	"context"
	"errors"

	"connectrpc.com/connect"
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/jobmaster"
)

// answer is an error of the master as callers get it.
func (cfg *Config) answer(err error) error {
	code := connect.CodeUnknown
	var said *connect.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &said):
		return err // of the connection
	case errors.Is(err, jobmaster.ErrNotLeader):
		return rpc.NotLeader(cfg.Leader())
	case errors.Is(err, jobmaster.ErrNameTaken):
		return rpc.Refuse(wire.Refusal_NAME_TAKEN, "", err.Error())
	case errors.Is(err, jobmaster.ErrStopped):
		code = connect.CodeUnavailable
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		code = connect.CodeCanceled
	case errors.Is(err, cluster.ErrUnknown):
		code = connect.CodeNotFound
	case errors.Is(err, cluster.ErrRefused):
		code = connect.CodeFailedPrecondition
	}
	return connect.NewError(code, err)
}
