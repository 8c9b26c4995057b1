package localcluster

import (
	"os/exec"
	"runtime"
	"sync"
)

// parent starts processes on one thread that lives until close: the kernel
// tells a child of its parent's death when the thread that forked ends, not the
// process.
type parent struct {
	detach   bool
	commands chan *exec.Cmd
	results  chan error
	mu       sync.Mutex // one start at a time
}

func newParent(outlive bool) *parent {
	p := &parent{detach: outlive, commands: make(chan *exec.Cmd), results: make(chan error)}
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		for cmd := range p.commands {
			p.results <- cmd.Start()
		}
	}()
	return p
}

func (p *parent) start(cmd *exec.Cmd) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commands <- cmd
	return <-p.results
}

// close ends the thread. Children that do not outlive this process are told to
// end.
func (p *parent) close() { close(p.commands) }
