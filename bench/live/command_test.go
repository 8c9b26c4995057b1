package live

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func shell(script string) *exec.Cmd { return exec.Command("/bin/sh", "-c", script) }

func TestCommandEndsWhenTold(t *testing.T) {
	c, err := begin(t.Context(), shell("echo ready; exec sleep 1000"))
	if err != nil {
		t.Fatal(err)
	}
	pid := c.cmd.Process.Pid
	if err := c.end(); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is there: %v", pid, err)
	}
}

func TestCommandThatIsNeverReady(t *testing.T) {
	if _, err := begin(t.Context(), shell("echo why it ended >&2; exit 3")); err == nil || !strings.Contains(err.Error(), "why it ended") {
		t.Errorf("error %v, expected what the command has said", err)
	}
	if _, err := begin(t.Context(), exec.Command("/no/such/program")); err == nil {
		t.Error("no error of a program that does not exist")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := begin(ctx, shell("exec sleep 1000")); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("error %v, expected why it was given up", err)
	}
}

func TestCommandThatEndsByItself(t *testing.T) {
	c, err := begin(t.Context(), shell("echo ready; echo gone >&2; exit 3"))
	if err != nil {
		t.Fatal(err)
	}
	<-c.gone
	if err := c.end(); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("error %v, expected that it ended by itself", err)
	}
}
