package process

import (
	"context"
	"encoding/json"
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

	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/tasknode"
)

// The test binary is a daemon whose program is replaced twice while a task runs if replacedEnv has
// the Start of the task. handedOverEnv has what the program before has left.
const (
	replacedEnv   = "PROCESS_TEST_REPLACED"
	handedOverEnv = "PROCESS_TEST_HANDED_OVER"
)

// handedOver is what a program of the test leaves for the next.
type handedOver struct {
	Handover         *Handover
	Received, Unsent []byte
	Programs         int // programs before
}

func init() {
	if isReplaced() {
		runtime.LockOSThread()
	}
}

func isReplaced() bool {
	return os.Getenv(replacedEnv) != "" && os.Getenv(taskproc.ControlVariable) == ""
}

// replacedDaemon runs one of the programs.
func replacedDaemon() {
	os.Exit(procfs.ServeMainThread(func(s *procfs.Starter) int {
		if err := runReplaced(s); err != nil {
			fmt.Println("failed:", err)
			return 1
		}
		return 0
	}))
}

func runReplaced(s *procfs.Starter) error {
	start := new(taskproc.Start)
	if err := protojson.Unmarshal([]byte(os.Getenv(replacedEnv)), start); err != nil {
		return err
	}
	var before handedOver
	if text := os.Getenv(handedOverEnv); text != "" {
		if err := json.Unmarshal([]byte(text), &before); err != nil {
			return err
		}
	}
	l, err := New(Config{Programs: fakePrograms{}, Starter: s, Handover: before.Handover, MaxProcesses: 1})
	if err != nil {
		return err
	}
	defer l.Close()
	var running tasknode.Task
	if before.Handover == nil {
		running, err = l.Launch(context.Background(), start)
	} else {
		running, err = l.Adopt(context.Background(), start.AttemptId)
	}
	if err != nil {
		return err
	}
	end := taskproc.ContinueTasknodeEnd(running.Conn(), before.Received, before.Unsent)
	if before.Handover == nil {
		err = end.Send(&taskproc.ToTask{Message: &taskproc.ToTask_Start{Start: start}})
	}
	for status := ""; err == nil && status != "waits"; {
		if err = end.Send(&taskproc.ToTask{Message: &taskproc.ToTask_RequestProgress{RequestProgress: new(taskproc.RequestProgress)}}); err != nil {
			return err
		}
		err = end.ReceiveTo(func(m *taskproc.FromTask) { status = m.GetProgress().GetStatus() })
	}
	if err != nil {
		return err
	}
	fmt.Println("process", os.Getpid(), "task", running.(*task).PID())
	if before.Programs < 2 {
		return replaceProgram(s, l, end, before.Programs+1)
	}
	return finishTask(start, running, end)
}

// replaceProgram hands over to the next program.
func replaceProgram(s *procfs.Starter, l *Launcher, end taskproc.TasknodeEnd, programs int) error {
	err := syncutil.Poll(context.Background(), time.Millisecond, func(context.Context) (bool, error) {
		running, _, err := l.Pause()
		if err == nil && len(running) != 1 {
			err = fmt.Errorf("tasks %v", running)
		}
		if errors.Is(err, tasknode.ErrLauncherBusy) {
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return err
	}
	var kept procfs.Kept
	h := handedOver{Programs: programs}
	h.Received, h.Unsent = end.Pause()
	if h.Handover, err = l.HandOver(kept.Add); err != nil {
		return err
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := os.Setenv(handedOverEnv, string(text)); err != nil {
		return err
	}
	return s.Replace("/proc/self/exe", os.Args, os.Environ(), &kept)
}

// finishTask lets the task continue, and waits for its end.
func finishTask(start *taskproc.Start, running tasknode.Task, end taskproc.TasknodeEnd) error {
	if err := os.WriteFile(fifoOf(start), []byte("continue"), 0); err != nil {
		return err
	}
	for {
		m, err := end.Receive()
		if err != nil {
			return err
		}
		if m.GetFinished() != nil {
			break
		}
	}
	<-running.Exited()
	return running.Err()
}

// fifoOf returns the FIFO for which the action "wait" waits.
func fifoOf(start *taskproc.Start) string {
	return strings.TrimPrefix(start.OutputDir, "file://") + "/fifo"
}

// waitForFIFO prints a line before and after it has read the FIFO in the directory of output.
func waitForFIFO(t *mr.Task) error {
	fmt.Println("before")
	t.SetStatus("waits")
	if _, err := os.ReadFile(t.Property(fifoProperty)); err != nil {
		return err
	}
	fmt.Println("after")
	return nil
}

// fifoProperty names the FIFO for the task.
const fifoProperty = "test.fifo"

// TestTaskContinuesUnderTheNextProgram replaces the program of a daemon twice while a task runs. The
// third program reads the rest of its output and its result.
func TestTaskContinuesUnderTheNextProgram(t *testing.T) {
	start := startMessage(t, "wait")
	start.Range.End.Offset, start.Properties[fifoProperty] = 1, fifoOf(start) // one record
	must.Do(t, unix.Mkfifo(fifoOf(start), 0o600))
	text, err := protojson.Marshal(start)
	must.Do(t, err)
	self, err := os.Executable()
	must.Do(t, err)
	d := exec.Command(self)
	d.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	d.Env, d.Stderr = append(os.Environ(), replacedEnv+"="+string(text)), os.Stderr
	out, err := d.Output()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 3 || lines[0] != lines[1] || lines[0] != lines[2] || !strings.HasPrefix(lines[0], "process "+strconv.Itoa(d.Process.Pid)) {
		t.Errorf("programs of process %d printed %q", d.Process.Pid, lines)
	}
	r := &running{t: t, start: start}
	if got := r.log("stdout"); got != "before\nafter\n" {
		t.Errorf("log in %s: %q", filepath.Base(start.LocalDir), got)
	}
}
