package localcluster_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// config returns the Config of a detached cluster in a directory of the test. The cluster
// ends with the test.
func config(t *testing.T) localcluster.Config {
	t.Helper()
	cfg := localcluster.Config{Dir: t.TempDir(), Program: []string{os.Args[0]}, Masters: 1, Tasknodes: 2, Detach: true, StartTimeout: time.Minute}
	t.Cleanup(func() {
		if _, err := localcluster.Down(context.Background(), cfg.Dir); err != nil {
			t.Error(err)
		}
	})
	return cfg
}

func up(t *testing.T, cfg localcluster.Config) *localcluster.State {
	t.Helper()
	c, err := localcluster.Up(t.Context(), cfg)
	must.Do(t, err)
	c.Release()
	return published(t, cfg.Dir, c)
}

// published returns the state in cluster.json, which must equal the state that Up returned.
func published(t *testing.T, dir string, c *localcluster.Cluster) *localcluster.State {
	t.Helper()
	s, err := localcluster.ReadState(dir)
	must.Do(t, err)
	if len(s.Masters) != len(c.State.Masters) || len(s.Tasknodes) != len(c.State.Tasknodes) {
		t.Errorf("cluster.json has %+v, Up returned %+v", s, c.State)
	}
	return s
}

func processes(s *localcluster.State) (all []localcluster.Process) {
	for _, m := range s.Masters {
		all = append(all, m.Process)
	}
	for _, n := range s.Tasknodes {
		all = append(all, n.Process)
	}
	return all
}

// running returns how many of the processes exist, zombies not counted.
func running(all []localcluster.Process) (n int) {
	for _, p := range all {
		line, err := os.ReadFile("/proc/" + itoa(p.PID) + "/cmdline")
		if err == nil && len(line) > 0 && strings.Contains(string(line), p.Dir) {
			n++
		}
	}
	return n
}

func log(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "logs", name+".log"))
	must.Do(t, err)
	return string(text)
}

// saidBy returns what a daemon has written to stdout and stderr instead of its log.
func saidBy(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "logs", name+".err"))
	must.Do(t, err)
	return string(text)
}

func TestUpAndDown(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.Masters = 3
	s := up(t, cfg)
	all := processes(s)
	if len(s.Masters) != 3 || len(s.Tasknodes) != 2 || s.ID == "" || running(all) != 5 {
		t.Fatalf("%d run of %+v", running(all), s)
	}
	seen := make(map[string]bool)
	for i, p := range all {
		if p.Address == "" || p.HTTP == "" || seen[p.Address] && i < 3 || filepath.Dir(p.Dir) != cfg.Dir {
			t.Errorf("process %+v", p)
		}
		seen[p.Address] = true
	}
	info, err := os.Stat(filepath.Join(cfg.Dir, localcluster.TokenFile))
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() < 20 {
		t.Errorf("token %v, %v", info, err)
	}
	if ended, err := localcluster.Down(t.Context(), cfg.Dir); !ended || err != nil {
		t.Fatalf("down: %v, %v", ended, err)
	}
	if n := running(all); n != 0 {
		t.Errorf("%d still run", n)
	}
	if _, err := localcluster.ReadState(cfg.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("state after down: %v", err)
	}
	if text := log(t, cfg.Dir, "n2"); text != "tasknode n2 begins\nn2 ends\n" {
		t.Errorf("log of n2: %q", text)
	}
	if text := saidBy(t, cfg.Dir, "n2"); text != "n2 crashes now and then\n" {
		t.Errorf("n2 printed %q", text)
	}
	if ended, err := localcluster.Down(t.Context(), cfg.Dir); ended || err != nil {
		t.Errorf("second down: %v, %v", ended, err)
	}
	if ended, err := localcluster.Down(t.Context(), "/no/such"); ended || err != nil {
		t.Errorf("down of nothing: %v, %v", ended, err)
	}
}

