package rig

import (
	"context"
	"errors"
	"time"
)

// Agent injects faults inside of daemons, which take such orders in drills only.
// A daemon is meant by its name, such as n1. What it was told is forgotten when it
// ends.
type Agent interface {
	// Available tells why no such fault can be injected; nil when it can.
	Available() error
	// SlowDisk makes each operation of the daemon's files take delay longer; 0
	// ends that.
	SlowDisk(ctx context.Context, r *Rig, daemon string, delay time.Duration) error
	// IOErrors makes one of so many operations of the daemon's files fail; 0 ends
	// that.
	IOErrors(ctx context.Context, r *Rig, daemon string, oneOf int) error
	// JumpClock moves the daemon's clock, back when by is below 0.
	JumpClock(ctx context.Context, r *Rig, daemon string, by time.Duration) error
	// Failpoint sets a point of the daemon, by its name, to an action; "" ends that.
	Failpoint(ctx context.Context, r *Rig, daemon, point, action string) error
}

// ErrNoAgent is why a fault inside of a daemon is refused.
var ErrNoAgent = errors.New("rig: these daemons take no orders to fail from inside; slow disks, I/O errors, clock jumps and failpoints cannot be injected")

// NoAgent refuses everything.
type NoAgent struct{}

// Available is ErrNoAgent.
func (NoAgent) Available() error { return ErrNoAgent }

// SlowDisk is ErrNoAgent.
func (NoAgent) SlowDisk(context.Context, *Rig, string, time.Duration) error { return ErrNoAgent }

// IOErrors is ErrNoAgent.
func (NoAgent) IOErrors(context.Context, *Rig, string, int) error { return ErrNoAgent }

// JumpClock is ErrNoAgent.
func (NoAgent) JumpClock(context.Context, *Rig, string, time.Duration) error { return ErrNoAgent }

// Failpoint is ErrNoAgent.
func (NoAgent) Failpoint(context.Context, *Rig, string, string, string) error { return ErrNoAgent }
