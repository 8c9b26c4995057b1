package tasknoded

import (
	"context"
	"errors"
	"sync"

	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/tasknode"
)

// membership is what the tasknode knows about its place in the cluster: whether it has a session
// with the leading master, and whether that gives it new tasks. Any goroutine may call its
// methods.
type membership struct {
	mu struct {
		sync.Mutex
		sessions int    // sessions that have begun and not ended; at most 1, but for a moment
		refusal  string // why it gets no new tasks, as the leading master said last; "" if it gets some
	}
}

// check returns why the tasknode gets no new tasks, nil if it gets some.
func (m *membership) check() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.mu.sessions == 0:
		return errors.New("no session with a master")
	case m.mu.refusal != "":
		return errors.New("no new tasks: " + m.mu.refusal)
	}
	return nil
}

// admitted implements tasknode.Config.OnAdmission.
func (m *membership) admitted(refusal string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.refusal = refusal
}

// count adds to the number of sessions.
func (m *membership) count(sessions int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.sessions += sessions
}

// readyLink keeps membership up to date. It calls joined once, when the tasknode has joined a
// cluster.
type readyLink struct {
	tasknode.Link
	membership *membership
	joined     func()
	once       sync.Once
}

// Connect implements tasknode.Link.
func (l *readyLink) Connect(ctx context.Context, hello *wire.Report) (tasknode.Session, error) {
	session, err := l.Link.Connect(ctx, hello)
	if err != nil {
		return nil, err
	}
	l.membership.count(1)
	l.once.Do(l.joined)
	return &countedSession{Session: session, membership: l.membership}, nil
}

// countedSession is a session that membership counts until it is closed.
type countedSession struct {
	tasknode.Session
	membership *membership
	once       sync.Once
}

// Close implements tasknode.Session.
func (s *countedSession) Close() {
	s.once.Do(func() { s.membership.count(-1) })
	s.Session.Close()
}
