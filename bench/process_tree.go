package bench

import (
	"time"

	"github.com/hammr/hammr/internal/procfs"
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

// treeRSS returns the sum of the resident memory of all processes below root, without root.
// Pages that processes share count in each of them.
func treeRSS(root int) (sum int64) {
	children := make(map[int][]procfs.Process)
	for _, p := range procfs.All() {
		children[p.Parent] = append(children[p.Parent], p)
	}
	for next := children[root]; len(next) > 0; {
		p := next[0]
		sum += p.RSSBytes
		next = append(next[1:], children[p.PID]...)
	}
	return sum
}
