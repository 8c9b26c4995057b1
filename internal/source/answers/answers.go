// Package answers keeps answers about a cluster, so that many readers cost it little:
//
//	c := answers.New(time.Now, 512)
//	a, err := answers.Ask(ctx, c, "nodes", func(ctx context.Context) (docs.Answer[[]Node], time.Duration, error) { … })
//
// The same question is asked once while its answer is fresh, however many readers wait for it. If the
// cluster does not answer, readers get the last answer, with its time and with what is wrong.
package answers

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/internal/docs"
)

const (
	// keepStale is how long an answer is given while the cluster does not answer.
	keepStale = 10 * time.Minute
	// askTime bounds one question. It continues if the reader disconnects, for the other readers.
	askTime = 15 * time.Second
)

// Cache keeps answers by question. Any goroutine may use it.
type Cache struct {
	now  func() time.Time
	most int // entries

	changes atomic.Int64 // calls of Expire

	mu struct {
		sync.Mutex
		entries map[string]*entry
	}
}

// New returns a cache of at most so many answers. now returns the time.
func New(now func() time.Time, most int) *Cache {
	c := &Cache{now: now, most: most}
	c.mu.entries = make(map[string]*entry)
	return c
}

// entry is the answer to one question. Its lock is held while the question is asked, so that other
// readers wait for the answer.
type entry struct {
	sync.Mutex
	value  any           // a docs.Answer; nil before the first
	at     time.Time     // when it was given
	fresh  time.Duration // how long value is fresh
	change int64         // calls of Expire before the question was asked
	err    error         // of the last try, nil if it succeeded
	failed time.Time     // of err

	used time.Time // guarded by the cache
}

// entry returns the entry of a question, and removes entries that were not used for long.
func (c *Cache) entry(question string) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.mu.entries[question]
	if e == nil {
		c.evictLocked()
		e = new(entry)
		c.mu.entries[question] = e
	}
	e.used = c.now()
	return e
}

func (c *Cache) evictLocked() {
	type named struct {
		question string
		used     time.Time
	}
	var all []named
	for question, e := range c.mu.entries {
		if c.now().Sub(e.used) > keepStale {
			delete(c.mu.entries, question)
			continue
		}
		all = append(all, named{question, e.used})
	}
	slices.SortFunc(all, func(a, b named) int { return cmp.Compare(a.used.UnixNano(), b.used.UnixNano()) })
	for _, n := range all[:max(0, len(all)+1-c.most)] {
		delete(c.mu.entries, n.question)
	}
}

// Expire makes all answers old, so that a caller that changes the cluster sees the change.
func (c *Cache) Expire() { c.changes.Add(1) }

// Ask returns the answer to a question: that of the cache if it is fresh, else that of fetch. fetch
// also returns how long the answer is fresh; an answer without a time has the present one. If fetch fails because the
// cluster does not answer, Ask returns the old answer, if there is one.
func Ask[T any](ctx context.Context, c *Cache, question string, fetch func(ctx context.Context) (docs.Answer[T], time.Duration, error)) (docs.Answer[T], error) {
	if err := ctx.Err(); err != nil {
		return docs.Answer[T]{}, err
	}
	e := c.entry(question)
	e.Lock()
	defer e.Unlock()
	now, change := c.now(), c.changes.Load()
	value, has := e.value.(docs.Answer[T])
	if has && e.change == change && now.Sub(e.at) < e.fresh {
		return value, nil
	}
	if e.err == nil || e.change != change || now.Sub(e.failed) >= time.Second {
		e.change = change
		inTime, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
		defer cancel()
		fetched, fresh, err := fetch(inTime)
		now = c.now()
		if err == nil {
			if fetched.At.IsZero() {
				fetched.At = now
			}
			e.value, e.at, e.fresh, e.err = fetched, now, fresh, nil
			return fetched, nil
		}
		e.err, e.failed, e.fresh = err, now, 0
	}
	if has && now.Sub(e.at) < keepStale && (errors.Is(e.err, docs.ErrUnavailable) || errors.Is(e.err, context.DeadlineExceeded)) {
		value.Stale = e.err
		return value, nil
	}
	return docs.Answer[T]{}, e.err
}
