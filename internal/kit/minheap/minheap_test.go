package minheap

import (
	"container/heap"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// item has a place in the order, and a number that distinguishes equal items.
type item struct{ at, number int }

func (a item) Before(b item) bool { return a.at < b.at }

// model is the heap of Go's library.
type model []item

func (m model) Len() int           { return len(m) }
func (m model) Swap(i, k int)      { m[i], m[k] = m[k], m[i] }
func (m model) Less(i, k int) bool { return m[i].at < m[k].at }
func (m *model) Push(x any)        { *m = append(*m, x.(item)) }

func (m *model) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

// TestHeapEqualsThatOfTheLibrary checks that even equal elements have the same places.
func TestHeapEqualsThatOfTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Heap[item]
		place := rapid.IntRange(0, 9)
		for n := range rapid.IntRange(0, 20).Draw(t, "items") {
			h = append(h, item{place.Draw(t, "place"), n})
		}
		m := model(slices.Clone(h))
		h.Init()
		heap.Init(&m)
		for n := range 40 {
			switch op := rapid.IntRange(0, 2).Draw(t, "op"); {
			case op == 0 || len(h) == 0:
				e := item{place.Draw(t, "place"), 100 + n}
				h.Push(e)
				heap.Push(&m, e)
			case op == 1:
				if got, want := h.Pop(), heap.Pop(&m); got != want {
					t.Fatalf("popped %v, want %v", got, want)
				}
			default:
				h[0].at = place.Draw(t, "place")
				m[0].at = h[0].at
				h.FixFirst()
				heap.Fix(&m, 0)
			}
			if !slices.Equal(h, Heap[item](m)) {
				t.Fatalf("%v, want %v", h, m)
			}
		}
	})
}
