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
	"github.com/hammr/hammr/internal/syncutil"
)

// endGrace is how long a daemon may take to end after SIGTERM.
const endGrace = 10 * time.Second

// alive reports whether the process that was started still runs. A process that is ending,
// and still has its ports, has an empty command line.
func (p Process) alive() bool {
	if p.PID <= 0 || p.Started == "" || procfs.StartTime(p.PID) != p.Started {
		return false
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
	return err == nil && (len(line) == 0 || slices.Contains(strings.Split(string(line), "\x00"), p.Dir))
}

// end ends the process with SIGTERM, and with SIGKILL if it takes too long. It ignores a
// process that is gone.
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
		syscall.Kill(p.PID, syscall.SIGKILL) // checked below
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), endGrace)
	defer cancel()
	if err := p.awaitEnd(last); err != nil {
		return fmt.Errorf("end of process %d: it is still there after SIGKILL", p.PID)
	}
	return nil
}

func (p Process) awaitEnd(ctx context.Context) error {
	return syncutil.Poll(ctx, 10*time.Millisecond, func(context.Context) (bool, error) { return !p.alive(), nil })
}
