package launch

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/testing/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startScript starts a script of sh as a daemon, whose ready file is $READY. The daemon ends with
// the test.
func startScript(t *testing.T, script string) *Child {
	t.Helper()
	starter := procfs.NewStarter()
	t.Cleanup(starter.Close)
	dir := t.TempDir()
	ready := filepath.Join(dir, "ready")
	must.Do(t, os.WriteFile(ready, []byte(`{"address":"of an earlier process"}`), 0o600))
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = append(os.Environ(), "READY="+ready)
	cmd.SysProcAttr = Attributes(false)
	log := filepath.Join(dir, "n1.log")
	must.Do(t, os.WriteFile(log, []byte("an earlier run\n"), 0o600))
	c, err := Start(starter, Daemon{Name: "n1", ReadyFile: ready, LogFile: log}, cmd)
	must.Do(t, err)
	t.Cleanup(func() {
		if err := c.End(context.Background(), time.Minute); err != nil || c.Runs() {
			t.Errorf("end: %v", err)
		}
	})
	return c
}

// TestChild starts a daemon that becomes ready, one that fails, and one that does neither.
func TestChild(t *testing.T) {
	serves := startScript(t, `echo '{"address":"here:1","http":"here:2"}' >$READY.new; mv $READY.new $READY; exec sleep 1000`)
	if ready, err := serves.AwaitReady(t.Context()); err != nil || ready.Address != "here:1" || ready.HTTP != "here:2" {
		t.Errorf("ready: %+v, %v", ready, err)
	}
	fails := startScript(t, "echo it fails >&2; exit 3")
	want := "n1 ended: exit status 3; the end of its log, " + fails.LogFile + ":\n  \nand of its other output, " + fails.outputFile() + ":\n  it fails"
	if _, err := fails.AwaitReady(t.Context()); err == nil || err.Error() != want {
		t.Errorf("a daemon that fails: %v", err)
	}
	if fails.Runs() || fails.ExitText() != "exit status 3" {
		t.Errorf("after its end: %s", fails.ExitText())
	}
	late := errors.New("too late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, late)
	defer cancel()
	waits := startScript(t, "exec sleep 1000")
	if _, err := waits.AwaitReady(ctx); !errors.Is(err, late) || !strings.HasPrefix(err.Error(), "n1 is not ready: too late") || !waits.Runs() {
		t.Errorf("a daemon that does not become ready: %v", err)
	}
	garbage := startScript(t, "echo garbage >$READY; exec sleep 1000")
	if _, err := garbage.AwaitReady(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "n1: ") {
		t.Errorf("a ready file with garbage: %v", err)
	}
}

func TestStartOfNothing(t *testing.T) {
	starter := procfs.NewStarter()
	defer starter.Close()
	if _, err := Start(starter, Daemon{Name: "n1"}, exec.Command("/none/hammr")); err == nil || !strings.HasPrefix(err.Error(), "start of n1: ") {
		t.Errorf("got %v", err)
	}
}

func TestTail(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	text := "old\n" + strings.Repeat("a line\n", 20) + "the last\n"
	must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	nine := strings.Repeat("  a line\n", 9) + "  the last"
	for from, want := range map[int64]string{0: nine, int64(len(text)) - 9: "  the last", int64(len(text)) + 1: nine} {
		if got := tail(file, from); got != want {
			t.Errorf("from %d: %q", from, got)
		}
	}
	if got := tail(file+"2", 0); !strings.Contains(got, "no such file") {
		t.Errorf("a file that is missing: %q", got)
	}
}
