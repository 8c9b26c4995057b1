package process

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/tasknode"
	"github.com/hammr/hammr/tasknode/artifact"
	"golang.org/x/sys/unix"
)

var _ Programs = (*artifact.Cache)(nil)

// fakePrograms maps names of programs to files; "self" is the test binary.
type fakePrograms map[string]string

func (s fakePrograms) Get(_ context.Context, name string, _ []byte) (string, func(), error) {
	if path := s[name]; path != "" {
		return path, func() {}, nil
	}
	path, err := os.Executable()
	return path, func() {}, err
}

func newLauncher(t testing.TB, cfg Config) *Launcher {
	t.Helper()
	if cfg.Programs == nil {
		cfg.Programs = fakePrograms{}
	}
	if cfg.Environ == nil {
		cfg.Environ = os.Environ()
	}
	// The race detector has programs wait for a second at their end.
	cfg.Environ = append(cfg.Environ, "GORACE=atexit_sleep_ms=0")
	cfg.TaskVariables = append(cfg.TaskVariables, roleEnv)
	l, err := New(cfg)
	must.Do(t, err)
	t.Cleanup(l.Close)
	return l
}

// startMessage is the Start of a map over three lines.
func startMessage(t testing.TB, action string) *taskproc.Start {
	t.Helper()
	dir := t.TempDir()
	input := filepath.Join(dir, "in")
	must.Do(t, os.WriteFile(input, []byte("one\ntwo\nthree\n"), 0o644))
	local := filepath.Join(dir, "job_1_0001", taskdir.InJob("attempt_1_0001_m_000000_0"))
	for _, made := range []string{local, filepath.Join(dir, "stage")} { // the master makes the second one
		must.Do(t, os.MkdirAll(made, 0o755))
	}
	return &taskproc.Start{
		JobId: "job_1_0001", AttemptId: filepath.Base(local), Program: "job", Binary: "file:///stage/self",
		Kind: taskproc.Kind_MAP, LocalDir: local, OutputDir: "file://" + dir + "/stage", Maps: 1,
		Properties:  map[string]string{actionProperty: action, conf.MapMemoryMB: "2048"},
		Split:       &taskproc.Split{Parts: []*taskproc.Split_Part{{Path: "file://" + input, Length: 14, FileSize: 14}}},
		Range:       &taskproc.Range{Start: &taskproc.Position{}, End: &taskproc.Position{Offset: 14}},
		Fingerprint: dag.MapReduce(1, 0).Fingerprint(),
	}
}

// running is a task that the test has launched, with its connection.
type running struct {
	t     testing.TB
	start *taskproc.Start
	task  tasknode.Task
	end   taskproc.TasknodeEnd
	done  *taskproc.Finished // as received by runThrough
}

func launch(ctx context.Context, t testing.TB, l *Launcher, start *taskproc.Start) *running {
	t.Helper()
	task, err := l.Launch(ctx, start)
	must.Do(t, err)
	r := &running{t: t, start: start, task: task, end: taskproc.NewTasknodeEnd(task.Conn())}
	t.Cleanup(func() { r.end.Close() })
	_ = r.end.Send(&taskproc.ToTask{Message: &taskproc.ToTask_Start{Start: start}}) // a task may be gone already
	return r
}

// last reads until the task closes the connection and returns its last message, nil for
// none.
func (r *running) last() (last *taskproc.FromTask) {
	for {
		m, err := r.end.Receive()
		if err != nil {
			return last
		}
		if m.GetProgress() == nil {
			last = m
		}
	}
}

// gone waits for the end of the task, checks that it has left nothing, and returns its error.
func (r *running) gone() error {
	r.t.Helper()
	select {
	case <-r.task.Exited():
	case <-time.After(time.Minute):
		r.t.Fatal("the task does not go")
	}
	t := r.task.(*task)
	if left := processesIn(r.t, t.child.pid); len(left) > 0 {
		r.t.Errorf("processes %v of the group are left", left)
	}
	if _, err := os.Stat(t.temp); !os.IsNotExist(err) {
		r.t.Errorf("directory for temporary files: %v", err)
	}
	return r.task.Err()
}

// processesIn lists the processes of a group, except zombies.
func processesIn(t testing.TB, group int) (pids []string) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	must.Do(t, err)
	for _, name := range stats {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended meanwhile
		}
		_, rest, _ := strings.Cut(string(data), ") ")
		fields := strings.Fields(rest)
		if len(fields) > 2 && fields[2] == strconv.Itoa(group) && fields[0] != "Z" && fields[0] != "X" {
			pids = append(pids, strings.Split(name, "/")[2])
		}
	}
	return pids
}

// log returns what the task printed to a stream.
func (r *running) log(stream string) string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(taskdir.LogDir(r.start.LocalDir), stream))
	if err != nil && !os.IsNotExist(err) { // a task without output has no log
		r.t.Error(err)
	}
	return string(data)
}

// wantCrash checks that a task ended in a crash whose cause has each of the phrases.
func wantCrash(t testing.TB, err error, phrases ...string) *tasknode.Crash {
	t.Helper()
	crash, ok := err.(*tasknode.Crash)
	if !ok {
		t.Fatalf("error %v is no crash", err)
	}
	for _, phrase := range phrases {
		if !strings.Contains(crash.Cause, phrase) {
			t.Errorf("no %q in the cause: %s", phrase, crash.Cause)
		}
	}
	return crash
}

// alive reports whether a process exists.
func alive(pid int) bool { return unix.Kill(pid, 0) == nil }
