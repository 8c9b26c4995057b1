package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"connectrpc.com/connect"
	"github.com/hammr/hammr/internal/rpc/wire"
	"google.golang.org/protobuf/proto"
)

// PermanentError is an error answer of a master. Repeating the call gives the same answer.
type PermanentError struct {
	Master string              // host:port
	Code   connect.Code        // NotFound for something unknown, FailedPrecondition if the present state does not allow the call
	Reason wire.Refusal_Reason // why the caller is refused; unspecified for other errors
	Text   string
}

func (f *PermanentError) Error() string { return f.Text }

// CallerRefused reports whether the master refused the caller rather than the call.
func (f *PermanentError) CallerRefused() bool { return f.Reason != wire.Refusal_REASON_UNSPECIFIED }

// NotLeader returns the error with which a follower answers. leader is the address of the
// leader, "" if unknown.
func NotLeader(leader string) error {
	text := "not the leader, and none is known"
	if leader != "" {
		text = "not the leader, which is " + leader
	}
	return withDetail(connect.CodeUnavailable, errors.New(text), &wire.NotLeader{Leader: leader})
}

// Refuse returns the error with which a master refuses a caller. expected is the version or
// the cluster of the master.
func Refuse(reason wire.Refusal_Reason, expected, text string) error {
	code := connect.CodeFailedPrecondition
	switch reason {
	case wire.Refusal_TOKEN:
		code = connect.CodeUnauthenticated
	case wire.Refusal_NAME_TAKEN:
		code = connect.CodeAlreadyExists
	}
	return withDetail(code, errors.New(text), &wire.Refusal{Reason: reason, Expected: expected})
}

// Overload returns the error with which a master refuses a call because of too much load.
// The call may be made again after the given time.
func Overload(retryAfter time.Duration, text string) error {
	return withDetail(connect.CodeResourceExhausted, errors.New(text), &wire.Overload{RetryAfterMillis: retryAfter.Milliseconds()})
}

func withDetail(code connect.Code, err error, detail proto.Message) error {
	out := connect.NewError(code, err)
	if d, err := connect.NewErrorDetail(detail); err == nil {
		out.AddDetail(d)
	}
	return out
}

// callOutcome is the meaning of a call's result for the search for the leader.
type callOutcome struct {
	kind   outcomeKind
	err    error         // for users; nil if the call succeeded
	leader string        // address of the leader, if kind is redirected
	retry  time.Duration // when to call again, if kind is overloaded
}

type outcomeKind int

const (
	done       outcomeKind = iota
	redirected             // another master leads
	transient              // this master does not answer now
	overloaded             // the leader refuses the call for some time
	notMaster              // no master listens at this address, and none will
	permanent              // every master would answer the same
)

// classify classifies the result of a call to the master at address.
func (c *Masters) classify(address string, err error) callOutcome {
	if err == nil {
		return callOutcome{}
	}
	var foreign *ForeignError
	var unknownHost *net.DNSError
	var answer *connect.Error
	switch {
	case errors.As(err, &foreign):
		return callOutcome{kind: notMaster, err: foreign}
	case errors.As(err, &unknownHost) && unknownHost.IsNotFound:
		return callOutcome{kind: notMaster, err: fmt.Errorf("%s: no such host; check the name", address)}
	case !errors.As(err, &answer):
		return callOutcome{kind: permanent, err: err} // error of the caller's own function
	case connect.IsWireError(err):
		return c.classifyAnswer(address, answer)
	case answer.Code() == connect.CodeResourceExhausted, answer.Code() == connect.CodeInvalidArgument:
		return callOutcome{kind: permanent, err: fmt.Errorf("%s: %w", address, answer)}
	}
	return callOutcome{kind: transient, err: fmt.Errorf("%s: %w", address, cause(answer))}
}

// cause returns the network error inside an HTTP error.
func cause(err *connect.Error) error {
	var op *net.OpError
	switch {
	case errors.As(err, &op):
		return op.Err
	case errors.Is(err, errClosedSilently):
		return errClosedSilently
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("no answer")
	}
	return err.Unwrap()
}

// classifyAnswer classifies an error that a master has sent.
func (c *Masters) classifyAnswer(address string, answer *connect.Error) callOutcome {
	for _, d := range answer.Details() {
		switch m, _ := d.Value(); m := m.(type) {
		case *wire.NotLeader:
			return callOutcome{kind: redirected, leader: m.Leader, err: fmt.Errorf("%s: %s", address, answer.Message())}
		case *wire.Overload:
			retry := time.Duration(m.RetryAfterMillis) * time.Millisecond
			return callOutcome{kind: overloaded, retry: retry, err: fmt.Errorf("%s: %s", address, answer.Message())}
		case *wire.Refusal:
			if _, ok := c.transport.common(m.Expected); m.Reason == wire.Refusal_PROTOCOL && ok {
				return callOutcome{kind: transient, err: fmt.Errorf("%s: %s", address, answer.Message())} // the next call speaks that version
			}
			return callOutcome{kind: permanent, err: c.explainRefusal(address, answer, m)}
		}
	}
	switch answer.Code() {
	case connect.CodeUnavailable, connect.CodeCanceled, connect.CodeDeadlineExceeded, connect.CodeAborted:
		return callOutcome{kind: transient, err: fmt.Errorf("%s: %s", address, answer.Message())}
	}
	return callOutcome{kind: permanent, err: &PermanentError{Master: address, Code: answer.Code(), Text: answer.Message()}}
}

// explainRefusal returns an error that says what a refused caller can do.
func (c *Masters) explainRefusal(address string, answer *connect.Error, r *wire.Refusal) error {
	f := &PermanentError{Master: address, Code: answer.Code(), Reason: r.Reason, Text: answer.Message()}
	switch r.Reason {
	case wire.Refusal_TOKEN:
		f.Text = fmt.Sprintf("%s: the token is not that of cluster %s; name the file of the cluster's with --token-file or %s", address, r.Expected, TokenFileVariable)
		if c.cfg.Token == "" {
			f.Text = fmt.Sprintf("%s: cluster %s needs its token; name its file with --token-file or %s", address, r.Expected, TokenFileVariable)
		}
	case wire.Refusal_CLUSTER:
		f.Text = fmt.Sprintf("%s: a master of cluster %s, not of %s; name masters of the same cluster, or name the token file of this one with --token-file",
			address, r.Expected, c.cfg.ClusterID)
	case wire.Refusal_PROTOCOL:
		f.Text = fmt.Sprintf("%s: the master speaks protocol version %s, this program %s; use programs of the same release", address, r.Expected, c.cfg.Protocol)
	}
	return f
}
