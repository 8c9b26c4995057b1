package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
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

// pageBytes is the unit of resident memory in /proc.
var pageBytes = int64(os.Getpagesize())

// residentOf returns the resident bytes of a process, 0 if it has exited.
func residentOf(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(data)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * pageBytes
}

// residentByGroup returns the resident bytes of each process group. A page that several
// processes share counts once for each of them.
func residentByGroup() map[int]int64 {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // an error leaves the names that were read
	groups := make(map[int]int64)
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		if data, err := os.ReadFile("/proc/" + name + "/stat"); err == nil {
			group, resident := groupAndResident(data)
			groups[group] += resident
		}
	}
	return groups
}

// groupAndResident parses a process's stat line in /proc. The line has the pid, the name in
// parentheses, which may contain any character, and then fields. Of the fields after the
// name, the third is the group and the 22nd is the number of resident pages. It returns the
// group and the resident bytes, or 0, 0 for any other text.
func groupAndResident(stat []byte) (group int, bytesResident int64) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 22 {
		return 0, 0
	}
	group, groupErr := strconv.Atoi(string(fields[2]))
	pages, pagesErr := strconv.ParseInt(string(fields[21]), 10, 64)
	if groupErr != nil || pagesErr != nil {
		return 0, 0
	}
	return group, pages * pageBytes
}
