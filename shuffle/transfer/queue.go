package transfer

import (
	"container/list"
	"slices"
	"time"
)

// queue decides which segment is copied next. It does no I/O and starts no goroutine;
// callers pass the time. A segment passes through these states:
//
//	add ──► waiting ──next──► copying ──► gone: succeeded, lost, or replaced by a newer one
//	           ▲                 │
//	           └─ failed, busy ◄─┘
//
// Invariants: a task has at most one waiting segment and at most one segment that is being
// copied; the sum of active equals the number of copying.
type queue struct {
	giveUpAfter time.Duration // how long a source or a segment may fail before it is lost
	minDelay    time.Duration // delay after the first failure of a source; doubles with each up to maxDelay
	maxDelay    time.Duration

	// sources are those with segments or failures, in the order of their first segments. There can be as many as
	// segments, since each stored file is one.
	sources *list.List         // of *source
	byName  map[string]*source // the same by address, or by the name of a stored file
	waiting map[int32]*entry   // waiting entries by task
	copying map[int32]*entry   // copied entries by task
}

// source is one server as a copier sees it, or one stored file.
type source struct {
	name         string
	waiting      []*entry  // first in, first out
	active       int       // number of running copies
	until        time.Time // no copy begins before it
	failures     int       // number of failures since the last success
	failingSince time.Time // time of the first of these failures; zero: none
}

// entry is one segment that waits or is being copied.
type entry struct {
	Segment
	source       *source
	tries        int       // failed attempts
	began        time.Time // start of the running copy
	failingSince time.Time // start of the first try that failed; zero: none
	dropped      bool      // Drop was called: no retry
}

// newQueue makes an empty queue; see the fields for the times.
func newQueue(giveUpAfter, minDelay, maxDelay time.Duration) *queue {
	return &queue{
		giveUpAfter: giveUpAfter, minDelay: minDelay, maxDelay: maxDelay,
		sources: list.New(), byName: make(map[string]*source), waiting: make(map[int32]*entry), copying: make(map[int32]*entry),
	}
}

// source returns the source with that name, and makes it if it is unknown.
func (q *queue) source(name string) *source {
	s := q.byName[name]
	if s == nil {
		s = &source{name: name}
		q.sources.PushBack(s)
		q.byName[name] = s
	}
	return s
}

// idle reports whether nothing is known of a source. Its failures outlive its waiting segments.
func (s *source) idle() bool { return len(s.waiting) == 0 && s.active == 0 && s.failures == 0 }

// remove removes e from the waiting entries. It is usually the first of them.
func (s *source) remove(e *entry) {
	if s.waiting[0] == e {
		s.waiting = s.waiting[1:]
		return
	}
	i := slices.Index(s.waiting, e)
	s.waiting = slices.Delete(s.waiting, i, i+1)
}

// add appends a segment. It replaces an older segment of the task that waits. A running copy
// continues.
func (q *queue) add(s Segment) {
	if old := q.waiting[s.Task]; old != nil {
		old.source.remove(old)
	}
	e := &entry{Segment: s, source: q.source(s.Output.source())}
	q.waiting[s.Task] = e
	e.source.waiting = append(e.source.waiting, e)
}

// drop ends the retries of an output. A running copy may still succeed.
func (q *queue) drop(task int32, attempt string) {
	if e := q.copying[task]; e != nil && e.Output.Attempt == attempt {
		e.dropped = true
	}
	if e := q.waiting[task]; e != nil && e.Output.Attempt == attempt {
		e.source.remove(e)
		delete(q.waiting, task)
	}
}

// next begins the copy of a segment. If no copy can begin, it returns nil and the time to wait; a
// negative time means to wait for another change.
func (q *queue) next(now time.Time) (e *entry, wait time.Duration) {
	best, wait := q.best(now)
	if best == nil {
		return nil, wait
	}
	e = q.ready(best)
	best.remove(e)
	best.active++
	e.began = now
	delete(q.waiting, e.Task)
	q.copying[e.Task] = e
	return e, 0
}

// best returns the source with the fewest running copies among those that have a segment to copy, and
// of equal sources the first. It looks no further than the first source without a running copy, and
// forgets idle ones on its way, so its cost does not depend on the number of sources that are in order.
func (q *queue) best(now time.Time) (best *source, wait time.Duration) {
	wait = -1
	var next *list.Element
	for at := q.sources.Front(); at != nil && (best == nil || best.active > 0); at = next {
		next = at.Next()
		s := at.Value.(*source)
		switch left := s.until.Sub(now); {
		case s.idle():
			q.sources.Remove(at)
			delete(q.byName, s.name)
		case q.ready(s) == nil:
		case left > 0:
			if wait < 0 || left < wait {
				wait = left
			}
		case best == nil || s.active < best.active:
			best = s
		}
	}
	return best, wait
}

// ready returns the first segment of a source whose task is not being copied from another
// source; nil if there is none.
func (q *queue) ready(s *source) *entry {
	for _, e := range s.waiting {
		if q.copying[e.Task] == nil {
			return e
		}
	}
	return nil
}

// end removes a copy that has ended from the running copies.
func (q *queue) end(e *entry) {
	e.source.active--
	delete(q.copying, e.Task)
}

// succeeded ends a copy. Newer segments of the task are dropped.
func (q *queue) succeeded(e *entry) {
	q.end(e)
	e.source.failures, e.source.until, e.source.failingSince = 0, time.Time{}, time.Time{}
	if newer := q.waiting[e.Task]; newer != nil {
		newer.source.remove(newer)
		delete(q.waiting, e.Task)
	}
}

// failed ends a copy that can be retried, and delays its source. It reports whether a copy
// of the task will follow: this segment again, or a newer one. Otherwise the segment is
// lost, because it or its source has failed for giveUpAfter.
func (q *queue) failed(e *entry, now time.Time) (again bool) {
	q.end(e)
	s := e.source
	if s.failingSince.IsZero() {
		s.failingSince = e.began
	}
	if e.failingSince.IsZero() {
		e.failingSince = e.began
	}
	e.tries++
	s.until = now.Add(q.delay(s.failures))
	s.failures++
	if q.replaced(e) {
		return true
	}
	longest := max(now.Sub(s.failingSince), now.Sub(e.failingSince))
	if e.tries > 1 && longest >= q.giveUpAfter {
		return false
	}
	q.requeue(e)
	return true
}

// delay returns how long a source is avoided after this number of failures.
func (q *queue) delay(failures int) time.Duration {
	d := q.minDelay
	for range failures {
		if d *= 2; d >= q.maxDelay {
			break
		}
	}
	return min(d, q.maxDelay)
}

// busy ends a copy that the source postponed. It does not count as a failure.
func (q *queue) busy(e *entry, now time.Time, after time.Duration) {
	q.end(e)
	e.source.until = now.Add(min(max(after, q.minDelay), q.maxDelay))
	if !q.replaced(e) {
		q.requeue(e)
	}
}

// lost ends a copy that cannot succeed. again reports whether another copy of the task will
// follow.
func (q *queue) lost(e *entry) (again bool) {
	q.end(e)
	return q.replaced(e)
}

// replaced reports whether another segment of the task waits or will be added.
func (q *queue) replaced(e *entry) bool { return e.dropped || q.waiting[e.Task] != nil }

// requeue makes a segment wait again, behind the others of its source.
func (q *queue) requeue(e *entry) {
	q.waiting[e.Task] = e
	e.source.waiting = append(e.source.waiting, e)
}