// TestUpAgain checks that Up of an existing cluster starts the old layout, with the same id
// and the same addresses of masters, whatever its Config.
func TestUpAgain(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	first := up(t, cfg)
	if same := up(t, cfg); !slices.Equal(processes(same), processes(first)) {
		t.Errorf("a second up of what runs: %+v, was %+v", same, first)
	}
	must.Do(t, syscall.Kill(first.Tasknodes[0].PID, syscall.SIGKILL))
	waitUntil(t, func() bool { return running(processes(first)) == 2 && !first.Tasknodes[0].Alive() })
	mended := up(t, cfg)
	if mended.Tasknodes[0].PID == first.Tasknodes[0].PID || mended.Tasknodes[1] != first.Tasknodes[1] || !slices.Equal(mended.Masters, first.Masters) {
		t.Errorf("restarted as %+v, was %+v", mended, first)
	}
	if _, err := localcluster.Down(t.Context(), cfg.Dir); err != nil {
		t.Fatal(err)
	}
	cfg.Masters, cfg.Tasknodes = 3, 1
	again := up(t, cfg)
	if text := saidBy(t, cfg.Dir, "n1"); text != "n1 crashes now and then\n" {
		t.Errorf("its other output has more than that since the latest start: %q", text)
	}
	if again.ID != first.ID || !slices.Equal(again.Addresses(), first.Addresses()) || len(again.Tasknodes) != 2 {
		t.Errorf("again %+v, was %+v", again, first)
	}
}

func TestAdd(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	if _, err := localcluster.Add(t.Context(), cfg, 1); err == nil || !strings.Contains(err.Error(), "no cluster in") {
		t.Errorf("adding to nothing: %v", err)
	}
	first := up(t, cfg)
	cfg.Addresses = []string{"127.0.0.5", "127.0.0.6"}
	c, err := localcluster.Add(t.Context(), cfg, 2)
	must.Do(t, err)
	c.Release()
	s := published(t, cfg.Dir, c)
	if len(s.Tasknodes) != 4 || s.Tasknodes[3].Name != "n4" || s.Tasknodes[3].Address != "127.0.0.6:1" || s.Tasknodes[0] != first.Tasknodes[0] {
		t.Errorf("got %+v", s.Tasknodes)
	}
	if running(processes(s)) != 5 {
		t.Errorf("%d run", running(processes(s)))
	}
}

// TestFailedStart checks that a failed start ends all daemons and reports the cause.
func TestFailedStart(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]string{
		"dies":  "n2 ended: exit status 1; the end of its log",
		"hangs": "n2 is not ready: timed out after 10s; the end of its log",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			cfg := config(t)
			cfg.TasknodeFlags = []string{"--fault", "n2", fault}
			if fault == "hangs" {
				cfg.StartTimeout = 10 * time.Second // a busy machine starts the other daemons within this time
			}
			_, err := localcluster.Up(t.Context(), cfg)
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "\n  tasknode n2 begins") {
				t.Fatalf("got %v", err)
			}
			if fault == "dies" && !strings.Contains(err.Error(), "\nand of its other output, "+filepath.Join(cfg.Dir, "logs", "n2.err")+":\n  n2 crashes now and then\n  address already in use") {
				t.Errorf("got %v", err)
			}
			// n1 may be ended before it has a log.
			if text := log(t, cfg.Dir, "m1"); !strings.Contains(text, "m1 ends") {
				t.Errorf("log of m1: %q", text)
			}
			if _, err := localcluster.ReadState(cfg.Dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("state: %v", err)
			}
		})
	}
}

// TestUnpublishedStart checks that all daemons end if the cluster is ready and cannot be published.
func TestUnpublishedStart(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	state := filepath.Join(cfg.Dir, localcluster.StateFile)
	cfg.BeforeStart = func(name, _ string, _ *exec.Cmd) error {
		if name != "n2" {
			return nil
		}
		return os.MkdirAll(filepath.Join(state, "taken"), 0o755)
	}
	if _, err := localcluster.Up(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), state) {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"m1", "n1", "n2"} {
		if text := log(t, cfg.Dir, name); !strings.Contains(text, name+" ends") {
			t.Errorf("log of %s: %q", name, text)
		}
	}
	must.Do(t, os.RemoveAll(state))
}

