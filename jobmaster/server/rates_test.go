package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestOneUserFloods lets one user make calls as fast as possible, over real connections in a
// bubble. The calls of another user are not delayed, and each call of the flood is answered in
// the end, because clients repeat refused calls.
func TestOneUserFloods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answered atomic.Int64
		s := New(Config{
			Token: "secret", ClusterID: "1", Rates: Rates{Calls: Rate{PerSecond: 20, Burst: 40}},
			Info: func() *wire.Info { answered.Add(1); return new(wire.Info) },
		})
		listener := newPipeListener()
		daemon := rpc.NewServer(s, nil)
		var serving sync.WaitGroup
		serving.Go(func() { daemon.Serve(listener) })
		connect := func(user string) *rpc.Masters {
			c, err := rpc.New(rpc.Config{
				Masters: []string{"m:1"}, Token: "secret", User: user, Timeout: time.Minute,
				Dial: func(context.Context, string, string) (net.Conn, error) { return listener.dial() },
			})
			must.Do(t, err)
			return c
		}
		eve, ada := connect("eve"), connect("ada")
		var flood sync.WaitGroup
		began := time.Now()
		for range 300 {
			flood.Go(func() {
				if _, err := eve.Info(t.Context()); err != nil {
					t.Errorf("a call of the flood, after %v: %v", time.Since(began), err)
				}
			})
		}
		for range 10 {
			before := time.Now()
			if _, err := ada.Info(t.Context()); err != nil || time.Since(before) > 10*time.Millisecond {
				t.Errorf("a call of another user takes %v: %v", time.Since(before), err)
			}
			time.Sleep(200 * time.Millisecond)
		}
		flood.Wait()
		if took, least := time.Since(began), (300-40)*time.Second/20; took < least || took > 2*least {
			t.Errorf("the flood took %v", took)
		}
		if answered.Load() != 310 || s.RefusedByRate() == 0 {
			t.Errorf("%d calls answered, %d refused", answered.Load(), s.RefusedByRate())
		}
		eve.Close()
		ada.Close()
		daemon.Close()
		serving.Wait()
	})
}

// pipeListener accepts connections in memory, which synctest can wait for.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) dial() (net.Conn, error) {
	ours, theirs := net.Pipe()
	l.conns <- theirs
	return ours, nil
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// TestSubmissionsHaveTheirOwnBucket takes tokens of both kinds, and of no kind.
func TestSubmissionsHaveTheirOwnBucket(t *testing.T) {
	now := time.Unix(1000, 0)
	l := newLimiter(Rates{Submissions: Rate{2, 3}, Calls: Rate{10, 1}}, slog.New(slog.DiscardHandler))
	submit := func() time.Duration { return l.take("ada", true, now) }
	for n := range 3 {
		if wait := submit(); wait != 0 {
			t.Errorf("submission %d waits %v", n, wait)
		}
	}
	if wait := submit(); wait != 500*time.Millisecond {
		t.Errorf("the fourth submission waits %v", wait)
	}
	if wait := l.take("ada", false, now); wait != 0 {
		t.Errorf("a call waits %v", wait)
	}
	if wait := l.take("ada", false, now); wait != 100*time.Millisecond {
		t.Errorf("the second call waits %v", wait)
	}
	now = now.Add(500 * time.Millisecond)
	if first, second := submit(), submit(); first != 0 || second != 500*time.Millisecond {
		t.Errorf("half a second later: %v, %v", first, second)
	}
	free := newLimiter(Rates{}, slog.New(slog.DiscardHandler))
	for range 10_000 {
		if wait := free.take("ada", true, now); wait != 0 {
			t.Fatalf("without rates: %v", wait)
		}
	}
}

// TestRatesAreReplaced raises the rates of a server while a user is at the bound.
func TestRatesAreReplaced(t *testing.T) {
	now := time.Unix(1000, 0)
	s := &Server{limiter: newLimiter(Rates{Calls: Rate{1, 1}}, slog.New(slog.DiscardHandler))}
	if first, second := s.limiter.take("ada", false, now), s.limiter.take("ada", false, now); first != 0 || second == 0 {
		t.Errorf("at first: %v, %v", first, second)
	}
	s.SetRates(Rates{Calls: Rate{1, 1}})
	if wait := s.limiter.take("ada", false, now); wait == 0 {
		t.Error("the same rates give a user another call")
	}
	s.SetRates(Rates{Calls: Rate{1, 2}})
	for n := range 3 {
		if wait := s.limiter.take("ada", false, now); (wait == 0) != (n < 2) {
			t.Errorf("call %d after the change waits %v", n, wait)
		}
	}
}

// TestUsersAreForgotten claims more names than the limiter remembers.
func TestUsersAreForgotten(t *testing.T) {
	now := time.Unix(1000, 0)
	l := newLimiter(Rates{Calls: Rate{1, 2}}, slog.New(slog.DiscardHandler))
	refused := 0
	for n := range maxUsers + 10 {
		if l.take(fmt.Sprint("user", n), false, now) != 0 {
			refused++
		}
	}
	if len(l.mu.users) != maxUsers || refused != 8 {
		t.Errorf("%d users are remembered; %d calls of the other ten were refused, want 8", len(l.mu.users), refused)
	}
	now = now.Add(time.Minute)
	if wait := l.take("another", false, now); wait != 0 || len(l.mu.users) != 1 {
		t.Errorf("a minute later a new user waits %v; %d users are remembered", wait, len(l.mu.users))
	}
}
