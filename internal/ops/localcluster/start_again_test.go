package localcluster_test

import (
	"context"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestStartAgain checks that Start starts a killed daemon and no other, and that BeforeStart
// is called for it.
func TestStartAgain(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.Detach = false
	var before []string
	cfg.BeforeStart = func(name, _ string, cmd *exec.Cmd) error {
		if cmd.Process == nil {
			before = append(before, name)
		}
		return nil
	}
	c, err := localcluster.Up(t.Context(), cfg)
	must.Do(t, err)
	old := c.State.Tasknodes[0].Process
	must.Do(t, syscall.Kill(old.PID, syscall.SIGKILL))
	waitUntil(t, func() bool { return !old.Alive() })
	for range 2 { // the second time the daemon runs already
		must.Do(t, c.Start(t.Context(), "n1"))
	}
	s := published(t, cfg.Dir, c)
	if now := s.Tasknodes[0].Process; now.PID == old.PID || !now.Alive() || now.Address == "" {
		t.Errorf("n1 was %v and is %v", old, now)
	}
	if want := "m1 n1 n2 n1"; strings.Join(before, " ") != want {
		t.Errorf("started were %v", before)
	}
	if err := c.Start(t.Context(), "n9"); err == nil || !strings.Contains(err.Error(), `no daemon "n9"`) {
		t.Errorf("n9: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Wait(ended, nil); err != nil {
		t.Error(err)
	}
	if n := running(processes(&c.State)); n != 0 {
		t.Errorf("%d still run", n)
	}
}
