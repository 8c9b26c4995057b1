package server

import (
	"context"
	"errors"
	"strings"

	"connectrpc.com/connect"
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/jobmaster"
)

// callError converts an error of the master for callers. Package rpc uses the codes as
// follows:
//
//	Unavailable          this master cannot answer now: another one is asked, or this one again
//	ResourceExhausted    OverloadError: nothing was done, the call is repeated later
//	NotFound             ErrUnknown: permanent
//	FailedPrecondition   ErrRefused: permanent in the present state
//	Unknown              anything else: permanent
//
// The redirection to the leader, and the refusal of a caller, have details for programs.
func (cfg *Config) callError(err error) error {
	code := connect.CodeUnknown
	var said *connect.Error
	var overload *jobmaster.OverloadError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &said):
		return err // an error of the connection
	case errors.As(err, &overload):
		return rpc.Overload(overload.RetryAfter, err.Error())
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
		code, err = connect.CodeFailedPrecondition, plain(err, cluster.ErrRefused)
	}
	return connect.NewError(code, err)
}

// plain removes the prefix of an error's class, because the code of the answer already gives
// the class.
func plain(err, class error) error {
	return errors.New(strings.TrimPrefix(err.Error(), class.Error()+": "))
}
