package localcluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/ops/launch"
	"github.com/hammr/hammr/internal/ops/netns"
)

// program describes how a daemon is started.
type program struct {
	launch.Daemon
	args []string

	namespace string // network namespace; "" for this process's

	beforeStart func(name, dir string, cmd *exec.Cmd) error // Config.BeforeStart; may be nil
}

// member is a daemon of the layout, and its process in Cluster.State.
type member struct {
	program
	process *Process
	child   *launch.Child // nil unless this process has started it
}

// start starts the daemon, and does not wait for it.
func (m *member) start(starter *procfs.Starter, detach bool) error {
	for _, dir := range []string{m.Dir, filepath.Dir(m.LogFile)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	cmd := exec.Command(m.args[0], m.args[1:]...)
	cmd.SysProcAttr = launch.Attributes(detach)
	if m.namespace != "" {
		if err := netns.RunIn(cmd, m.namespace); err != nil {
			return fmt.Errorf("start of %s: %w", m.Name, err)
		}
	}
	if m.beforeStart != nil {
		if err := m.beforeStart(m.Name, m.Dir, cmd); err != nil {
			return fmt.Errorf("before the start of %s: %w", m.Name, err)
		}
	}
	var err error
	if m.child, err = launch.Start(starter, m.Daemon, cmd); err != nil {
		return err
	}
	*m.process = Process{PID: m.child.PID(), Dir: m.Dir, Started: procfs.StartTime(m.child.PID())}
	return nil
}

// awaitReady waits until the daemon is ready, and records its addresses.
func (m *member) awaitReady(ctx context.Context) error {
	ready, err := m.child.AwaitReady(ctx)
	if err == nil {
		m.process.Address, m.process.HTTP = ready.Address, ready.HTTP
	}
	return err
}
