package guard_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/guard"
	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/testing/must"
)

// startTasknode starts a daemon below a directory, and returns its process. All that runs there ends
// with the test.
func startTasknode(t *testing.T, dir string) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "--config", filepath.Join(dir, "tasknode.yaml"))
	cmd.Env = append(os.Environ(), insideMark+"=daemon")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	must.Do(t, err)
	must.Do(t, cmd.Start())
	go func() { _ = cmd.Wait() }() // it is killed
	_, err = bufio.NewReader(out).ReadString('\n')
	must.Do(t, err)
	must.Do(t, os.WriteFile(filepath.Join(dir, "tasknode.pid"), []byte(strconv.Itoa(cmd.Process.Pid)+"\n"), 0o600))
	t.Cleanup(func() { _ = syscall.Kill(pidOf(t, dir), syscall.SIGKILL) })
	return cmd.Process.Pid
}

func pidOf(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "tasknode.pid"))
	must.Do(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	must.Do(t, err)
	return pid
}

// inject injects a fault, and returns a function that ends it.
func inject(t *testing.T, g guard.Guard, kind chaos.Kind, role chaos.Role) (end func()) {
	t.Helper()
	f, err := chaos.MachineFault(kind, role, "", time.Hour)
	must.Do(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done, injected := make(chan error, 1), make(chan guard.Record, 1)
	go func() { done <- g.Run(ctx, f, false, func(r guard.Record) { injected <- r }) }()
	select {
	case err := <-done:
		must.Do(t, errors.Join(err, errors.New("it is not injected")))
	case <-injected:
	}
	return func() {
		t.Helper()
		cancel()
		must.Do(t, <-done)
	}
}

// children returns the children of a process with a state of /proc.
func children(parent int, state string) (n int) {
	for _, p := range procfs.All() {
		if p.Parent == parent && strings.HasPrefix(procfs.Field("/proc/"+strconv.Itoa(p.PID)+"/status", "State"), state) {
			n++
		}
	}
	return n
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := syncutil.Poll(ctx, 5*time.Millisecond, func(context.Context) (bool, error) { return ok(), nil }); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// TestKilledDaemonStartsAgain checks that a daemon comes back with its command line, and that its
// process is known to the scripts.
func TestKilledDaemonStartsAgain(t *testing.T) {
	t.Parallel()
	g := guard.Guard{Dir: t.TempDir()}
	pid := startTasknode(t, g.Dir)
	end := inject(t, g, chaos.Kill, chaos.Machine)
	if procfs.StartTime(pid) != "" {
		t.Error("the tasknode runs")
	}
	end()
	again := pidOf(t, g.Dir)
	words, err := os.ReadFile("/proc/" + strconv.Itoa(again) + "/cmdline")
	if err != nil || again == pid || !strings.HasSuffix(string(words), g.Dir+"/tasknode.yaml\x00") {
		t.Errorf("process %d, before %d: %q: %v", again, pid, words, err)
	}
	await(t, "the task", func() bool { return children(again, "S") == 1 })
}

// TestTaskIsStoppedAlone stops the task of a tasknode, and then kills it.
func TestTaskIsStoppedAlone(t *testing.T) {
	t.Parallel()
	g := guard.Guard{Dir: t.TempDir()}
	pid := startTasknode(t, g.Dir)
	end := inject(t, g, chaos.Stop, chaos.Task)
	await(t, "the stop", func() bool { return children(pid, "T") == 1 })
	end()
	await(t, "the end of the stop", func() bool { return children(pid, "T") == 0 && children(pid, "S") == 1 })

	f, err := chaos.MachineFault(chaos.Kill, chaos.Task, "", time.Hour)
	must.Do(t, err)
	must.Do(t, g.Run(t.Context(), f, false, func(guard.Record) {})) // nothing is to be ended
	if procfs.StartTime(pid) == "" || children(pid, "S") != 0 {
		t.Error("another process than the task was killed")
	}
	if err := g.Run(t.Context(), f, false, func(guard.Record) {}); !errors.Is(err, chaos.ErrNoTarget) {
		t.Errorf("without a task: %v", err)
	}
	if list, err := g.List(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("left: %v, %v", list, err)
	}
}

// TestRefusals checks that faults without a bound, and those that harm the machine, are refused.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]chaos.Fault{
		"up to 1h0m0s":            {Kind: chaos.Stop, For: 2 * time.Hour},
		"more than 0s":            {Kind: chaos.Kill},
		"inside of daemons":       {Kind: chaos.SlowDisk, For: time.Second},
		"on the root file system": {Kind: chaos.FullDisk, For: time.Second},
	} {
		if err := (guard.Guard{Dir: "/"}).Run(t.Context(), f, false, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", f, err, want)
		}
	}
}
