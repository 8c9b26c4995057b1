package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// treeInterval is the time between two samples of a process tree. A sample reads a file of
// each process of the machine, about 2 ms of CPU time.
const treeInterval = 250 * time.Millisecond

// treeWatch samples the resident memory of the processes below one process.
type treeWatch struct {
	stopping chan struct{}
	peak     chan int64 // gets the peak when the goroutine ends
}

// watchTree starts a goroutine that samples until stop.
func watchTree(root int) treeWatch {
	w := treeWatch{make(chan struct{}), make(chan int64, 1)}
	go func() {
		ticker := time.NewTicker(treeInterval)
		defer ticker.Stop()
		var peak int64
		for {
			select {
			case <-ticker.C:
				peak = max(peak, treeRSS(root))
			case <-w.stopping:
				w.peak <- peak
				return
			}
		}
	}()
	return w
}

// stop ends the sampling and returns the peak in bytes.
func (w treeWatch) stop() int64 {
	close(w.stopping)
	return <-w.peak
}

// process is a process in /proc.
type process struct {
	pid, parent int
	rssBytes    int64
}

// treeRSS returns the sum of the resident memory of all processes below root, without root.
// Pages that processes share count in each of them.
func treeRSS(root int) (sum int64) {
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	children := make(map[int][]process)
	for _, name := range names {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // the process has ended
		}
		if p, ok := processIn(stat); ok {
			children[p.parent] = append(children[p.parent], p)
		}
	}
	for next := children[root]; len(next) > 0; {
		p := next[0]
		sum += p.rssBytes
		next = append(next[1:], children[p.pid]...)
	}
	return sum
}

// processIn parses a process's stat line in /proc. The name may contain blanks and brackets.
//
//	pid (name) state ppid … rss
//	           0     1      21
func processIn(stat []byte) (p process, ok bool) {
	end := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[end+1:])
	begin, _, _ := bytes.Cut(stat, []byte(" "))
	if end < 0 || len(fields) < 22 {
		return p, false
	}
	pid, errPID := strconv.Atoi(string(begin))
	parent, errParent := strconv.Atoi(string(fields[1]))
	pages, errPages := strconv.ParseInt(string(fields[21]), 10, 64)
	return process{pid, parent, pages * int64(os.Getpagesize())}, errPID == nil && errParent == nil && errPages == nil
}
