// Package masterlink connects a tasknode with the master that leads, over the network: it
// is the tasknode.Link of a cluster.
//
//	masters, err := rpc.New(rpc.Config{…})
//	daemon, err := tasknode.New(tasknode.Config{Link: masterlink.NewLink(masters), …})
//
// Goroutines: a session has one, which sends reports, so that a caller of Send never
// waits for the network. It ends with Close. The caller's goroutine receives. The
// transport pings a silent connection, so the session ends when the master is gone.
package masterlink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/tasknode"
)

// helloTimeout is how long a master may take to accept a tasknode.
const helloTimeout = 15 * time.Second

// Link implements tasknode.Link.
type Link struct{ masters *rpc.Masters }

// NewLink makes a Link. The caller closes its sessions before masters.
func NewLink(masters *rpc.Masters) *Link { return &Link{masters} }

// Connect implements tasknode.Link. It asks each master once.
func (l *Link) Connect(ctx context.Context, hello *wire.Report) (tasknode.Session, error) {
	var s *session
	err := l.masters.Try(ctx, func(ctx context.Context, m *rpc.Master) (err error) {
		s, err = l.open(ctx, m, hello)
		return err
	})
	var permanent *rpc.PermanentError
	switch {
	case err == nil:
		return s, nil
	case errors.As(err, &permanent) && isFinal(permanent.Reason):
		err = fmt.Errorf("%w: %w", tasknode.ErrRefused, err)
	}
	return nil, err
}

// isFinal reports whether a refusal ends the tasknode. A name is free again when a broken
// connection of an earlier start is noticed. Another version of the protocol ends when
// masters and tasknodes have been upgraded. Until then the tasks continue.
func isFinal(reason wire.Refusal_Reason) bool {
	return reason == wire.Refusal_TOKEN || reason == wire.Refusal_CLUSTER
}

// open opens a session with one master.
func (l *Link) open(ctx context.Context, m *rpc.Master, hello *wire.Report) (*session, error) {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := m.Attend(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	s := &session{
		link: l, master: m, stream: stream, reports: syncutil.NewMailbox[*wire.Report](),
		cancel: cancel, closed: make(chan struct{}),
	}
	if err := s.begin(hello); err != nil {
		s.closeStream()
		return nil, err
	}
	s.writers.Go(s.write)
	return s, nil
}
