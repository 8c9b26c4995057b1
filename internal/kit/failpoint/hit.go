package failpoint

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
)

// Enabled reports whether this process takes part in drills.
func Enabled() bool { return active.Load() != nil }

// Hit runs the action of a point. The error wraps ErrInjected; outside of drills it is nil.
func Hit(p Point) error {
	page := active.Load()
	if page == nil {
		return nil
	}
	return page.hit(p)
}

// hit counts a hit and runs the action if this hit is selected. A delay blocks the caller.
func (g *page) hit(p Point) error {
	at := &g.points[p]
	n := at.hits.Add(1)
	if nth := at.nth.Load(); nth != 0 && nth != n {
		return nil
	}
	switch actionKind(at.kind.Load()) {
	case fail:
		return fmt.Errorf("%s: %w", p, ErrInjected)
	case sleep:
		time.Sleep(time.Duration(at.delay.Load()))
	case crash:
		crashProcess()
	}
	return nil
}

// crashProcess ends the process like a crash, without any cleanup.
func crashProcess() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way
}

// Disk applies the disk faults to an operation on a local file. The error wraps ErrInjected.
// If ctx ends during a delay, Disk returns its error. Outside of drills the result is nil.
func Disk(ctx context.Context, op, path string) error {
	page := active.Load()
	if page == nil {
		return nil
	}
	delay, err := page.disk()
	if late := syncutil.Sleep(ctx, delay); late != nil {
		err = late
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", op, path, err)
	}
	return nil
}

// NextDiskFault returns the fault of the next operation on a local file: its extra time, and
// its error or nil.
func NextDiskFault() (time.Duration, error) {
	if page := active.Load(); page != nil {
		return page.disk()
	}
	return 0, nil
}

// disk counts an operation and returns its faults. The count is shared by all processes of
// the page, so that one in n fails whichever process makes it.
func (g *page) disk() (delay time.Duration, err error) {
	if oneOf := g.failOneIn.Load(); oneOf > 0 && g.operations.Add(1)%oneOf == 0 {
		err = ErrInjected
	}
	return time.Duration(g.delay.Load()), err
}

// Now returns the time of a clock that drills can move. After a jump the result has no
// monotonic clock reading, so it cannot measure durations.
func Now() time.Time {
	now := time.Now()
	if page := active.Load(); page != nil {
		if ahead := page.clockOffset.Load(); ahead != 0 {
			return now.Round(0).Add(time.Duration(ahead))
		}
	}
	return now
}
