package interrupt

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestMain makes the test's binary a process that cleans up when its context ends, or after a
// minute.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		ctx, stop := Context(context.Background())
		defer stop()
		fmt.Println("works")
		if len(os.Args) > 2 {
			for ctx.Err() == nil {
				fmt.Println("more")
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
		}
		fmt.Println("output that nobody reads must not end the clean-up")
		if err := os.WriteFile(os.Getenv("CLEANED"), nil, 0o600); err != nil {
			panic(err)
		}
		os.Exit(3)
	}
	os.Exit(m.Run())
}

func TestSignals(t *testing.T) {
	for _, c := range []struct {
		name     string
		command  string // starts the worker $0
		signal   syscall.Signal
		cleans   bool
		exitCode int
	}{
		{"Ctrl-C", `exec "$0" worker`, syscall.SIGINT, true, 3},
		{"SIGTERM", `exec "$0" worker`, syscall.SIGTERM, true, 3},
		{"end of the terminal", `exec "$0" worker`, syscall.SIGHUP, true, 3},
		{"end of the terminal under nohup", `trap "" HUP; exec "$0" worker`, syscall.SIGHUP, false, -1},
		{"end of the reader", `exec "$0" worker talks`, 0, true, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cleaned := t.TempDir() + "/cleaned"
			cmd := exec.CommandContext(t.Context(), "sh", "-c", c.command, os.Args[0])
			cmd.Env = append(os.Environ(), "CLEANED="+cleaned)
			out, err := cmd.StdoutPipe()
			must.Do(t, err)
			must.Do(t, cmd.Start())
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "works\n" {
				t.Fatalf("%q, %v", line, err)
			}
			if c.signal == 0 {
				err = out.Close()
			} else {
				err = cmd.Process.Signal(c.signal)
			}
			must.Do(t, err)
			if !c.cleans {
				if ignored, err := ignoresHangup(cmd.Process.Pid); err != nil || !ignored {
					t.Errorf("SIGHUP is not ignored: %v", err)
				}
				must.Do(t, cmd.Process.Kill())
			}
			_ = cmd.Wait() // ProcessState has the exit code
			if _, err := os.Stat(cleaned); (err == nil) != c.cleans || cmd.ProcessState.ExitCode() != c.exitCode {
				t.Errorf("exit code %d, clean-up: %v", cmd.ProcessState.ExitCode(), err)
			}
		})
	}
}

// ignoresHangup reports whether a process ignores SIGHUP, which is signal 1.
func ignoresHangup(pid int) (bool, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, ignored, _ := strings.Cut(string(status), "SigIgn:")
	ignored, _, _ = strings.Cut(ignored, "\n")
	return ignored != "" && strings.ContainsRune("13579bdf", rune(ignored[len(ignored)-1])), err
}
