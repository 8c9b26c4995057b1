package sshcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/ops/sshcluster/sshtest"
)

// lab has machines for a test, and models of daemons on them. The machines are directories of this
// machine, whose shell is sh, or addresses of it with an sshd.
type lab struct {
	t       *testing.T
	dir     string // has a directory for each machine
	hosts   []string
	command []string // the shell
	program string
	text    string   // of the hostfile
	admin   Admin    // nil for none
	kept    *Cluster // used by all commands; nil if each opens and closes one

	mu    sync.Mutex
	lines []string // of progress
}

// newLab makes machines a, b and c that are directories.
func newLab(t *testing.T) *lab {
	t.Helper()
	return makeLab(t, t.TempDir(), []string{"sh", "-c"}, "a", "b", "c")
}

// newSSHLab makes three machines with an sshd each.
func newSSHLab(t *testing.T) (*lab, *sshtest.Machines) {
	t.Helper()
	m := sshtest.Start(t, 3)
	return makeLab(t, m.Dir, strings.Fields(m.Shell(sshtest.UserKey)), m.Hosts...), m
}

// makeLab makes a hostfile of machines. All daemons are stopped when the test ends.
func makeLab(t *testing.T, dir string, command []string, hosts ...string) *lab {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%s\n* dir=%[2]s/{host} staging=file://%[2]s/staging slots=2 %s\n", strings.Join(hosts, "\n"), dir, modelSettings())
	l := &lab{t: t, dir: dir, hosts: hosts, command: command, program: self, text: text}
	t.Cleanup(func() {
		l.text, l.command = text, command
		// Tests of wrong directories have no cluster to stop.
		if c, err := l.open(context.Background()); err == nil {
			l.must(c.Stop(context.Background(), true, 0))
			l.must(c.Close())
		}
	})
	return l
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) config() Config {
	f, err := hostfile.Parse("hosts", []byte(l.text))
	l.must(err)
	return Config{
		File: f, Shell: l.command, Program: l.program, TokenFile: filepath.Join(l.dir, "token"), Timeout: 20 * time.Second,
		Progress: func(host, text string) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.lines = append(l.lines, host+": "+text)
		},
		Connect: func([]string, string) (Admin, error) {
			if l.admin == nil {
				return nil, errors.New("no masters")
			}
			return l.admin, nil
		},
	}
}

func (l *lab) open(ctx context.Context) (*Cluster, error) { return Open(ctx, l.config()) }

// keep opens the cluster for all commands until the function that it returns is called. To connect
// takes longer than a command.
func (l *lab) keep() (done func()) {
	l.t.Helper()
	c, err := l.open(l.t.Context())
	l.must(err)
	l.kept = c
	return func() {
		l.kept = nil
		l.close(c)
	}
}

// with opens the cluster, calls do and closes it.
func (l *lab) with(do func(c *Cluster) error) error {
	l.t.Helper()
	if l.kept != nil {
		l.must(l.kept.Look(l.t.Context()))
		return do(l.kept)
	}
	c, err := l.open(l.t.Context())
	l.must(err)
	err = do(c)
	l.close(c)
	return err
}

// close closes a cluster, and checks that no connection stays.
func (l *lab) close(c *Cluster) {
	l.t.Helper()
	l.must(c.Close())
	if sockets := c.shell.sockets; sockets != "" {
		l.awaitNoProcess(sockets)
	}
}

// awaitNoProcess waits until no process has a text on its command line.
func (l *lab) awaitNoProcess(text string) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	defer cancel()
	err := syncutil.Poll(ctx, 20*time.Millisecond, func(context.Context) (bool, error) { return l.processes(text) == 0, nil })
	if err != nil {
		l.t.Errorf("%d processes with %s are left", l.processes(text), text)
	}
}

// processes returns the number of processes with a text on their command line.
func (l *lab) processes(text string) (n int) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	l.must(err)
	for _, file := range files {
		line, _ := os.ReadFile(file) // a process may have ended
		if strings.Contains(string(line), text) {
			n++
		}
	}
	return n
}

func (l *lab) start() error {
	l.t.Helper()
	return l.with(func(c *Cluster) error { return c.Start(l.t.Context()) })
}

func (l *lab) stop() error {
	l.t.Helper()
	return l.with(func(c *Cluster) error { return c.Stop(l.t.Context(), true, 0) })
}

func (l *lab) status() (rows []Row) {
	l.t.Helper()
	l.must(l.with(func(c *Cluster) error {
		rows = c.Status(l.t.Context())
		return nil
	}))
	return rows
}

// states returns the states of all daemons, as "a jobmaster running".
func (l *lab) states() (states []string) {
	l.t.Helper()
	for _, r := range l.status() {
		states = append(states, fmt.Sprintf("%s %s %s", r.Host, r.Role, r.State))
	}
	return states
}

// want checks that all daemons have a state.
func (l *lab) want(state State) {
	l.t.Helper()
	for _, s := range l.states() {
		if !strings.HasSuffix(s, " "+string(state)) {
			l.t.Errorf("%s, want %s", s, state)
		}
	}
}

func (l *lab) wantError(err error, texts ...string) {
	l.t.Helper()
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			l.t.Errorf("got %v, want %q", err, text)
		}
	}
}

func (l *lab) read(name string) string {
	l.t.Helper()
	text, err := os.ReadFile(filepath.Join(l.dir, name))
	l.must(err)
	return string(text)
}

// signalDaemon sends a signal to a daemon such as b/tasknode, and waits until a process that
// is killed is gone.
func (l *lab) signalDaemon(daemon, signal string) {
	l.t.Helper()
	pid := strings.TrimSpace(l.read(daemon + ".pid"))
	sh, err := newShell([]string{"sh", "-c"})
	l.must(err)
	_, err = sh.run(l.t.Context(), &Host{Name: "here"}, fmt.Sprintf("kill -%s %s && while [ %s = KILL ] && grep -qs '^State:.[^ZX]' /proc/%s/status; do sleep 0.02; done", signal, pid, signal, pid))
	l.must(err)
}

func (l *lab) write(name, text string) {
	l.t.Helper()
	l.must(os.MkdirAll(filepath.Dir(filepath.Join(l.dir, name)), 0o755))
	l.must(os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o644))
}
