package fluid

import (
	"math/big"

	"github.com/hammr/hammr/internal/kit/minheap"
)

// queued is a job with its key in a queue. The tick is computed once, since a heap compares
// often.
type queued struct {
	key  number
	tick *big.Int // of key
	job  int
}

func queuedAt(n number, job int) queued { return queued{key: n, tick: n.tick(), job: job} }

// jobQueue is a heap of jobs by key, ties by number. The first job is element 0.
type jobQueue = minheap.Heap[queued]

func (q queued) Before(other queued) bool {
	if c := q.tick.Cmp(other.tick); c != 0 {
		return c < 0
	}
	return q.job < other.job
}
