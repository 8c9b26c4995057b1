// Package procfs identifies and starts Linux processes. A process id may be reused. A
// process id and its start time in /proc identify one process as long as the machine runs.
package procfs

import (
	"runtime"
)

// StartTime returns when a process was started, in clock ticks since the start of the
// machine. It returns "" if there is no such process, or if only its exit status remains.
func StartTime(pid int) string {
	p, _ := Find(pid)
	return p.Started
}

// Starter starts processes on one thread, which lives until Close. The kernel sends a child
// its parent-death signal when the thread that forked it ends, even if the parent process
// continues. Other threads may end early and would end their children. Any goroutine may
// call its methods. It has one goroutine of its own.
type Starter struct{ requests chan func() }

// NewStarter makes a Starter. The caller calls Close.
func NewStarter() *Starter {
	s := &Starter{requests: make(chan func())}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		for request := range s.requests {
			request()
		}
	}()
	return s
}

// ServeMainThread calls run in a goroutine, with a Starter that uses the main thread, and returns
// its result. Only the main goroutine may call it, and only if an init function has called
// runtime.LockOSThread.
//
// A program that is to be replaced (Replace) needs this Starter: when a program is replaced, all
// threads but one end, and that one becomes the main thread. The children of the others would
// receive their parent-death signal.
func ServeMainThread(run func(*Starter) int) int {
	s := &Starter{requests: make(chan func())}
	ended := make(chan int, 1)
	go func() { ended <- run(s) }()
	for {
		select {
		case request := <-s.requests:
			request()
		case result := <-ended:
			return result
		}
	}
}

// Start calls the function start on the thread and returns its error. start must start one
// process, or replace this one. Only one call of start runs at a time.
func (s *Starter) Start(start func() error) error {
	done := make(chan error)
	s.requests <- func() { done <- start() }
	return <-done
}

// Close ends the thread. Children that have a parent-death signal receive it. No call of
// Start may be in progress or follow. The Starter of the main thread is not closed.
func (s *Starter) Close() { close(s.requests) }
