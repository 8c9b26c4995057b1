package daemon_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/testing/must"
)

// serviceManager is the socket of a service manager.
type serviceManager struct {
	t    *testing.T
	conn *net.UnixConn
}

// newServiceManager listens where NewNotifier looks for a service manager.
func newServiceManager(t *testing.T) *serviceManager {
	t.Helper()
	name := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	must.Do(t, err)
	t.Cleanup(func() { conn.Close() })
	t.Setenv("NOTIFY_SOCKET", name)
	return &serviceManager{t, conn}
}

// receive returns the next message.
func (s *serviceManager) receive() string {
	s.t.Helper()
	must.Do(s.t, s.conn.SetReadDeadline(time.Now().Add(time.Minute)))
	text := make([]byte, 4096)
	n, err := s.conn.Read(text)
	must.Do(s.t, err)
	return string(text[:n])
}

func TestNotifier(t *testing.T) {
	s := newServiceManager(t)
	n := daemon.NewNotifier(slog.New(slog.DiscardHandler))
	n.Reloading()() // not ready yet: nothing is sent
	n.Ready()
	if got := s.receive(); got != "READY=1" {
		t.Errorf("ready: %q", got)
	}
	finish := n.Reloading()
	if got := s.receive(); !regexp.MustCompile(`^RELOADING=1\nMONOTONIC_USEC=[0-9]+\n?$`).MatchString(got) {
		t.Errorf("reloading: %q", got)
	}
	finish()
	if got := s.receive(); got != "READY=1" {
		t.Errorf("reloaded: %q", got)
	}
	n.Stopping()
	if got := s.receive(); got != "STOPPING=1" {
		t.Errorf("stopping: %q", got)
	}
}

// TestWatchdogIsFedWhileTheLoopTurns lets the loop stop and turn again.
func TestWatchdogIsFedWhileTheLoopTurns(t *testing.T) {
	s := newServiceManager(t)
	const limit = 200 * time.Millisecond
	t.Setenv("WATCHDOG_USEC", strconv.FormatInt(limit.Microseconds(), 10))
	n := daemon.NewNotifier(slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	var stuck atomic.Bool
	var status atomic.Value
	status.Store("follows\nm1")
	check := func() error {
		if stuck.Load() {
			return errors.New("stuck")
		}
		return nil
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n.Run(ctx, check, func() string { return status.Load().(string) })
	}()
	if got := s.receive(); got != "STATUS=follows m1" {
		t.Errorf("status: %q", got)
	}
	for range 3 {
		if got := s.receive(); got != "WATCHDOG=1" {
			t.Errorf("sign of life: %q", got)
		}
	}
	stuck.Store(true)
	status.Store("stuck")
	for got := ""; got != "STATUS=stuck"; got = s.receive() { // signs of life before it may be on their way
		if got != "" && got != "WATCHDOG=1" {
			t.Errorf("before the stall: %q", got)
		}
	}
	status.Store("stuck still")
	if got := s.receive(); got != "STATUS=stuck still" {
		t.Errorf("during the stall: %q", got)
	}
	stuck.Store(false)
	if got := s.receive(); got != "WATCHDOG=1" {
		t.Errorf("after the stall: %q", got)
	}
	cancel()
	<-ended
}

// TestNoServiceManager checks that a daemon works without a service manager, and without one that
// has gone.
func TestNoServiceManager(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	n := daemon.NewNotifier(slog.New(slog.DiscardHandler))
	n.Ready()
	n.Reloading()()
	n.Stopping()
	n.Run(t.Context(), nil, nil)

	var log sharedLog
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "gone"))
	n = daemon.NewNotifier(slog.New(slog.NewTextHandler(&log, nil)))
	n.Ready()
	n.Stopping()
	if got := strings.Count(log.String(), "cannot notify the service manager"); got != 1 {
		t.Errorf("%d lines:\n%s", got, log.String())
	}
}
