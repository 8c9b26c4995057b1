package failpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// FileName is the name of the page's file in a daemon's directory.
const FileName = "drill.faults"

// EnvVar is the environment variable with that file's name, for tasks.
const EnvVar = "HAMMR_DRILL_FAULTS"

// active is the page of this process, nil outside of drills.
var active atomic.Pointer[page]

// Control is the daemon's end of its page. Any goroutine may use it.
type Control struct {
	page *page
	file string
	mu   sync.Mutex // allows one change at a time
}

// Status is the state of a point.
type Status struct {
	Name string
	Hits int64 // hits since the point was set, or since the daemon started
}

// Open makes this process take part in drills, with a new page in dir that has no faults.
func Open(dir string) (*Control, error) {
	c := &Control{file: filepath.Join(dir, FileName)}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	var err error
	if c.page, err = newPage(c.file); err != nil {
		return nil, fmt.Errorf("faults of drills: %w", err)
	}
	active.Store(c.page)
	return c, nil
}

// Join makes this process take part in the drills of its daemon, if the environment names a
// page.
func Join() error {
	file := os.Getenv(EnvVar)
	if file == "" {
		return nil
	}
	p, err := openPage(file)
	if err == nil {
		active.Store(p)
	}
	return err
}

// File returns the page's file, the value of EnvVar for tasks.
func (c *Control) File() string { return c.file }

// Close ends all faults and the participation in drills. The memory stays mapped, because
// another goroutine may be reading it.
func (c *Control) Close() error {
	c.Clear()
	active.CompareAndSwap(c.page, nil)
	return os.RemoveAll(c.file)
}

// SlowDisk adds a delay to each operation on local files; 0 removes it.
func (c *Control) SlowDisk(by time.Duration) error {
	if by < 0 || by > maxDelay {
		return fmt.Errorf("slow disk by %v: expected 0s to %v", by, maxDelay)
	}
	c.page.delay.Store(int64(by))
	return nil
}

// IOErrors makes one in oneOf operations on local files fail; 0 ends the errors.
func (c *Control) IOErrors(oneOf int64) error {
	if oneOf < 0 {
		return fmt.Errorf("I/O errors of one in %d operations: expected at least 1, or 0 for none", oneOf)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.page.operations.Store(0)
	c.page.failOneIn.Store(oneOf)
	return nil
}

// maxClockOffset bounds the sum of all jumps of a clock.
const maxClockOffset = 10 * 365 * 24 * time.Hour

// JumpClock moves the clock forward, or back if by is negative.
func (c *Control) JumpClock(by time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ahead := time.Duration(c.page.clockOffset.Load())
	if by.Abs() > maxClockOffset || (ahead+by).Abs() > maxClockOffset {
		return fmt.Errorf("clock jump by %v: more than %v in all", by, maxClockOffset)
	}
	c.page.clockOffset.Store(int64(ahead + by))
	return nil
}

// Set sets a point to an action, see ParseAction, and counts its hits from 0.
func (c *Control) Set(name, action string) error {
	p, unknown := Find(name)
	a, err := ParseAction(action)
	if err := errors.Join(unknown, err); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(p, a)
	return nil
}

// set changes a point. The kind is cleared first and stored last, so that a hit in between
// does nothing.
func (c *Control) set(p Point, a Action) {
	at := &c.page.points[p]
	at.kind.Store(int64(noAction))
	at.delay.Store(int64(a.delay))
	at.nth.Store(a.nth)
	at.hits.Store(0)
	at.kind.Store(int64(a.kind))
}

// Clear ends all faults and resets the clock.
func (c *Control) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, field := range []*atomic.Int64{&c.page.delay, &c.page.failOneIn, &c.page.clockOffset} {
		field.Store(0)
	}
	for p := range points {
		c.set(p, Action{})
	}
}

// Points returns the state of every point.
func (c *Control) Points() []Status {
	out := make([]Status, points)
	for p := range points {
		out[p] = Status{Name: p.String(), Hits: c.page.points[p].hits.Load()}
	}
	return out
}

// ErrInjected is wrapped by every error that a drill causes.
var ErrInjected = fmt.Errorf("injected by a drill: %w", syscall.EIO)
