package percentile

import (
	"slices"
	"sync"
)

// Window collects the latest values of a series, such as the durations of writes. Add is
// cheap: sorting is left to the reader. Any goroutine may use it.
//
// The values are in a ring: value number n is at index n modulo the size of the window.
type Window[T Number] struct {
	mu struct {
		sync.Mutex
		count  uint64
		total  T
		latest []T // never empty
	}
}

// Number is the type of the values in a Window.
type Number interface{ ~int | ~int64 | ~float64 }

// Summary describes a series. Its percentiles and its maximum are those of the latest values;
// Count and Total cover all values.
type Summary[T Number] struct {
	Count  uint64
	Total  T
	Median T
	P99    T
	Max    T
}

// NewWindow makes a window of the latest size values.
func NewWindow[T Number](size int) *Window[T] {
	w := new(Window[T])
	w.mu.latest = make([]T, size)
	return w
}

// Add adds a value.
func (w *Window[T]) Add(value T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.latest[w.mu.count%uint64(len(w.mu.latest))] = value
	w.mu.count++
	w.mu.total += value
}

// Summary summarizes the series. It sorts a copy, so that Add does not wait for it.
func (w *Window[T]) Summary() Summary[T] {
	w.mu.Lock()
	s := Summary[T]{Count: w.mu.count, Total: w.mu.total}
	latest := slices.Clone(w.mu.latest[:min(s.Count, uint64(len(w.mu.latest)))])
	w.mu.Unlock()
	if len(latest) > 0 {
		slices.Sort(latest)
		s.Median, s.P99, s.Max = nearest(latest, 50), nearest(latest, 99), latest[len(latest)-1]
	}
	return s
}

// Histogram counts the latest values: of the counts, number i is that of the values below first*2^i
// and not below the bound before; the last one has no upper bound.
func (w *Window[T]) Histogram(first T, bins int) []int64 {
	w.mu.Lock()
	latest := slices.Clone(w.mu.latest[:min(w.mu.count, uint64(len(w.mu.latest)))])
	w.mu.Unlock()
	counts := make([]int64, bins)
	for _, value := range latest {
		i := 0
		for bound := first; i < bins-1 && value >= bound; bound *= 2 {
			i++
		}
		counts[i]++
	}
	return counts
}
