package web

import (
	"slices"
	"sync"
)

// latest keeps the values that were set last, by key. They are lost when the process ends. Any goroutine may use it.
type latest[V any] struct {
	most int // number of values that it keeps

	mu struct {
		sync.Mutex
		kept []keyed[V] // the oldest first
	}
}

type keyed[V any] struct {
	key   string
	value V
}

// get returns the value of a key, and whether it is kept.
func (l *latest[V]) get(key string) (value V, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := l.findLocked(key); i >= 0 {
		return l.mu.kept[i].value, true
	}
	return value, false
}

// set keeps a value. It replaces that of the same key, and may drop the oldest one.
func (l *latest[V]) set(key string, value V) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := l.findLocked(key); i >= 0 {
		l.mu.kept = slices.Delete(l.mu.kept, i, i+1)
	} else if len(l.mu.kept) >= l.most {
		l.mu.kept = slices.Delete(l.mu.kept, 0, 1)
	}
	l.mu.kept = append(l.mu.kept, keyed[V]{key, value})
}

func (l *latest[V]) findLocked(key string) int {
	return slices.IndexFunc(l.mu.kept, func(k keyed[V]) bool { return k.key == key })
}
