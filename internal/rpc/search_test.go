package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newCluster(t testing.TB, masters ...string) *Masters {
	t.Helper()
	c, err := New(Config{Masters: masters, Token: "t"})
	must.Do(t, err)
	return c
}

// wireError returns an error as a master sends it.
func wireError(err error) error {
	var e *connect.Error
	if !errors.As(err, &e) {
		return err
	}
	out := connect.NewWireError(e.Code(), errors.New(e.Message()))
	for _, d := range e.Details() {
		out.AddDetail(d)
	}
	return out
}

// notThere returns HTTP's error for a master that does not run.
func notThere() error {
	return connect.NewError(connect.CodeUnavailable, &net.OpError{Op: "dial", Err: errors.New("connection refused")})
}

func TestDoFollowsTheLeader(t *testing.T) {
	c := newCluster(t, "a:1", "b:1", "c:1")
	var asked []string
	ask := func(_ context.Context, m *Master) error {
		asked = append(asked, m.Address)
		switch m.Address {
		case "a:1":
			return notThere()
		case "b:1":
			return wireError(NotLeader("d:1"))
		case "d:1":
			return nil
		}
		return errors.New("asked " + m.Address)
	}
	for _, want := range [][]string{{"a:1", "b:1", "d:1"}, {"d:1"}} {
		asked = nil
		must.Do(t, c.Do(t.Context(), ask))
		if !slices.Equal(asked, want) {
			t.Errorf("asked %v, want %v", asked, want)
		}
	}
}

// TestOnlyTheGivenMasterIsAsked checks that a question about one master is never answered by the leader.
func TestOnlyTheGivenMasterIsAsked(t *testing.T) {
	c, err := New(Config{Masters: []string{"a:1"}, Only: true, Token: "t", Timeout: time.Millisecond})
	must.Do(t, err)
	c.Learn("b:1")
	c.setLeader("b:1")
	var asked []string
	answer := error(nil)
	for range 2 {
		if err := c.Do(t.Context(), func(_ context.Context, m *Master) error {
			asked = append(asked, m.Address)
			return answer
		}); (err != nil) != (answer != nil) {
			t.Error(err)
		}
		answer = wireError(NotLeader("b:1"))
	}
	if slices.Contains(asked, "b:1") || !slices.Contains(asked, "a:1") {
		t.Errorf("asked %v", asked)
	}
}

// TestMasterOfABrokenStreamIsAskedLast checks that a search does not wait again for a
// suspended leader whose silence has just broken a stream.
func TestMasterOfABrokenStreamIsAskedLast(t *testing.T) {
	c := newCluster(t, "a:1", "b:1", "c:1")
	c.setLeader("a:1")
	var asked []string
	ask := func(_ context.Context, m *Master) error {
		if asked = append(asked, m.Address); m.Address == "c:1" {
			return nil
		}
		return notThere()
	}
	if err := c.NoteStreamError(c.master("a:1"), notThere()); err == nil {
		t.Error("the end of the stream is no error")
	}
	must.Do(t, c.Try(t.Context(), ask))
	if want := []string{"b:1", "c:1"}; !slices.Equal(asked, want) {
		t.Errorf("asked %v, want %v", asked, want)
	}
}

func TestDoWaitsForALeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a:1", "b:1")
		var notices []error
		c.cfg.OnWait = func(err error) { notices = append(notices, err) }
		elected := time.Now().Add(7 * time.Second)
		err := c.Do(t.Context(), func(_ context.Context, m *Master) error {
			if time.Now().Before(elected) || m.Address != "b:1" {
				return wireError(NotLeader(""))
			}
			return nil
		})
		if late := time.Since(elected); err != nil || late > maxBackoff {
			t.Errorf("error %v, %v after the election", err, late)
		}
		if len(notices) != 1 || !strings.HasSuffix(notices[0].Error(), "; waiting up to 1m0s") {
			t.Errorf("notices %v", notices)
		}
	})
}

func TestDoGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a:1", "b:1")
		began := time.Now()
		err := c.Do(t.Context(), func(_ context.Context, m *Master) error {
			if m.Address == "a:1" {
				return notThere()
			}
			return &ForeignError{m.Address, "an SSH server"}
		})
		if took := time.Since(began); took != DefaultTimeout {
			t.Errorf("given up after %v", took)
		}
		const want = "no leading master found in 1m0s; a:1: connection refused; b:1: an SSH server listens there"
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error is %v", err)
		}
	})
}

func TestDoEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		time.AfterFunc(3*time.Second, func() { cancel(enough) })
		began := time.Now()
		err := newCluster(t, "a:1").Do(ctx, func(context.Context, *Master) error { return notThere() })
		if err != enough || time.Since(began) != 3*time.Second {
			t.Errorf("error %v after %v", err, time.Since(began))
		}
	})
}

// TestPermanentErrorsAreNotRetried checks that an error that every master would return ends
// the search.
func TestPermanentErrorsAreNotRetried(t *testing.T) {
	mine := errors.New("mine")
	for name, given := range map[string]error{
		"unknown":  wireError(connect.NewError(connect.CodeNotFound, errors.New("unknown: job_1_0001"))),
		"token":    wireError(Refuse(wire.Refusal_TOKEN, "17", "")),
		"protocol": wireError(Refuse(wire.Refusal_PROTOCOL, "3", "")), // a version that this program does not speak
		"foreign":  &ForeignError{"a:1", "a server"},
		"no host":  connect.NewError(connect.CodeUnavailable, &net.DNSError{IsNotFound: true}),
		"mine":     mine,
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			err := newCluster(t, "a:1").Do(t.Context(), func(context.Context, *Master) error { calls++; return given })
			if err == nil || calls != 1 {
				t.Errorf("error %v after %d calls", err, calls)
			}
			var f *PermanentError
			if errors.As(err, &f) && f.CallerRefused() != (name == "token" || name == "protocol") {
				t.Errorf("%v: stranger is %v", f, f.CallerRefused())
			}
		})
	}
}

// TestTryFindsTheLeader searches among masters that are down or name each other as leader.
// It checks that Try asks no master twice, and that it finds the leader if the leader's
// address is known or a master names it.
func TestTryFindsTheLeader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "masters")
		name := func(i int) string { return fmt.Sprintf("m%d:1", i) }
		leader := rapid.IntRange(-1, n-1).Draw(t, "leader")
		points := make([]int, n) // the master that each names: -1 for none, -2 if it is down
		for i := range points {
			points[i] = rapid.IntRange(-2, n-1).Draw(t, "points at")
		}
		var configured []string
		reachable := make(map[int]bool)
		for i := range rapid.IntRange(1, n).Draw(t, "configured") {
			configured = append(configured, name(i))
			for j := i; j >= 0 && !reachable[j]; j = points[j] {
				reachable[j] = true
				if j == leader {
					break
				}
			}
		}
		c, err := New(Config{Masters: configured})
		must.Do(t, err)
		asked := make(map[string]int)
		err = c.Try(context.Background(), func(_ context.Context, m *Master) error {
			asked[m.Address]++
			var i int
			fmt.Sscanf(m.Address, "m%d:1", &i)
			switch {
			case i == leader:
				return nil
			case points[i] == -2:
				return notThere()
			case points[i] == -1:
				return wireError(NotLeader(""))
			}
			return wireError(NotLeader(name(points[i])))
		})
		if found := err == nil; found != (leader >= 0 && reachable[leader]) {
			t.Fatalf("found is %v, asked %v: %v", found, asked, err)
		}
		for address, times := range asked {
			if times > 1 {
				t.Fatalf("%s is asked %d times", address, times)
			}
		}
	})
}
