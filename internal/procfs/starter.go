package procfs

import (
	"os/exec"
	"runtime"
	"sync"
)

// Starter starts processes on one thread, which lives until Close. The kernel sends the
// parent-death signal of a process when the thread that forked it ends, not when the
// parent's process does, so other threads would end children early. Any goroutine may use
// it; it has one goroutine of its own.
type Starter struct {
	mu       sync.Mutex // one start at a time
	commands chan *exec.Cmd
	results  chan error
}

// NewStarter makes a Starter. The caller calls Close.
func NewStarter() *Starter {
	s := &Starter{commands: make(chan *exec.Cmd), results: make(chan error)}
	go func() {
		runtime.LockOSThread() // it is never unlocked: the thread ends with the goroutine
		for cmd := range s.commands {
			s.results <- cmd.Start()
		}
	}()
	return s
}

// Start starts a command.
func (s *Starter) Start(cmd *exec.Cmd) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands <- cmd
	return <-s.results
}

// Close ends the thread. Children with a parent-death signal receive it.
func (s *Starter) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.commands)
}
