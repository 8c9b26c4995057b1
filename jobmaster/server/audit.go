package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path"

	"connectrpc.com/connect"

	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/syncutil"
)

// auditor writes a line to the log for each call that changes the cluster:
//
//	msg=audit who=ada from=10.1.2.3:50122 call=Kill object=job_1763700000000_0007 detail="killed by ada" result=done
//
// The result is one of these:
//
//	done      the change is in the log of the masters
//	refused   nothing was changed; error has the reason
//	unknown   the caller or the lead was lost meanwhile: the change may still happen
//
// The name is what the caller claims. Lines about refused callers and calls above a rate are
// throttled, because these callers could fill the log.
type auditor struct {
	logger     *slog.Logger
	strangers  syncutil.Throttle // lines about callers without the token
	overloaded syncutil.Throttle // lines about calls that are refused for some time
}

const (
	maxAuditText  = 256  // bytes of an object or a detail in a line
	maxAuditError = 1024 // bytes of an error in a line
)

// WrapUnary implements connect.Interceptor.
func (a *auditor) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, q connect.AnyRequest) (connect.AnyResponse, error) {
		answer, err := next(ctx, q)
		kind := callTable[q.Spec().Procedure]
		if !kind.changes {
			return answer, err
		}
		var message any
		if err == nil {
			message = answer.Any()
		}
		object, detail := kind.object(q.Any(), message)
		a.write(&auditLine{
			who: rpc.UserOf(q.Header()), from: q.Peer().Addr, procedure: q.Spec().Procedure, object: object, detail: detail, err: err,
		})
		return answer, err
	}
}

// WrapStreamingHandler implements connect.Interceptor. No stream changes the cluster.
func (a *auditor) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
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
		a.log(&auditLine{who: rpc.UserOf(r.Header), from: r.RemoteAddr, procedure: r.URL.Path, err: err, skipped: skipped})
	}
}

// auditLine is a line of the audit log.
type auditLine struct {
	who, from      string
	procedure      string
	object, detail string
	err            error // nil if the call succeeded
	skipped        int64 // lines of the same kind that were left out before
}

// write writes a line, unless there are too many of its kind.
func (a *auditor) write(l *auditLine) {
	if connect.CodeOf(l.err) == connect.CodeResourceExhausted {
		var ok bool
		if l.skipped, ok = a.overloaded.Allow(); !ok {
			return
		}
	}
	a.log(l)
}

func (a *auditor) log(l *auditLine) {
	attributes := []any{"who", l.who, "from", l.from, "call", path.Base(l.procedure), "object", rpc.Printable(l.object, maxAuditText)}
	if l.detail != "" {
		attributes = append(attributes, "detail", rpc.Printable(l.detail, maxAuditText))
	}
	attributes = append(attributes, "result", resultOf(l.err))
	if l.err != nil {
		attributes = append(attributes, "error", rpc.Printable(errorText(l.err), maxAuditError))
	}
	if l.skipped > 0 {
		attributes = append(attributes, "not logged", l.skipped)
	}
	a.logger.Info("audit", attributes...)
}

// resultOf classifies the error of a call for its line.
func resultOf(err error) string {
	if err == nil {
		return "done"
	}
	switch connect.CodeOf(err) {
	case connect.CodeUnavailable, connect.CodeCanceled, connect.CodeDeadlineExceeded, connect.CodeAborted:
		return "unknown"
	}
	return "refused"
}

// errorText returns the text of an error without the name of its code.
func errorText(err error) string {
	var answer *connect.Error
	if errors.As(err, &answer) {
		return answer.Message()
	}
	return err.Error()
}
