package localcluster

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/procfs"
	"github.com/hammr/hammr/internal/wait"
)

// endGrace is how long a daemon that is told to end may take.
const endGrace = 10 * time.Second

// alive reports whether the very process that was started runs. One that is ending, and
// still holds its ports, has no command line any more.
func (p Process) alive() bool {
	if p.PID <= 0 || p.Started == "" || procfs.StartTime(p.PID) != p.Started {
		return false
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
	return err == nil && (len(line) == 0 || slices.Contains(strings.Split(string(line), "\x00"), p.Dir))
}

// end tells the process to end and waits until it is gone; one that takes too
// long is killed. One that is gone already is left alone.
func (p Process) end(ctx context.Context) error {
	if !p.alive() {
		return nil
	}
	if err := syscall.Kill(p.PID, syscall.SIGTERM); err != nil && err != syscall.ESRCH {
		return fmt.Errorf("end of process %d: %w", p.PID, err)
	}
	grace, cancel := context.WithTimeout(ctx, endGrace)
	defer cancel()
	if p.awaitEnd(grace) == nil {
		return nil
	}
	if p.alive() {
		syscall.Kill(p.PID, syscall.SIGKILL) // that it is gone is seen below
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), endGrace)
	defer cancel()
	if err := p.awaitEnd(last); err != nil {
		return fmt.Errorf("end of process %d: it is still there after SIGKILL", p.PID)
	}
	return nil
}

func (p Process) awaitEnd(ctx context.Context) error {
	return wait.Poll(ctx, 10*time.Millisecond, func(context.Context) (bool, error) { return !p.alive(), nil })
}
