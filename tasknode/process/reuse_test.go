package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
)

// longIdle keeps processes idle for longer than a test takes.
const longIdle = time.Hour

// another is a Start of the same job for another attempt.
func another(t testing.TB, n int, action string) *taskproc.Start {
	s := startMessage(t, action)
	dir := filepath.Join(filepath.Dir(s.LocalDir), fmt.Sprintf("attempt_1_0001_m_%06d_0", n))
	must.Do(t, os.MkdirAll(dir, 0o755))
	s.LocalDir, s.AttemptId = dir, filepath.Base(dir)
	return s
}

// runThrough launches a task, waits for its end, and returns its process.
func runThrough(t testing.TB, l *Launcher, start *taskproc.Start) (*running, *child) {
	t.Helper()
	r := launch(t.Context(), t, l, start)
	r.done = r.last().GetFinished()
	select {
	case <-r.task.Exited():
	case <-time.After(time.Minute):
		t.Fatal("the task does not go")
	}
	r.end.Close()                                        // as a tasknode does, which is to end nothing any more
	if err := os.RemoveAll(start.LocalDir); err != nil { // nor is that
		t.Fatal(err)
	}
	return r, r.task.(*task).child
}

func TestTasksOfAJobShareOneProcess(t *testing.T) {
	l := newLauncher(t, Config{MaxProcesses: 2, IdleTime: longIdle})
	var first *child
	for n := range 4 {
		r, c := runThrough(t, l, another(t, n, "speak"))
		if first == nil {
			first = c
		}
		if err := r.task.Err(); r.done == nil || err != nil || c != first {
			t.Fatalf("task %d: done %v, error %v, in the process of the first: %t", n, r.done, err, c == first)
		}
		id, want := r.start.AttemptId, ""
		for record := range 3 {
			want += fmt.Sprintln("attempt", id, 3*n+record+1, id, id, record)
		}
		if got := r.log("stdout"); got != want {
			t.Errorf("task %d printed %q, want %q", n, got, want)
		}
		if got, want := r.log("stderr"), strings.Repeat("errors of "+id+"\n", 3); got != want {
			t.Errorf("task %d printed %q on stderr, want %q", n, got, want)
		}
		if tail := r.task.(*task).LogTail(); tail != r.log("stderr") {
			t.Errorf("the log of task %d ends in %q", n, tail)
		}
		wantRecords(t, r.done, 3)
	}
	if got := processesIn(t, first.pid); len(got) != 1 {
		t.Errorf("idle processes %v, want one", got)
	}
	l.Close()
	if got := processesIn(t, first.pid); len(got) != 0 || exists(first.temp) {
		t.Errorf("processes %v after Close, files: %t", got, exists(first.temp))
	}
}

// wantRecords checks that the counters are from exactly one task.
func wantRecords(t *testing.T, done *taskproc.Finished, want int64) {
	t.Helper()
	found := false
	for _, c := range done.Counters {
		if c.Name == counter.MapInputRecords.Name {
			found = true
			if c.Value != want {
				t.Errorf("%d records are counted, want %d", c.Value, want)
			}
		}
	}
	if !found {
		t.Errorf("no count of records in %v", done.Counters)
	}
}

func TestOtherTasksHaveProcessesOfTheirOwn(t *testing.T) {
	l := newLauncher(t, Config{MaxProcesses: 10, IdleTime: longIdle, RunAsDaemonUser: true})
	for what, change := range map[string]func(*taskproc.Start){
		"job":     func(s *taskproc.Start) { s.JobId = "job_1_0002" },
		"user":    func(s *taskproc.Start) { s.User = "somebody" },
		"memory":  func(s *taskproc.Start) { s.Properties[conf.MapMemoryMB] = "2049" },
		"program": func(s *taskproc.Start) { s.Binary = "file:///stage/copy" },
	} {
		_, before := runThrough(t, l, another(t, 0, ""))
		start := another(t, 1, "")
		change(start)
		l.cfg.Programs = fakePrograms{"file:///stage/copy": link(t)}
		if r, c := runThrough(t, l, start); c == before || r.done == nil {
			t.Errorf("another %s: done %v, in the same process: %t", what, r.done, c == before)
		}
		if _, c := runThrough(t, l, another(t, 2, "")); c != before {
			t.Errorf("another %s: the first process is not idle any more", what)
		}
	}
}

// link makes another name of the test's program.
func link(t *testing.T) string {
	self, err := os.Executable()
	must.Do(t, err)
	name := filepath.Join(t.TempDir(), "copy")
	must.Do(t, os.Symlink(self, name))
	return name
}

