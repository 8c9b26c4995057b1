// Package procfs identifies and starts processes of Linux. A process id alone is reused;
// with the start time in /proc it names one process for as long as the machine runs.
package procfs

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// StartTime is when a process was started, in clock ticks since the machine was; "" if
// there is no such process, or only its exit status remains. A process whose first thread
// has ended exists until its last one has: until then its files and ports are open.
func StartTime(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name, in parentheses, may hold anything; behind it stand the third
	// field, the state, and the others.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	state, threads := fields[0], fields[17]
	if state == "X" || state == "Z" && threads == "1" {
		return ""
	}
	return fields[19]
}

// Starter starts processes on one thread, which lives until Close. The kernel sends the
// parent-death signal of a process when the thread that forked it ends, not when the
// parent's process does, so other threads would end children early. Any goroutine may use
// it; it has one goroutine of its own.
type Starter struct{ requests chan func() }

// NewStarter makes a Starter. The caller calls Close.
func NewStarter() *Starter {
	s := &Starter{requests: make(chan func())}
	go func() {
		runtime.LockOSThread() // it is never unlocked: the thread ends with the goroutine
		for request := range s.requests {
			request()
		}
	}()
	return s
}

// Start calls start, which starts one process, on the thread, and returns its error. One
// process is started at a time.
func (s *Starter) Start(start func() error) error {
	done := make(chan error)
	s.requests <- func() { done <- start() }
	return <-done
}

// Close ends the thread. Children with a parent-death signal receive it. No call of Start
// may be under way, and none may follow.
func (s *Starter) Close() { close(s.requests) }
