package process

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
	"golang.org/x/sys/unix"
)

func TestTaskRunsAndItsOutputCounts(t *testing.T) {
	r := launch(t.Context(), t, newLauncher(t, Config{}), startMessage(t, ""))
	pieces := r.last().GetFinished().GetPieces()
	if err := r.gone(); err != nil {
		t.Errorf("exit error %v", err)
	}
	if len(pieces) != 1 {
		t.Fatalf("pieces: %v", pieces)
	}
	data, err := os.ReadFile(strings.TrimPrefix(pieces[0].Path, "file:"))
	if want := "one\t0\ntwo\t4\nthree\t8\n"; err != nil || string(data) != want {
		t.Errorf("output %q, %v", data, err)
	}
	if got := r.log("stdout") + r.log("stderr"); got != "" {
		t.Errorf("logs %q", got)
	}
}

func TestUserFailureIsReportedByTheTask(t *testing.T) {
	l := newLauncher(t, Config{})
	r := launch(t.Context(), t, l, startMessage(t, "fail"))
	f := r.last().GetFailure()
	if !strings.Contains(f.GetCause(), "no good: \uFFFD") || !strings.Contains(f.GetLog(), "about to fail") {
		t.Errorf("failure %v", f)
	}
	if err := r.gone(); err != nil {
		t.Errorf("exit error %v", err)
	}
	if !strings.Contains(r.log("stderr"), "about to fail") || !strings.Contains(r.task.(*task).LogTail(), "about to fail") {
		t.Errorf("stderr is %q", r.log("stderr"))
	}
	r = launch(t.Context(), t, l, startMessage(t, "panic"))
	f = r.last().GetFailure()
	if !strings.Contains(f.GetCause(), "panic: on purpose") || !strings.Contains(f.GetStack(), "main_test.go") {
		t.Errorf("failure %v", f)
	}
	if err := r.gone(); err != nil {
		t.Errorf("exit error %v", err)
	}
}

func TestCrashIsFoundInStderr(t *testing.T) {
	r := launch(t.Context(), t, newLauncher(t, Config{}), startMessage(t, "goroutine panic"))
	if last := r.last(); last != nil {
		t.Errorf("last message %v", last)
	}
	crash := wantCrash(t, r.gone(), "panic: elsewhere")
	if !strings.HasPrefix(crash.Stack, "goroutine ") || !strings.Contains(crash.Stack, "crashElsewhere") {
		t.Errorf("stack %q", crash.Stack)
	}
}

func TestExitInTheMiddleOfATask(t *testing.T) {
	r := launch(t.Context(), t, newLauncher(t, Config{}), startMessage(t, "exit"))
	if last := r.last(); last != nil {
		t.Errorf("last message %v", last)
	}
	err := r.gone()
	if r.task.(*task).conn.received.Load() { // progress was quicker than the exit
		wantCrash(t, err, "exited with status 1", "giving up")
		return
	}
	wantCrash(t, err, "exit status 1", "giving up")
}

func TestFileMustBeAProgram(t *testing.T) {
	for role, phrases := range map[string][]string{
		"silent": {"program self ended with exit status 0 before it sent anything", "mr.Main"},
		"usage":  {"exit status 2", `"usage: silent FILE"`},
	} {
		l := newLauncher(t, Config{Environ: append(os.Environ(), roleEnv+"="+role)})
		r := launch(t.Context(), t, l, startMessage(t, ""))
		r.last()
		wantCrash(t, r.gone(), phrases...)
	}
}

func TestOtherProgramThanTheOneSubmitted(t *testing.T) {
	l := newLauncher(t, Config{})
	for want, change := range map[string]func(*taskproc.Start){
		`submitted with stage "reduce"`:        func(s *taskproc.Start) { s.Reduces, s.Fingerprint = 2, dag.MapReduce(1, 2).Fingerprint() },
		"has 2 inputs or more, this one has 1": func(s *taskproc.Start) { s.Split.Input = 1 },
		`job "other" is not in this`:           func(s *taskproc.Start) { s.Program = "other" },
	} {
		start := startMessage(t, "")
		change(start)
		r := launch(t.Context(), t, l, start)
		if f := r.last().GetFailure(); !strings.Contains(f.GetCause(), want) || !f.GetFatal() {
			t.Errorf("failure %v, want %q", f, want)
		}
		if err := r.gone(); err != nil {
			t.Errorf("exit error %v", err)
		}
	}
}

func TestLargeOutputIsTruncated(t *testing.T) {
	r := launch(t.Context(), t, newLauncher(t, Config{}), startMessage(t, "shout"))
	if r.last().GetFinished() == nil {
		t.Error("the task did not finish")
	}
	if err := r.gone(); err != nil {
		t.Errorf("exit error %v", err)
	}
	if got := r.log("stdout"); len(got) > DefaultLogBytes+100 || !strings.HasPrefix(got, "xxx") || !strings.HasSuffix(got, "the end\n") || !strings.Contains(got, "bytes are left out") {
		t.Errorf("stdout of %d bytes, ends in %q", len(got), got[max(0, len(got)-50):])
	}
}