func TestInterruptedStart(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.TasknodeFlags = []string{"--fault", "n2", "hangs"}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		waitUntil(t, func() bool {
			_, err := os.Stat(filepath.Join(cfg.Dir, "logs", "n2.log"))
			return err == nil
		})
		cancel()
	}()
	if _, err := localcluster.Up(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestDaemonThatIgnoresSIGTERM checks that a daemon that does not end is killed. It takes the time that a daemon is
// given to end.
//
// Gate: internal/kit/procfs.TestEnd
func TestDaemonThatIgnoresSIGTERM(t *testing.T) {
	testlevel.Nightly(t)
	t.Parallel()
	cfg := config(t)
	cfg.TasknodeFlags = []string{"--fault", "n1", "deaf"}
	s := up(t, cfg)
	if _, err := localcluster.Down(t.Context(), cfg.Dir); err != nil || running(processes(s)) != 0 {
		t.Errorf("%v; %d still run", err, running(processes(s)))
	}
}

// TestForeignProcess checks that Down does not end a foreign process whose id is in
// cluster.json.
func TestForeignProcess(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	s := up(t, cfg)
	foreign := exec.Command("sleep", "60")
	must.Do(t, foreign.Start())
	defer func() { foreign.Process.Kill(); foreign.Wait() }()
	path := filepath.Join(cfg.Dir, localcluster.StateFile)
	text, err := os.ReadFile(path)
	must.Do(t, err)
	ours := s.Tasknodes[0]
	named := strings.Replace(string(text), `"pid": `+itoa(ours.PID), `"pid": `+itoa(foreign.Process.Pid), 1)
	must.Do(t, os.WriteFile(path, []byte(named), 0o644))
	if _, err := localcluster.Down(t.Context(), cfg.Dir); err != nil {
		t.Fatal(err)
	}
	if err := foreign.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the foreign process: %v", err)
	}
	if err := syscall.Kill(ours.PID, syscall.SIGTERM); err != nil { // a process that cluster.json no longer names
		t.Errorf("the tasknode that was not named: %v", err)
	}
}

func TestWaitInForeground(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.Detach = false
	c, err := localcluster.Up(t.Context(), cfg)
	must.Do(t, err)
	s := published(t, cfg.Dir, c)
	ctx, cancel := context.WithCancel(t.Context())
	var ended []string
	must.Do(t, syscall.Kill(s.Tasknodes[1].PID, syscall.SIGKILL))
	err = c.Wait(ctx, func(name, end string) {
		ended = append(ended, name+" "+end)
		cancel()
	})
	if err != nil || len(ended) != 1 || ended[0] != "n2 signal: killed" {
		t.Errorf("%v; ended %v", err, ended)
	}
	if n := running(processes(s)); n != 0 {
		t.Errorf("%d still run", n)
	}
}

// TestDownOfForeground checks that after Down the process that waits returns.
func TestDownOfForeground(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.Detach = false
	c, err := localcluster.Up(t.Context(), cfg)
	must.Do(t, err)
	waited := make(chan error, 1)
	go func() { waited <- c.Wait(context.Background(), nil) }()
	if ended, err := localcluster.Down(t.Context(), cfg.Dir); !ended || err != nil {
		t.Errorf("down: %v, %v", ended, err)
	}
	if err := <-waited; err != nil {
		t.Error(err)
	}
}

// TestForegroundKilled checks that no daemon outlives the process that started the cluster.
func TestForegroundKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "foreground", dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	must.Do(t, cmd.Start())
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
		localcluster.Down(context.Background(), dir)
	}()
	var s *localcluster.State
	waitUntil(t, func() (ok bool) {
		var err error
		s, err = localcluster.ReadState(dir)
		return err == nil
	})
	must.Do(t, cmd.Process.Kill())
	waitUntil(t, func() bool { return running(processes(s)) == 0 })
}

func TestInvalidConfig(t *testing.T) {
	t.Parallel()
	_, err := localcluster.Up(t.Context(), localcluster.Config{
		Masters: 2, Tasknodes: 3, MapSlots: -1, Addresses: []string{"127.0.0.1", "here"},
	})
	want := []string{
		"no directory for the cluster", "no program for the daemons", "2 masters; a cluster has 1, 3 or 5",
		"-1 map slots and 1 reduce slots; a tasknode has at least one of each", "2 addresses for 3 tasknodes", `"here" is not an IP address`,
	}
	if err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("got\n%v", err)
	}
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o644))
	_, err = localcluster.Up(t.Context(), localcluster.Config{Dir: dir, Program: []string{"x"}})
	if err == nil || !strings.Contains(err.Error(), "has thesis.tex in it and no cluster") {
		t.Errorf("a directory with other things: %v", err)
	}
}

// TestLockHasATimeLimit checks that Up waits only for a limited time for another Up.
func TestLockHasATimeLimit(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	f, err := os.OpenFile(filepath.Join(cfg.Dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	must.Do(t, err)
	defer f.Close()
	must.Do(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := localcluster.Up(ctx, cfg); err == nil || !strings.Contains(err.Error(), "another hammr up or down has") {
		t.Errorf("got %v", err)
	}
}
