package fluid

import (
	"container/heap"
	"math/big"
)

// place is where a job stands in a line.
type place struct {
	at   number
	tick *big.Int // of at
	job  int
}

func at(n number, job int) place { return place{at: n, tick: n.tick(), job: job} }

// line is jobs by their place, ties by their number. The first is element 0.
type line []place

func (l line) Len() int { return len(l) }

func (l line) Less(i, j int) bool {
	if c := l[i].tick.Cmp(l[j].tick); c != 0 {
		return c < 0
	}
	return l[i].job < l[j].job
}

func (l line) Swap(i, j int) { l[i], l[j] = l[j], l[i] }

// Push is for package heap.
func (l *line) Push(x any) { *l = append(*l, x.(place)) }

// Pop is for package heap.
func (l *line) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}

func (l *line) add(p place) { heap.Push(l, p) }

// take removes the first.
func (l *line) take() place { return heap.Pop(l).(place) }
