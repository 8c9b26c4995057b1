package tasknoded

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/tasknode"
)

// fakeLink makes sessions, unless it fails.
type fakeLink struct{ err error }

func (l *fakeLink) Connect(context.Context, *wire.Report) (tasknode.Session, error) {
	return fakeSession{}, l.err
}

// fakeSession is a session without a master.
type fakeSession struct{ tasknode.Session }

func (fakeSession) Close() {}

// TestMembership follows a tasknode through sessions, a drain and the loss of its master.
func TestMembership(t *testing.T) {
	var m membership
	joined, inner := 0, new(fakeLink)
	link := &readyLink{Link: inner, membership: &m, joined: func() { joined++ }}
	want := func(when, text string) {
		t.Helper()
		switch err := m.check(); {
		case text == "" && err != nil, text != "" && (err == nil || !strings.Contains(err.Error(), text)):
			t.Errorf("%s: %v, want %q", when, err, text)
		}
	}
	connect := func() tasknode.Session {
		t.Helper()
		s, err := link.Connect(t.Context(), nil)
		must.Do(t, err)
		return s
	}
	want("at first", "no session with a master")
	inner.err = errors.New("refused")
	if _, err := link.Connect(t.Context(), nil); !errors.Is(err, inner.err) || joined != 0 {
		t.Errorf("refused: %v, joined %d times", err, joined)
	}
	want("after a refusal", "no session with a master")
	inner.err = nil
	first := connect()
	want("in a session", "")
	m.admitted("drained")
	want("drained", "no new tasks: drained")
	m.admitted("")
	first.Close()
	first.Close()
	want("after the session", "no session with a master")
	connect()
	want("in the next session", "")
	if joined != 1 {
		t.Errorf("joined %d times", joined)
	}
}
