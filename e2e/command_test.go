package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hammr/hammr/internal/testing/must"
)

// command is one run of a program.
type command struct {
	program string        // default: hammr
	args    []string      // its command line
	env     []string      // added to the environment of every command
	limit   time.Duration // 0: defaultLimit; a daemon has none
	daemon  bool
	// credential is the user to run as; nil is the user of the test.
	credential *syscall.Credential
}

// result is the result of a command.
type result struct {
	code           int
	stdout, stderr string
	took           time.Duration
	maxRSS         int64 // bytes
}

// process is a running command.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	began          time.Time
	temp           string
	cancel         context.CancelFunc
	waited         bool
}

// defaultLimit ends a command that hangs. It first prints its goroutine stacks.
const defaultLimit = 5 * time.Minute

// start starts a command in a process group and with a temporary directory of its own. The
// caller waits for it.
func start(t *testing.T, c command) *process {
	t.Helper()
	p := prepare(t, c)
	p.begin(t)
	return p
}

// prepare returns a command that has not been started.
func prepare(t *testing.T, c command) *process {
	t.Helper()
	if c.program == "" {
		c.program = hammr
	}
	if c.limit == 0 {
		c.limit = defaultLimit
	}
	home := t.TempDir()
	p := &process{temp: filepath.Join(home, "tmp")}
	must.Do(t, os.Mkdir(p.temp, 0o755))
	ctx, cancel := context.WithCancel(context.Background())
	if !c.daemon {
		ctx, cancel = context.WithTimeout(ctx, c.limit)
	}
	p.cancel = cancel
	p.cmd = exec.CommandContext(ctx, c.program, c.args...)
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGQUIT) }
	p.cmd.WaitDelay = 10 * time.Second
	p.cmd.Dir = home
	p.cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + p.temp, "LC_ALL=C", "HADOOP_USER_NAME=tester",
	}, c.env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: c.credential}
	if c.credential != nil {
		openWay(t, filepath.Dir(c.program))
		openWay(t, home)
		openWay(t, p.temp)
	}
	return p
}

func (p *process) begin(t *testing.T) {
	t.Helper()
	p.began = time.Now()
	must.Do(t, p.cmd.Start())
	t.Cleanup(func() {
		if !p.waited {
			p.cmd.Process.Kill()
			p.cmd.Wait()
			p.cancel()
		}
	})
}

// wait waits for the end of a command and checks that it leaves no process and no file.
func (p *process) wait(t *testing.T) result {
	t.Helper()
	r := p.waitOnly(t)
	if err := syscall.Kill(-p.cmd.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("processes of %v are left: %v", p.cmd.Args, err)
	}
	left, err := os.ReadDir(p.temp)
	must.Do(t, err)
	for _, entry := range left {
		t.Errorf("%v left %s in its temporary directory", p.cmd.Args, entry.Name())
	}
	return r
}

// waitOnly waits for the end of a command that was killed and may leave files behind.
func (p *process) waitOnly(t *testing.T) result {
	t.Helper()
	err := p.cmd.Wait()
	p.waited = true
	p.cancel()
	took := time.Since(p.began)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || p.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGQUIT {
		t.Fatalf("%v after %v: %v\n%s", p.cmd.Args, took, err, p.stderr.String())
	}
	usage := p.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return result{
		code: p.cmd.ProcessState.ExitCode(), stdout: p.stdout.String(), stderr: p.stderr.String(),
		took: took, maxRSS: usage.Maxrss << 10,
	}
}

// run runs hammr to its end.
func run(t *testing.T, args ...string) result {
	t.Helper()
	return start(t, command{args: args}).wait(t)
}

// done runs hammr, which must succeed.
func done(t *testing.T, args ...string) result {
	t.Helper()
	r := run(t, args...)
	r.want(t, 0)
	return r
}

// want checks the exit code, and that stderr contains each of the texts.
func (r result) want(t *testing.T, code int, texts ...string) {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit code %d after %v, want %d; stderr:\n%s", r.code, r.took, code, r.stderr)
	}
	for _, text := range texts {
		if !strings.Contains(r.stderr, text) {
			t.Errorf("stderr does not hold %q:\n%s", text, r.stderr)
		}
	}
}

// atOnce checks that the command has not waited for another master.
func (r result) atOnce(t *testing.T) {
	t.Helper()
	if strings.Contains(r.stderr, "waiting up to") {
		t.Errorf("waited for another master; stderr:\n%s", r.stderr)
	}
}

// shell runs a pipeline of system tools in the C locale, with the files as "$@", and returns
// its output.
func shell(t *testing.T, pipeline string, files ...string) []byte {
	t.Helper()
	for _, tool := range []string{"sh", "sort", "uniq", "grep", "awk", "tr"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no tools to compare with: %v", err)
		}
	}
	cmd := exec.Command("sh", append([]string{"-c", pipeline, "sh"}, files...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TMPDIR=" + t.TempDir()}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", pipeline, err, stderr.String())
	}
	return out
}

// children returns the child processes of this process.
func children() []string {
	var found []string
	for _, pid := range childrenOf(os.Getpid()) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		found = append(found, fmt.Sprintf("%d (%.60s)", pid, line))
	}
	return found
}

// childrenOf returns the child processes of a process, including zombies.
func childrenOf(parent int) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		if fields := statFields(stat); err == nil && len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// statFields returns the fields of a stat file of a process or thread, from its state on;
// nil if it has ended.
func statFields(file string) []string {
	line, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(line), ") ")
	return strings.Fields(rest)
}

// subtest runs a function as a subtest.
type subtest func(name string, f func(t *testing.T))

// concurrently calls a function that names subtests, runs them, as many at once as there are CPUs, and waits
// for them. Subtests that call t.Parallel would first wait for the parallel tests that have not begun, for
// minutes, while the cluster of their test is idle.
func concurrently(t *testing.T, all func(run subtest)) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	all(func(name string, f func(t *testing.T)) {
		group.Go(func() error {
			t.Run(name, f)
			return nil
		})
	})
	must.Do(t, group.Wait())
}
