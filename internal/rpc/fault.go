package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"

	"connectrpc.com/connect"
	"github.com/hammr/hammr/internal/wire"
	"google.golang.org/protobuf/proto"
)

// Fault is a master's answer that comes again however often one asks.
type Fault struct {
	Master string              // host:port
	Code   connect.Code        // NotFound for what is unknown, FailedPrecondition for what cannot be done now
	Reason wire.Refusal_Reason // why the caller is not let in; unspecified for any other fault
	Text   string
}

func (f *Fault) Error() string { return f.Text }

// Stranger reports whether the caller, rather than the call, is refused.
func (f *Fault) Stranger() bool { return f.Reason != wire.Refusal_REASON_UNSPECIFIED }

// NotLeader is the answer of a master that does not lead. leader is the address
// of the one that does, "" for unknown.
func NotLeader(leader string) error {
	text := "not the leader, and none is known"
	if leader != "" {
		text = "not the leader, which is " + leader
	}
	return withDetail(connect.CodeUnavailable, errors.New(text), &wire.NotLeader{Leader: leader})
}

// Refuse is the answer to a caller that is not let in. ours is the version or
// the cluster of the master.
func Refuse(reason wire.Refusal_Reason, ours, text string) error {
	code := connect.CodeFailedPrecondition
	switch reason {
	case wire.Refusal_TOKEN:
		code = connect.CodeUnauthenticated
	case wire.Refusal_NAME_TAKEN:
		code = connect.CodeAlreadyExists
	}
	return withDetail(code, errors.New(text), &wire.Refusal{Reason: reason, Ours: ours})
}

func withDetail(code connect.Code, err error, detail proto.Message) error {
	out := connect.NewError(code, err)
	if d, err := connect.NewErrorDetail(detail); err == nil {
		out.AddDetail(d)
	}
	return out
}

// verdict is what an error of a call means for the search for the leader.
type verdict struct {
	kind   verdictKind
	err    error  // for people; nil when the call was done
	leader string // of redirected
}

type verdictKind int

const (
	done       verdictKind = iota
	redirected             // another master leads
	passing                // this master does not answer now
	hopeless               // this address is none of a master and will not be
	final                  // no master will answer otherwise
)

// judge tells what an error means that a call to the master at address had.
func (c *Cluster) judge(address string, err error) verdict {
	if err == nil {
		return verdict{}
	}
	var foreign *ForeignError
	var unknownHost *net.DNSError
	var answer *connect.Error
	switch {
	case errors.As(err, &foreign):
		return verdict{kind: hopeless, err: foreign}
	case errors.As(err, &unknownHost) && unknownHost.IsNotFound:
		return verdict{kind: hopeless, err: fmt.Errorf("%s: no such host; check the name", address)}
	case !errors.As(err, &answer):
		return verdict{kind: final, err: err} // the caller's own
	case connect.IsWireError(err):
		return c.judgeAnswer(address, answer)
	case answer.Code() == connect.CodeResourceExhausted, answer.Code() == connect.CodeInvalidArgument:
		return verdict{kind: final, err: fmt.Errorf("%s: %w", address, answer)}
	}
	return verdict{kind: passing, err: fmt.Errorf("%s: %w", address, cause(answer))}
}

// cause is what went wrong on the way, without what HTTP says of it.
func cause(err *connect.Error) error {
	var op *net.OpError
	switch {
	case errors.As(err, &op):
		return op.Err
	case errors.Is(err, errWordless):
		return errWordless
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("no answer")
	}
	return err.Unwrap()
}

// judgeAnswer judges what a master has said itself.
func (c *Cluster) judgeAnswer(address string, answer *connect.Error) verdict {
	for _, d := range answer.Details() {
		switch m, _ := d.Value(); m := m.(type) {
		case *wire.NotLeader:
			return verdict{kind: redirected, leader: m.Leader, err: fmt.Errorf("%s: %s", address, answer.Message())}
		case *wire.Refusal:
			return verdict{kind: final, err: c.refusal(address, answer, m)}
		}
	}
	switch answer.Code() {
	case connect.CodeUnavailable, connect.CodeCanceled, connect.CodeDeadlineExceeded, connect.CodeAborted:
		return verdict{kind: passing, err: fmt.Errorf("%s: %s", address, answer.Message())}
	}
	return verdict{kind: final, err: &Fault{Master: address, Code: answer.Code(), Text: answer.Message()}}
}

// refusal tells a caller that is not let in what to do about it.
func (c *Cluster) refusal(address string, answer *connect.Error, r *wire.Refusal) error {
	f := &Fault{Master: address, Code: answer.Code(), Reason: r.Reason, Text: answer.Message()}
	switch r.Reason {
	case wire.Refusal_TOKEN:
		f.Text = fmt.Sprintf("%s: the token is not that of cluster %s; give the cluster's with --token-file or %s", address, r.Ours, TokenFileVariable)
		if c.cfg.Token == "" {
			f.Text = fmt.Sprintf("%s: cluster %s wants its token; give it with --token-file or %s", address, r.Ours, TokenFileVariable)
		}
	case wire.Refusal_CLUSTER:
		f.Text = fmt.Sprintf("%s: a master of cluster %s, not of %s; name masters of the same cluster, or give the token of this one with --token-file",
			address, r.Ours, c.cfg.ClusterID)
	case wire.Refusal_PROTOCOL:
		f.Text = fmt.Sprintf("%s: the master speaks protocol version %s, this program %s; use programs of the same release", address, r.Ours, Version)
	}
	return f
}