func TestDirtyProcessIsNotReused(t *testing.T) {
	l := newLauncher(t, Config{MaxProcesses: 2, IdleTime: longIdle})
	for _, action := range []string{"fail", "panic", "goroutine panic", "exit", "leave a goroutine", "children"} {
		r, c := runThrough(t, l, another(t, 0, action))
		select {
		case <-c.exited:
		case <-time.After(time.Minute):
			t.Errorf("after a task with action %q its process is idle", action)
		}
		if done := action == "leave a goroutine" || action == "children"; done != (r.done != nil) {
			t.Errorf("action %q: done %v", action, r.done)
		}
		if action == "children" {
			killAll(t, r.log("stdout"))
		}
	}
}

func TestProcessRunsAtMostTheTasksThatTheJobAllows(t *testing.T) {
	l := newLauncher(t, Config{MaxProcesses: 2, IdleTime: longIdle})
	for allowed, want := range map[string]int{"0": 4, "1": 4, "2": 2, "3": 2, "-1": 1} {
		children := make(map[*child]bool)
		for n := range 4 {
			start := another(t, n, "")
			start.JobId = "job_" + allowed
			start.Properties[conf.ProcessTasks] = allowed
			_, c := runThrough(t, l, start)
			children[c] = true
		}
		if len(children) != want {
			t.Errorf("%s=%s: 4 tasks in %d processes, want %d", conf.ProcessTasks, allowed, len(children), want)
		}
	}
}

func TestCrashOfALaterTaskIsItsOwn(t *testing.T) {
	l := newLauncher(t, Config{MaxProcesses: 2, IdleTime: longIdle})
	good, before := runThrough(t, l, another(t, 0, "speak"))
	bad, c := runThrough(t, l, another(t, 1, "goroutine panic"))
	if c != before || bad.done != nil {
		t.Fatalf("done %v, in the first process: %t", bad.done, c == before)
	}
	wantCrash(t, bad.task.Err(), "panic: elsewhere")
	if !strings.Contains(bad.log("stderr"), "panic: elsewhere") || strings.Contains(good.log("stderr"), "elsewhere") || good.task.Err() != nil {
		t.Errorf("logs %q and %q, error of the first task %v", good.log("stderr"), bad.log("stderr"), good.task.Err())
	}
	starving := another(t, 2, "")
	_, before = runThrough(t, l, starving)
	start := another(t, 3, "eat")
	start.Properties[conf.MapMemoryMB] = "300"
	calm := another(t, 4, "")
	calm.Properties[conf.MapMemoryMB] = "300"
	_, first := runThrough(t, l, calm)
	r, c := runThrough(t, l, start)
	if wantCrash(t, r.task.Err(), "ran out of its memory of 300 MiB"); c != first || c == before {
		t.Errorf("in the process of its class: %t", c == first)
	}
}

func TestKilledTaskEndsItsProcess(t *testing.T) {
	l := newLauncher(t, Config{MaxProcesses: 2, IdleTime: longIdle})
	_, before := runThrough(t, l, another(t, 0, ""))
	r := launch(t.Context(), t, l, another(t, 1, "deaf"))
	if m, err := r.end.Receive(); m.GetProgress().GetStatus() != "deaf" {
		t.Fatalf("first message %v, %v", m, err)
	}
	r.end.Close()
	if err := r.gone(); err != errForced || r.task.(*task).child != before {
		t.Errorf("exit error %v", err)
	}
	if _, c := runThrough(t, l, another(t, 2, "")); c == before {
		t.Error("the process that was killed runs a task")
	}
}

func TestIdleProcessMayDie(t *testing.T) {
	l := newLauncher(t, Config{MaxProcesses: 2, IdleTime: longIdle})
	_, c := runThrough(t, l, another(t, 0, ""))
	must.Do(t, unix.Kill(c.pid, unix.SIGKILL))
	<-c.exited
	if r, now := runThrough(t, l, another(t, 1, "")); now == c || r.done == nil || r.task.Err() != nil {
		t.Errorf("done %v, error %v", r.done, r.task.Err())
	}
}

func TestNoMoreProcessesThanSlots(t *testing.T) {
	l := newLauncher(t, Config{MaxProcesses: 2, IdleTime: longIdle})
	for n := range 6 {
		start := another(t, n, "")
		start.JobId = fmt.Sprintf("job_1_%04d", n)
		runThrough(t, l, start)
		l.mu.Lock()
		if waiting := len(l.mu.waiting); waiting > 2 || waiting == 0 {
			t.Errorf("%d idle processes", waiting)
		}
		l.mu.Unlock()
	}
}

func TestIdleProcessEndsAfterIdleTime(t *testing.T) {
	l := newLauncher(t, Config{MaxProcesses: 2, IdleTime: time.Millisecond})
	_, c := runThrough(t, l, another(t, 0, ""))
	select {
	case <-c.exited:
	case <-time.After(time.Minute):
		t.Error("the process is still idle")
	}
}
