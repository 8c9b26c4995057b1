package sshcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/kit/syncutil"
)

// shell runs scripts on machines. It has no goroutines of its own.
//
// With OpenSSH all commands for a machine share one connection, which the first of them opens.
// ssh keeps it in a process of its own, which close ends.
type shell struct {
	words   []string // the command; {host} stands for the machine
	sockets string   // directory of the shared connections; "" for none

	mu struct {
		sync.Mutex
		targets map[string]bool // machines with a shared connection
	}
}

// maxSocketParent is the longest directory in which ssh can make the sockets of shared
// connections: the path of a socket has at most 107 bytes, of which hammr-ssh-N, a hash and a
// temporary suffix take up to 80.
const maxSocketParent = 27

// connectTimeout is how long ssh waits for a machine.
const connectTimeout = 10 * time.Second

// newShell returns a shell for a command such as hostfile.DefaultShell. The caller calls
// close.
func newShell(words []string) (*shell, error) {
	s := &shell{words: words}
	s.mu.targets = make(map[string]bool)
	options := strings.ToLower(strings.Join(words, " "))
	if filepath.Base(words[0]) != "ssh" {
		return s, nil
	}
	s.words = slices.Clone(words)
	if !strings.Contains(options, "connecttimeout") {
		s.addOption(fmt.Sprintf("ConnectTimeout=%d", int(connectTimeout.Seconds())))
	}
	if strings.Contains(options, "controlpath") || strings.Contains(options, "controlmaster") {
		return s, nil // the user shares connections
	}
	parent := os.TempDir()
	if len(parent) > maxSocketParent {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "hammr-ssh-")
	if err != nil {
		return nil, fmt.Errorf("directory for connections: %w", err)
	}
	s.sockets = dir
	s.addOption("ControlMaster=auto")
	s.addOption("ControlPersist=60")
	s.addOption("ControlPath=" + filepath.Join(dir, "%C"))
	return s, nil
}

// addOption adds an option of ssh, before its other words.
func (s *shell) addOption(option string) { s.words = slices.Insert(s.words, 1, "-o", option) }

// close ends the shared connections.
func (s *shell) close() error {
	if s.sockets == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = syncutil.Each(slices.Collect(maps.Keys(s.mu.targets)), 0, func(target string) error {
		words := hostfile.ShellWords(slices.Insert(slices.Clone(s.words), 1, "-O", "exit"), target)
		ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
		defer cancel()
		return exec.CommandContext(ctx, words[0], words[1:]...).Run()
	}) // without a connection there is nothing to end
	return os.RemoveAll(s.sockets)
}

// run runs a script on a host and returns its output.
func (s *shell) run(ctx context.Context, h *Host, script string) (stdout string, err error) {
	return s.command(ctx, h, "sh -s", strings.NewReader(script))
}

// feed runs a script on a host with a standard input.
func (s *shell) feed(ctx context.Context, h *Host, script string, stdin io.Reader) (stdout string, err error) {
	return s.command(ctx, h, "sh -c "+hostfile.Quote(script), stdin)
}

func (s *shell) command(ctx context.Context, h *Host, command string, stdin io.Reader) (string, error) {
	words := append(hostfile.ShellWords(s.words, h.Target), command)
	s.mu.Lock()
	s.mu.targets[h.Target] = true
	s.mu.Unlock()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.SysProcAttr = ownGroup()
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stdin, &stdout, &stderr, 2*time.Second
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // the command has ended, and ssh keeps the connection in the background
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", h.Name, s.describe(ctx, h, err, stderr.String()))
	}
	return stdout.String(), nil
}

// sshFailed is the exit code of ssh if it has no connection. Scripts do not use it.
const sshFailed = 255

// describe returns an error that says what happened on a machine and what to do. Messages of
// ssh are recognized by their text, since it has one exit code for all.
func (s *shell) describe(ctx context.Context, h *Host, err error, stderr string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	stderr = strings.TrimSpace(stderr)
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return fmt.Errorf("%s: %w", s.words[0], err)
	}
	if remedy := sshRemedy(exit.ExitCode(), stderr, h.Target); remedy != "" {
		return fmt.Errorf("%s; %s", lastLine(stderr), remedy)
	}
	if strings.Contains(stderr, "No space left on device") {
		return fmt.Errorf("%s; free some space, or choose another directory with dir=", stderr)
	}
	if stderr == "" {
		return fmt.Errorf("%w and printed no cause", err)
	}
	return errors.New(stderr)
}

// sshRemedy says what to do about a connection that failed, "" if it did not.
func sshRemedy(code int, stderr, target string) string {
	contains := func(texts ...string) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(stderr, t) })
	}
	switch {
	case code != sshFailed:
		return ""
	case contains("IDENTIFICATION HAS CHANGED"):
		return "the machine has another key than in known_hosts: if it was installed again, remove the old key with 'ssh-keygen -R', else do not trust it"
	case contains("Host key verification failed"):
		return fmt.Sprintf("the machine's key is not in known_hosts: run 'ssh %s' once and compare it, or add -o StrictHostKeyChecking=accept-new to --shell", target)
	case contains("Permission denied", "Too many authentication failures"):
		return fmt.Sprintf("the machine accepts no key of yours: try 'ssh %s', and add your public key there with 'ssh-copy-id %s'", target, target)
	case contains("Could not resolve hostname"):
		return "correct the name in the hostfile, or add it to the configuration of ssh"
	case contains("timed out", "refused", "No route to host", "Network is unreachable"):
		return "start the machine and its sshd, or remove its line from the hostfile"
	}
	return fmt.Sprintf("try 'ssh %s'", target)
}

// lastLine returns the last line of what ssh prints, which has the cause.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
