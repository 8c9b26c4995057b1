// Package audit has the line that a daemon logs for each change of the cluster, whether the change
// is ordered by a call or on a page, and for reads of what belongs to users: logs, profiles, properties
// of jobs and backups:
//
//	msg=audit who=ada from=10.1.2.3:50122 call=Kill object=job_1763700000000_0007 detail="killed by ada" result=done
//
// The result is one of these:
//
//	done      the change is in the log of the masters
//	refused   nothing was changed; error has the reason
//	unknown   the caller or the lead was lost meanwhile: the change may still happen
//	allowed   the caller may do it; for reads, and for changes whose result another line has
//
// The name is what the caller claims. docs/cluster.md describes the line for users.
package audit

import (
	"context"
	"errors"
	"log/slog"
	"path"

	"connectrpc.com/connect"

	"github.com/hammr/hammr/internal/rpc"
)

const (
	maxText  = 256  // bytes of an object or a detail in a line
	maxError = 1024 // bytes of an error in a line
)

// Allowed is the result of a change that a caller may do and that has not happened yet.
const Allowed = "allowed"

// Record is a line of the audit log. All texts may come from a caller.
type Record struct {
	Who     string // what the caller claims to be
	From    string // address of the caller
	Call    string // name of the call, or the path of its procedure
	Object  string // what is changed; "" if that is not known
	Detail  string // to what it is changed; "" for nothing to say
	Result  string // default ResultOf(Err)
	Err     error  // nil if the change was made
	Skipped int64  // lines of the same kind that were left out before
}

// Log writes the record to a log.
func (r *Record) Log(logger *slog.Logger) {
	attributes := []any{"who", r.Who, "from", r.From, "call", path.Base(r.Call), "object", rpc.Printable(r.Object, maxText)}
	if r.Detail != "" {
		attributes = append(attributes, "detail", rpc.Printable(r.Detail, maxText))
	}
	result := r.Result
	if result == "" {
		result = ResultOf(r.Err)
	}
	attributes = append(attributes, "result", result)
	if r.Err != nil {
		attributes = append(attributes, "error", rpc.Printable(errorText(r.Err), maxError))
	}
	if r.Skipped > 0 {
		attributes = append(attributes, "not logged", r.Skipped)
	}
	logger.Info("audit", attributes...)
}

// ResultOf classifies the error of a change: done, refused or unknown.
func ResultOf(err error) string {
	if err == nil {
		return "done"
	}
	_, unavailable := errors.AsType[*rpc.UnavailableError](err)
	if unavailable || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return "unknown"
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
