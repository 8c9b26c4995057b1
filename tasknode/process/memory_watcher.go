package process

import (
	"sync"
	"time"

	"github.com/hammr/hammr/internal/kit/procfs"
)

// Memory is sampled at these intervals. A sample reads one small file for each task's
// process. A scan also reads one for every process of the machine, to find the processes
// that tasks have started.
const (
	sampleInterval = 100 * time.Millisecond
	samplesPerScan = 5
)

// memoryWatcher enforces memory limits without cgroups: it kills processes that exceed their
// limit. One goroutine samples memory; close ends it.
//
// A task can exceed its limit for at most sampleInterval. If processes that it has started
// use the memory, it can do so for sampleInterval times samplesPerScan. A cgroup enforces
// limits exactly, but some machines allow no cgroup.
type memoryWatcher struct {
	stop  chan struct{}
	ended chan struct{}
	mu    struct {
		sync.Mutex
		children map[*child]bool
	}
}

func newWatcher() *memoryWatcher {
	w := &memoryWatcher{stop: make(chan struct{}), ended: make(chan struct{})}
	w.mu.children = make(map[*child]bool)
	go w.run()
	return w
}

// close ends the goroutine and waits for it. No child may be watched any more.
func (w *memoryWatcher) close() {
	close(w.stop)
	<-w.ended
}

// watch kills c when it exceeds its limit, until forget is called.
func (w *memoryWatcher) watch(c *child) (forget func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.children[c] = true
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.mu.children, c)
	}
}

func (w *memoryWatcher) run() {
	defer close(w.ended)
	ticker := time.NewTicker(sampleInterval)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-w.stop:
			return
		case <-ticker.C:
			w.sample(n%samplesPerScan == 0)
		}
	}
}

// sample kills each process that exceeds its limit. If scan is set, the memory of the whole
// process group counts.
func (w *memoryWatcher) sample(scan bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.mu.children) == 0 {
		return
	}
	var groups map[int]int64
	if scan {
		groups = residentByGroup()
	}
	for c := range w.mu.children {
		if max(residentOf(c.pid), groups[c.pid]) > c.class.limits.memory {
			c.killForMemory()
		}
	}
}

// residentOf returns the resident bytes of a process, 0 if it has exited.
func residentOf(pid int) int64 {
	p, _ := procfs.Find(pid) // the zero value then
	return p.RSSBytes
}

// residentByGroup returns the resident bytes of each process group. A page that several
// processes share counts once for each of them.
func residentByGroup() map[int]int64 {
	groups := make(map[int]int64)
	for _, p := range procfs.All() {
		groups[p.Group] += p.RSSBytes
	}
	return groups
}
