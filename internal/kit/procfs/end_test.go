package procfs

import (
	"bufio"
	"io"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestEnd ends processes of which one ignores SIGTERM. It is killed after its time.
func TestEnd(t *testing.T) {
	for script, want := range map[string]syscall.Signal{
		"echo ready; read forever": syscall.SIGTERM, "trap '' TERM; echo ready; read forever": syscall.SIGKILL,
	} {
		cmd := exec.Command("sh", "-c", script)
		in, err := cmd.StdinPipe()
		must.Do(t, err)
		out, err := cmd.StdoutPipe()
		must.Do(t, err)
		must.Do(t, cmd.Start())
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Fatalf("%q, %v", line, err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = io.Copy(io.Discard, out)
			_ = cmd.Wait() // a signal ends it
		}()
		alive := func() bool {
			select {
			case <-ended:
				return false
			default:
				return true
			}
		}
		timeout := 100 * time.Millisecond
		if want == syscall.SIGTERM {
			timeout = time.Hour
		}
		if err := End(t.Context(), cmd.Process.Pid, alive, syscall.SIGTERM, timeout); err != nil {
			t.Error(err)
		}
		<-ended
		if got := cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(); got != want {
			t.Errorf("%s: ended by %v, want %v", script, got, want)
		}
		in.Close()
	}
}
