package fluid

import (
	"container/heap"
	"math/big"
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
type jobQueue []queued

func (l jobQueue) Len() int { return len(l) }

func (l jobQueue) Less(i, j int) bool {
	if c := l[i].tick.Cmp(l[j].tick); c != 0 {
		return c < 0
	}
	return l[i].job < l[j].job
}

func (l jobQueue) Swap(i, j int) { l[i], l[j] = l[j], l[i] }

// Push implements heap.Interface.
func (l *jobQueue) Push(x any) { *l = append(*l, x.(queued)) }

// Pop implements heap.Interface.
func (l *jobQueue) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}

func (l *jobQueue) add(p queued) { heap.Push(l, p) }

// take removes the first job.
func (l *jobQueue) take() queued { return heap.Pop(l).(queued) }
