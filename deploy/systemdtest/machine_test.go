//go:build deploy

package systemdtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/testing/must"
)

// machinePath is PATH of programs on machines.
const machinePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// patience bounds each wait and each command. A tasknode may drain for 90 s before it stops.
const patience = 3 * time.Minute

// machine is a Debian machine that systemd has booted. Its files are those of the tree, and what has
// changed is in memory.
type machine struct {
	name, address string
	root          string // its files, as this process sees them
	init          *exec.Cmd
	ended         chan struct{} // closed when init has ended
	console       console
}

// console collects what the machine prints.
type console struct {
	mu struct {
		sync.Mutex
		text bytes.Buffer
	}
}

// Write implements io.Writer.
func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.text.Write(p)
}

func (c *console) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.text.String()
}

// newMachine makes the files of a machine in dir. The network namespace of its name has its address.
func newMachine(t *testing.T, dir, name, address string) *machine {
	t.Helper()
	m := &machine{name: name, address: address, root: filepath.Join(dir, name, "root"), ended: make(chan struct{})}
	upper, work := filepath.Join(dir, name, "upper"), filepath.Join(dir, name, "work")
	for _, d := range []string{m.root, upper, work} {
		must.Do(t, os.MkdirAll(d, 0o755))
	}
	tree, err := treeDir()
	must.Do(t, err)
	must.Do(t, mount{"overlay", m.root, "overlay", 0, fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", tree, upper, work)}.mount())
	t.Cleanup(func() { must.Do(t, errors.Join(unix.Unmount(m.root, 0), os.RemoveAll(filepath.Join(dir, name)))) })
	m.write(t, "/etc/hostname", name+"\n", 0o644)
	m.write(t, "/etc/machine-id", fmt.Sprintf("%032x\n", len(dir)+int(name[1])), 0o444)
	return m
}

// boot starts systemd, with control groups of a version, and waits until it has started its units.
func (m *machine) boot(t *testing.T, cgroup int) {
	t.Helper()
	groups, mounts, err := groupsOf(m.name, m.root, cgroup)
	must.Do(t, err)
	terminal, name := newTerminal(t)
	text, err := json.Marshal(bootConfig{Name: m.name, Root: m.root, Console: name, Groups: groups, Mounts: mounts})
	must.Do(t, err)
	m.init = exec.Command(os.Args[0])
	m.init.Env = append(os.Environ(), stageVariable+"="+stageBoot, bootVariable+"="+string(text))
	m.init.Stdout, m.init.Stderr = &m.console, &m.console
	m.init.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		Setsid:     true,
	}
	must.Do(t, m.init.Start())
	go func() {
		_ = m.init.Wait() // a machine ends by a signal; tests look at ended
		close(m.ended)
	}()
	t.Cleanup(func() {
		_ = m.init.Process.Kill() // it may have ended
		<-m.ended
		for _, group := range groups {
			must.Do(t, removeGroup(group))
		}
	})
	go func() { // until the last process on the machine has closed the terminal
		buffer := make([]byte, 4096)
		for {
			n, err := terminal.Read(buffer)
			_, _ = m.console.Write(buffer[:n])
			if err != nil {
				return
			}
		}
	}()
	m.until(t, "systemd has started its units", func() bool {
		state, _ := m.try("systemctl", "is-system-running") // it fails unless the state is running
		return state == "running" || state == "degraded"
	})
}

// newTerminal returns a terminal and the name of its other end.
func newTerminal(t *testing.T) (*os.File, string) {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	must.Do(t, err)
	t.Cleanup(func() { terminal.Close() })
	must.Do(t, unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPTN)
	must.Do(t, err)
	return terminal, "/dev/pts/" + strconv.Itoa(number)
}

// halted reports whether the machine has ended.
func (m *machine) halted() bool {
	select {
	case <-m.ended:
		return true
	default:
		return false
	}
}

// try runs a command as root on the machine, and returns its standard output without the last
// newline. An error has the rest.
func (m *machine) try(args ...string) (string, error) {
	if m.halted() {
		return "", fmt.Errorf("machine %s has ended", m.name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	enter := []string{"--target", strconv.Itoa(m.init.Process.Pid), "--mount", "--uts", "--ipc", "--net", "--pid", "--",
		"env", "-i", "PATH=" + machinePath, "HOME=/root", "LC_ALL=C", "TERM=dumb", "DEBIAN_FRONTEND=noninteractive"}
	cmd := exec.CommandContext(ctx, "nsenter", append(enter, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %q: %w: %s%s", m.name, args, err, out, stderr.Bytes())
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

// do runs a command as root on the machine. It must succeed.
func (m *machine) do(t *testing.T, args ...string) string {
	t.Helper()
	out, err := m.try(args...)
	must.Do(t, err)
	return out
}

// addAlice adds a user account, alice, with a copy of the cluster's token.
func (m *machine) addAlice(t *testing.T, secret string) {
	t.Helper()
	m.do(t, "useradd", "--create-home", "--uid=2000", "alice")
	m.giveAlice(t, secret)
}

// giveAlice gives alice the secret of a cluster.
func (m *machine) giveAlice(t *testing.T, secret string) {
	t.Helper()
	m.write(t, "/home/alice/secret", secret, 0o600)
	m.do(t, "chown", "alice:", "/home/alice/secret")
}

// asAlice returns a command of the user alice.
func asAlice(args ...string) []string {
	return append([]string{"setpriv", "--reuid=alice", "--regid=alice", "--init-groups", "env", "HOME=/home/alice", "USER=alice",
		"HAMMR_TOKEN_FILE=/home/alice/secret"}, args...)
}

// client runs a command of hammr as alice, which asks the masters. It must succeed.
func (m *machine) client(t *testing.T, args ...string) string {
	t.Helper()
	return m.do(t, asAlice(append([]string{"HAMMR_MASTER=n1,n2,n3", "hammr"}, args...)...)...)
}

// shell runs a script of sh as root. It must succeed.
func (m *machine) shell(t *testing.T, script string) string {
	t.Helper()
	return m.do(t, "sh", "-euc", script)
}

// write writes a file of the machine.
func (m *machine) write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	file := filepath.Join(m.root, name)
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.Do(t, os.RemoveAll(file))
	must.Do(t, os.WriteFile(file, []byte(text), mode))
}

// replace replaces texts in a file of the machine, which must be there: old, new, ….
func (m *machine) replace(t *testing.T, name string, texts ...string) {
	t.Helper()
	file := filepath.Join(m.root, name)
	data, err := os.ReadFile(file)
	must.Do(t, err)
	for i := 0; i < len(texts); i += 2 {
		if !strings.Contains(string(data), texts[i]) {
			t.Fatalf("%s of %s has no %q:\n%s", name, m.name, texts[i], data)
		}
	}
	must.Do(t, os.WriteFile(file, []byte(strings.NewReplacer(texts...).Replace(string(data))), 0o644))
}

// property returns a property of a unit.
func (m *machine) property(t *testing.T, unit, name string) string {
	t.Helper()
	return m.do(t, "systemctl", "show", "--property="+name, "--value", unit)
}

// journal returns the log of a unit.
func (m *machine) journal(t *testing.T, unit string) string {
	t.Helper()
	return m.do(t, "journalctl", "--no-pager", "--output=cat", "--unit="+unit)
}

// until waits until a condition of the machine holds.
func (m *machine) until(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !done(); <-tick.C {
		if m.halted() {
			t.Fatalf("%s ended before %s; its console:\n%s", m.name, what, m.console.String())
		}
		if time.Now().After(end) {
			t.Fatalf("waiting in vain until %s: on %s", what, m.name)
		}
	}
}

// daemonState is the state of a daemon's unit, as lines to compare.
type daemonState struct{ pid, active string }

func (m *machine) daemon(t *testing.T, unit string) daemonState {
	t.Helper()
	return daemonState{m.property(t, unit, "MainPID"), m.property(t, unit, "ActiveState")}
}

// untilRestarted waits until another process of a unit is ready.
func (m *machine) untilRestarted(t *testing.T, unit string, before daemonState) {
	t.Helper()
	m.until(t, unit+" is ready again", func() bool {
		now := m.daemon(t, unit)
		return now.active == "active" && now.pid != "0" && now.pid != before.pid
	})
}
