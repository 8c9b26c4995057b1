package chaos

import (
	"cmp"
	"context"
	"syscall"
	"time"

	"github.com/hammr/hammr/preempt"
)

// Lab is the interface of kinds of faults to a running cluster of processes. Package
// chaos/drill implements it, most of it by the methods of rig.Rig. Daemons have the names of
// internal/ops/testcluster, such as m1 and n2, and of package rig, such as dn1.
type Lab interface {
	// Kill ends a daemon as a crash does, and returns when it is gone.
	Kill(ctx context.Context, daemon string) error
	// Signal sends SIGSTOP or SIGCONT.
	Signal(ctx context.Context, daemon string, sig syscall.Signal) error
	// BreakLink does something to the packets of a daemon, in addition to what other faults do;
	// MendLink ends it.
	BreakLink(daemon string, by Link) error
	MendLink(daemon string, by Link) error

	// FillDisk takes all disk space of a tasknode; FreeDisk frees it again.
	FillDisk(tasknode string) error
	FreeDisk(tasknode string) error
	// LosePower ends a daemon, and takes what it has not synced from its files.
	LosePower(ctx context.Context, daemon string) error
	// CorruptSegment changes a byte of a segment of a tasknode, which it chooses at random.
	CorruptSegment(tasknode string) error

	// These calls set a fault inside a daemon; 0 and "" end it. JumpClock has no end.
	SlowDisk(ctx context.Context, daemon string, by time.Duration) error
	IOErrors(ctx context.Context, daemon string, oneOf int) error
	JumpClock(ctx context.Context, daemon string, by time.Duration) error
	Failpoint(ctx context.Context, daemon, point, action string) error
	// WatchHits returns a function that reports the most hits of a point in any of the
	// daemons, and whether one of them has ended since WatchHits.
	WatchHits(ctx context.Context, daemons []string, point string) func(context.Context) (hits int64, ended bool)

	// DrawTask chooses a process of a tasknode that runs a task of a kind: map, reduce or
	// any. The error is ErrNoTarget if there is none.
	DrawTask(kind string) (tasknode string, pid int, err error)
	// Tasks are the processes of the tasks of a tasknode; none for other daemons.
	Tasks(tasknode string) (pids []int)
	SignalTask(tasknode string, pid int, sig syscall.Signal) error
	// PreemptTask preempts a running task of a kind. The error wraps ErrNoTarget if the
	// master refuses.
	PreemptTask(ctx context.Context, kind string, mode preempt.Mode) (attempt string, err error)
}

// Simulation is the interface of kinds of faults to a cluster in virtual time. Package
// chaos/simulate implements it over package sim. Machines and masters have numbers from 0.
// Times are ms. Each returned function ends its fault.
type Simulation interface {
	// After calls do when millis ms have passed.
	After(millis int64, do func())

	// FailMachine ends a machine with all that runs there. The machine returns after down
	// ms; 0 stands for never.
	FailMachine(machine int, down int64)
	// Partition makes a tasknode silent. Its tasks run on.
	Partition(machine int) (end func())
	// CorruptOutput corrupts an output that a reduce still needs. It reports false if the
	// machine has none.
	CorruptOutput(machine int) bool
	// IsolateMaster removes a master: it neither leads nor votes.
	IsolateMaster(master int) (end func())

	// These act on a running task of a kind: map, reduce or any. The error wraps
	// ErrNoTarget if there is none, or if a master refuses.
	KillTask(kind string) (attempt string, err error)
	StopTask(kind string, lasts time.Duration) (attempt string, err error)
	PreemptTask(kind string, mode preempt.Mode) (attempt string, err error)
	// StopTasks stops the processes of all tasks of a machine.
	StopTasks(machine int, lasts time.Duration)
}

// Link is what happens to the packets between a machine and all others. The zero value is nothing.
type Link struct {
	NoSend, NoReceive bool
	Loss              int           // per cent of the packets in each direction
	Delay             time.Duration // of each packet that it sends
	Mbits             int           // Mbit/s that it sends at most; 0 for no limit
}

// And returns what two faults do together.
func (l Link) And(other Link) Link {
	l.NoSend, l.NoReceive = l.NoSend || other.NoSend, l.NoReceive || other.NoReceive
	l.Loss = 100 - (100-l.Loss)*(100-other.Loss)/100
	l.Delay += other.Delay
	if l.Mbits == 0 || other.Mbits > 0 {
		l.Mbits = min(cmp.Or(l.Mbits, other.Mbits), other.Mbits)
	}
	return l
}

// Hit is an attempt or a master that an active fault disturbs.
type Hit struct {
	Number int64 // hits of this fault so far, from 1
	Master bool  // of a master; otherwise of an attempt
}

// Effect is the effect of a hit. The zero value has none.
type Effect struct {
	Delay int64  // ms
	Fail  string // why the attempt fails, "" for not
	Crash bool   // the daemon ends
}

// atEnd calls end when Fault.For has passed.
func (f Fault) atEnd(s Simulation, end func()) {
	if f.For > 0 {
		s.After(f.For.Milliseconds(), end)
	}
}