func TestTaskObeysOrders(t *testing.T) {
	r := launch(t.Context(), t, newLauncher(t, Config{}), startMessage(t, "deaf"))
	if m, err := r.end.Receive(); m.GetProgress().GetStatus() != "deaf" {
		t.Fatalf("first message %v, %v", m, err)
	}
	must.Do(t, r.end.Send(&taskproc.ToTask{Message: &taskproc.ToTask_Kill{Kill: &taskproc.Kill{Cause: "enough"}}}))
	stack := r.task.Stack()
	if !strings.HasPrefix(stack, "goroutine 1 ") || !strings.Contains(stack, "blockForever") {
		t.Errorf("stack %q", stack)
	}
	if err := r.gone(); !errors.Is(err, errForced) {
		t.Errorf("exit error %v", err)
	}
	if again := r.task.Stack(); again != stack {
		t.Errorf("stack of an exited task: %q", again)
	}
}

func TestContextEndOrClosedConnKillsTheTask(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := launch(ctx, t, newLauncher(t, Config{KillGrace: time.Millisecond}), startMessage(t, "deaf"))
	cancel()
	if err := r.gone(); !errors.Is(err, errForced) {
		t.Errorf("exit error %v", err)
	}
	r = launch(t.Context(), t, newLauncher(t, Config{}), startMessage(t, "deaf"))
	r.end.Close()
	if err := r.gone(); !errors.Is(err, errForced) {
		t.Errorf("exit error %v", err)
	}
	l := newLauncher(t, Config{})
	r = launch(t.Context(), t, l, startMessage(t, "deaf"))
	l.Close()
	if err := r.gone(); !errors.Is(err, errForced) {
		t.Errorf("exit error %v", err)
	}
	if _, err := l.Launch(t.Context(), startMessage(t, "")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("launch after Close: %v", err)
	}
}

func TestSignalFromOutside(t *testing.T) {
	r := launch(t.Context(), t, newLauncher(t, Config{}), startMessage(t, "suicide"))
	r.last()
	wantCrash(t, r.gone(), "signal 9", "from outside")
}

func TestMemoryLimitIsEnforced(t *testing.T) {
	l := newLauncher(t, Config{})
	for _, action := range []string{"eat", "child eats"} {
		start := startMessage(t, action)
		start.Properties[conf.MapMemoryMB] = "300"
		r := launch(t.Context(), t, l, start)
		if last := r.last(); last != nil {
			t.Errorf("%s: last message %v", action, last)
		}
		wantCrash(t, r.gone(), "ran out of its memory of 300 MiB (mapreduce.map.memory.mb)")
	}
}

func TestLeftoverProcessesOfATaskAreKilled(t *testing.T) {
	r := launch(t.Context(), t, newLauncher(t, Config{}), startMessage(t, "children"))
	if r.last().GetFinished() == nil {
		t.Error("the task did not finish")
	}
	if err := r.gone(); err != nil {
		t.Errorf("exit error %v", err)
	}
	killAll(t, r.log("stdout")) // a process that left the group is not the launcher's
}

// killAll kills processes, which must run, given their pids.
func killAll(t *testing.T, numbers string) {
	t.Helper()
	for _, number := range strings.Fields(numbers) {
		pid, err := strconv.Atoi(number)
		if err != nil || !alive(pid) {
			t.Errorf("process %s: %v", number, err)
		}
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			t.Error(err)
		}
	}
}

func TestEnvironmentOfATask(t *testing.T) {
	l := newLauncher(t, Config{TaskVariables: []string{"GREETING"}, Environ: []string{
		roleEnv + "=environ", "HAMMR_TOKEN=secret", "GOMEMLIMIT=5", "HADOOP_USER_NAME=daemon", "HOME=/home/d", "GREETING=a=b",
		"AWS_SECRET_ACCESS_KEY=secret", "KRB5CCNAME=/tmp/krb5cc_0", "SSH_AUTH_SOCK=/tmp/agent", "LC_ALL=C", "PATH=/bin",
	}})
	start := startMessage(t, "")
	r := launch(t.Context(), t, l, start)
	r.last()
	_ = r.gone()
	want := []string{
		roleEnv + "=environ", "HOME=/home/d", "GREETING=a=b", "LC_ALL=C", "PATH=/bin", "GORACE=atexit_sleep_ms=0", "HAMMR_TASK_FD=3", "GOMEMLIMIT=" + strconv.Itoa(2048<<20/10*9),
		"TMPDIR=" + start.LocalDir + ".tmp", "PWD=" + start.LocalDir,
	}
	if got := strings.Fields(r.log("stdout")); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("environment %q, want %q", got, want)
	}
}
