package testcluster

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/hostfile"
)

// commandTimeout is how long a command on a machine may take.
const commandTimeout = 30 * time.Second

// run runs a command on a daemon's machine. The command is one word for the shell program,
// as ssh expects it.
func (s *hosts) run(ctx context.Context, h hostfile.Daemon, command string) error {
	if h.Shell == "" {
		return fmt.Errorf("%s: the hostfile names no shell for its machine; add it after the address of its page", h.Name)
	}
	words := hostfile.ShellWords(s.cfg.Shell, h.Shell)
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], command)...)
	var stderr bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &stderr, time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %q: %w: %s", h.Name, command, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}

// runsCommand succeeds if a process runs. A zombie does not.
func runsCommand(pid int) string { return fmt.Sprintf("grep -qs '^State:.[^ZX]' /proc/%d/status", pid) }

// signalCommand sends a signal. It fails if that is not allowed, but not if the process
// is gone.
func signalCommand(sig syscall.Signal, pid int) string {
	return fmt.Sprintf("{ kill -%d %d || [ ! -e /proc/%d ]; }", int(sig), pid, pid)
}
