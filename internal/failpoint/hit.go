package failpoint

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/wait"
)

// Enabled reports whether this process takes part in drills.
func Enabled() bool { return active.Load() != nil }

// Hit does what a drill has set the point to. The error wraps ErrInjected; outside
// of drills it is nil.
func Hit(p Point) error {
	page := active.Load()
	if page == nil {
		return nil
	}
	return page.hit(p)
}

func (g *page) hit(p Point) error {
	at := &g.points[p]
	n := at.hits.Add(1)
	if nth := at.nth.Load(); nth != 0 && nth != n {
		return nil
	}
	switch actionKind(at.deed.Load()) {
	case fail:
		return fmt.Errorf("%s: %w", p, ErrInjected)
	case sleep:
		time.Sleep(time.Duration(at.delay.Load()))
	case crash:
		crashProcess()
	}
	return nil
}

// crashProcess ends the process as a crash does: nothing is tidied up.
func crashProcess() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way
}

// Disk does to an operation of a local file what a drill has set. The error wraps
// ErrInjected, or is that of ctx while the operation is held up; outside of drills
// it is nil.
func Disk(ctx context.Context, op, path string) error {
	page := active.Load()
	if page == nil {
		return nil
	}
	delay, err := page.disk()
	if late := wait.For(ctx, delay); late != nil {
		err = late
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", op, path, err)
	}
	return nil
}

// NextDiskFault is what happens to the next operation of a local file: how much longer
// it takes, and how it fails, nil if it does not.
func NextDiskFault() (time.Duration, error) {
	if page := active.Load(); page != nil {
		return page.disk()
	}
	return 0, nil
}

func (g *page) disk() (delay time.Duration, err error) {
	if oneOf := g.failOneIn.Load(); oneOf > 0 && g.operations.Add(1)%oneOf == 0 {
		err = ErrInjected
	}
	return time.Duration(g.delay.Load()), err
}

// Now is the time of a clock that drills may have jump. Then it tells the time of
// day alone: like a clock that was set, it does not tell how long anything took.
func Now() time.Time {
	now := time.Now()
	if page := active.Load(); page != nil {
		if ahead := page.clockOffset.Load(); ahead != 0 {
			return now.Round(0).Add(time.Duration(ahead))
		}
	}
	return now
}
