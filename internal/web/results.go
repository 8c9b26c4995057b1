package web

import (
	"crypto/rand"
	"sync"
)

// results keeps the latest values that this process has made for its users, such as profiles. They are
// lost when it ends. Any goroutine may use it.
type results[T any] struct {
	most int // values that are kept; adding one more drops the oldest

	mu struct {
		sync.Mutex
		kept []result[T] // the oldest first
	}
}

// result is a value with the id under which it is found.
type result[T any] struct {
	id    string
	value T
}

// add keeps a value and returns its id, which cannot be guessed.
func (r *results[T]) add(value T) (id string) {
	id = rand.Text()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.mu.kept) >= r.most {
		r.mu.kept = append(r.mu.kept[:0:0], r.mu.kept[1:]...)
	}
	r.mu.kept = append(r.mu.kept, result[T]{id, value})
	return id
}

// get returns the value with an id; found is false if there is none, or it was dropped.
func (r *results[T]) get(id string) (value T, found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, each := range r.mu.kept {
		if each.id == id {
			return each.value, true
		}
	}
	return value, false
}

// all returns the values that are kept, the oldest first.
func (r *results[T]) all() (values []T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, each := range r.mu.kept {
		values = append(values, each.value)
	}
	return values
}
