package server

import (
	"context"
	"errors"

	"connectrpc.com/connect"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/jobmaster"
	"google.golang.org/protobuf/proto"
)

// maxUserBytes bounds the name of a user for whom a caller asks.
const maxUserBytes = 128

// calls implements wireconnect.JobmasterHandler. Each method passes its request to the
// master and converts the answer. The method of jobmaster.Master with the same name
// documents what the call does. Calls that only read first check that this master still
// leads (read). Other calls need no check, because a leader that is cut off cannot commit.
type calls struct{ cfg Config }

func (c *calls) GetInfo(ctx context.Context, q *wire.InfoRequest) (*wire.Info, error) {
	if q.OfLeader {
		return read(ctx, c, func() (*wire.Info, error) { return c.cfg.Info(), nil })
	}
	return c.cfg.Info(), nil
}

// Submit refuses a job that is too large for an entry of the log, before the job reaches the
// master.
func (c *calls) Submit(ctx context.Context, q *wire.SubmitRequest) (*wire.SubmitResponse, error) {
	if q.Spec == nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("submission without a job"))
	}
	if n := proto.Size(q.Spec); n > rpc.MaxJobBytes {
		return nil, connect.NewError(connect.CodeInvalidArgument, rpc.JobTooLarge(n))
	}
	id, err := c.cfg.Master.Submit(ctx, q.Spec)
	return &wire.SubmitResponse{JobId: id}, c.cfg.callError(err)
}

// read calls ask after the master has confirmed that it still leads, because a leader that
// is cut off from the others does not notice that at once.
func read[T any](ctx context.Context, c *calls, ask func() (T, error)) (T, error) {
	if err := c.cfg.Confirm(ctx); err != nil {
		var none T
		return none, c.cfg.callError(err)
	}
	answer, err := ask()
	return answer, c.cfg.callError(err)
}

// Follow implements wireconnect.JobmasterHandler. ctx ends with the stream.
func (c *calls) Follow(ctx context.Context, q *wire.WatchRequest, stream *connect.ServerStream[wire.JobStatus]) error {
	if err := c.cfg.Confirm(ctx); err != nil {
		return c.cfg.callError(err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	_, err := c.cfg.Master.Watch(ctx, q.JobId, func(s *wire.JobStatus) {
		if err := stream.Send(s); err != nil {
			cancel(err)
		}
	})
	return c.cfg.callError(err)
}

func (c *calls) Kill(ctx context.Context, q *wire.KillRequest) (*wire.KillResponse, error) {
	return new(wire.KillResponse), c.cfg.callError(c.cfg.Master.Kill(ctx, q.JobId, q.Cause))
}

// Read answers a document of Config.Docs.
func (c *calls) Read(ctx context.Context, q *wire.ReadRequest) (*wire.ReadResponse, error) {
	return read(ctx, c, func() (*wire.ReadResponse, error) {
		text, err := c.cfg.Docs.Answer(ctx, q.Path)
		if bad := new(docs.BadParam); errors.As(err, &bad) {
			return nil, connect.NewError(connect.CodeInvalidArgument, err)
		}
		return &wire.ReadResponse{Document: text}, err
	})
}

// Change makes a change of the table of package docs. It does not end with the context of the call, because
// a change of the masters that has begun continues when the caller has disconnected. Admin bounds its time.
func (c *calls) Change(ctx context.Context, q *wire.ChangeRequest) (*wire.ChangeResponse, error) {
	change := docs.Change{Do: q.Do, ID: q.Id, Value: q.Value, User: rpc.Printable(jobmaster.UserOf(ctx), maxUserBytes), Conf: q.Conf, Expected: q.Expected, UntilRestart: q.UntilRestart}
	done, err := docs.Apply(ctx, changed{c.cfg.Master, c.cfg.Admin}, change)
	if bad := new(docs.BadParam); errors.As(err, &bad) {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	return &wire.ChangeResponse{Done: done.Done, To: done.To}, c.cfg.callError(err)
}

// changed is the cluster that changes are made to.
type changed struct {
	*jobmaster.Master
	Admin
}
