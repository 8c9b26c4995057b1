package localcluster

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/kit/procfs"
)

// endTimeout is how long a daemon may take to end after SIGTERM.
const endTimeout = 10 * time.Second

// Alive reports whether the process that was started still runs, stopped or not. A process
// that is ending has an empty command line and still has its ports.
//
// Three facts identify the process: its id, its start time, and its directory among its
// arguments. An id alone may belong to a later process.
func (p Process) Alive() bool {
	if p.PID <= 0 || p.Started == "" || procfs.StartTime(p.PID) != p.Started {
		return false
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
	return err == nil && (len(line) == 0 || slices.Contains(strings.Split(string(line), "\x00"), p.Dir))
}

// end ends the process with SIGTERM, and with SIGKILL if it takes too long. It ignores a
// process that is gone.
func (p Process) end(ctx context.Context) error {
	return procfs.End(ctx, p.PID, p.Alive, syscall.SIGTERM, endTimeout)
}
