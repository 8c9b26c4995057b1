package server

import (
	"context"
	"log/slog"
	"net/http"

	"connectrpc.com/connect"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/audit"
	"github.com/hammr/hammr/jobmaster"
)

// auditor writes a line to the log for each call that changes the cluster or reads secrets of users; package
// audit has its format. Lines about refused callers and calls above a rate are throttled, because these callers
// could fill the log.
type auditor struct {
	logger     *slog.Logger
	strangers  syncutil.Throttle // lines about callers without the token
	overloaded syncutil.Throttle // lines about calls that are refused for some time
}

// WrapUnary implements connect.Interceptor.
func (a *auditor) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, q connect.AnyRequest) (connect.AnyResponse, error) {
		kind := callTable[q.Spec().Procedure]
		if kind.reads != nil {
			answer, err := next(ctx, q)
			if object, audited := kind.reads(q.Any()); audited {
				a.write(&audit.Record{Who: rpc.UserOf(q.Header()), From: q.Peer().Addr, Call: kind.call(q.Any()), Object: object, Err: err})
			}
			return answer, err
		}
		if !kind.changes {
			return next(ctx, q)
		}
		answer, err := next(jobmaster.WithUser(ctx, rpc.UserOf(q.Header())), q)
		var message any
		if err == nil {
			message = answer.Any()
		}
		object, detail := kind.object(q.Any(), message)
		call := q.Spec().Procedure
		if kind.call != nil {
			call = kind.call(q.Any())
		}
		a.write(&audit.Record{
			Who: rpc.UserOf(q.Header()), From: q.Peer().Addr, Call: call, Object: object, Detail: detail, Err: err,
		})
		return answer, err
	}
}

// WrapStreamingHandler implements connect.Interceptor. No stream changes the cluster.
func (a *auditor) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		err := next(ctx, conn)
		procedure, header := conn.Spec().Procedure, conn.RequestHeader()
		if reads := callTable[procedure].reads; reads != nil {
			object, _ := reads(nil)
			a.write(&audit.Record{Who: rpc.UserOf(header), From: conn.Peer().Addr, Call: procedure, Object: object, Err: err})
		}
		return err
	}
}

// WrapStreamingClient implements connect.Interceptor. A server does not call it.
func (a *auditor) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// strangerRefused writes a line if a refused caller wanted to change the cluster. What it
// wanted to change is not known, because its message is not read.
func (a *auditor) strangerRefused(r *http.Request, err error) {
	if !callTable[r.URL.Path].changes {
		return
	}
	if skipped, ok := a.strangers.Allow(); ok {
		line := audit.Record{Who: rpc.UserOf(r.Header), From: r.RemoteAddr, Call: r.URL.Path, Err: err, Skipped: skipped}
		line.Log(a.logger)
	}
}

// write writes a line, unless there are too many of its kind.
func (a *auditor) write(line *audit.Record) {
	if connect.CodeOf(line.Err) == connect.CodeResourceExhausted {
		var ok bool
		if line.Skipped, ok = a.overloaded.Allow(); !ok {
			return
		}
	}
	line.Log(a.logger)
}
