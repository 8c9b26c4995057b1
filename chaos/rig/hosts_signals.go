package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// commandPatience is how long a command on a machine may take.
const commandPatience = 30 * time.Second

// run runs a command on a daemon's machine.
func (s *hosts) run(ctx context.Context, h Host, command string) error {
	if h.Shell == "" {
		return fmt.Errorf("%s: the hostfile names no shell for its machine; add it behind the address of its page", h.Name)
	}
	words := make([]string, len(s.cfg.Shell))
	for i, word := range s.cfg.Shell {
		words[i] = strings.ReplaceAll(word, "{host}", h.Shell)
	}
	ctx, cancel := context.WithTimeout(ctx, commandPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], command)...)
	var stderr bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &stderr, time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %q: %w: %s", h.Name, command, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}

// pidPatience is how long a daemon may take to tell its process. One that stands
// still tells nothing.
const pidPatience = 700 * time.Millisecond

// process is a daemon with its process of this moment: it may have been started anew
// by others. pid is 0 when nothing listens at its page.
func (r *Rig) process(ctx context.Context, name string) (h Host, pid int, err error) {
	if h, _, err = r.hosts.host(name); err != nil {
		return h, 0, err
	}
	call, cancel := context.WithTimeout(ctx, pidPatience)
	defer cancel()
	if err := r.meet(call, h); errors.Is(err, syscall.ECONNREFUSED) {
		return h, 0, nil
	}
	return r.hosts.host(name)
}

// killHost ends a daemon as a crash does, and returns when it is gone; one that is
// gone is no error.
func (r *Rig) killHost(ctx context.Context, name string) error {
	h, pid, err := r.process(ctx, name)
	if err != nil || pid == 0 {
		return err
	}
	return r.hosts.run(ctx, h, signalCommand(syscall.SIGKILL, pid)+" && while "+runsCommand(pid)+"; do sleep 0.02; done")
}

// freezeHost stops a daemon, or has the one that was stopped go on; one that is gone
// is no error.
func (r *Rig) freezeHost(ctx context.Context, name string, sig syscall.Signal) error {
	h, pid, err := r.hosts.host(name) // of old: it does not answer
	if sig == syscall.SIGSTOP {
		h, pid, err = r.process(ctx, name)
	}
	if err != nil || pid == 0 {
		return err
	}
	return r.hosts.run(ctx, h, signalCommand(sig, pid))
}

// runsCommand tells whether a process runs. One that has ended and that nobody has
// waited for does not.
func runsCommand(pid int) string { return fmt.Sprintf("grep -qs '^State:.[^ZX]' /proc/%d/status", pid) }

// signalCommand sends a signal. It fails where that is not allowed, and not where the
// process is gone.
func signalCommand(sig syscall.Signal, pid int) string {
	return fmt.Sprintf("{ kill -%d %d || [ ! -e /proc/%d ]; }", int(sig), pid, pid)
}
