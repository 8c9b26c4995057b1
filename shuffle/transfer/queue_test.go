package transfer

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const (
	testGiveUpAfter = time.Minute
	testMin         = time.Second
	testMax         = 8 * time.Second
)

func segment(task int, address string) Segment {
	return Segment{Task: int32(task), Output: Output{Address: address, Attempt: fmt.Sprint(task, "@", address)}}
}

var epoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

func TestQueueSpreadsOverSources(t *testing.T) {
	q := newQueue(testGiveUpAfter, testMin, testMax)
	for i := range 4 {
		q.add(segment(i, "a"))
	}
	q.add(segment(4, "b"))
	q.add(segment(5, "c"))
	var order []int32
	for range 6 {
		e, _ := q.next(epoch)
		order = append(order, e.Task)
	}
	if !slices.Equal(order, []int32{0, 4, 5, 1, 2, 3}) {
		t.Errorf("order %v", order)
	}
	if e, wait := q.next(epoch); e != nil || wait >= 0 {
		t.Errorf("%v, %v from an empty queue", e, wait)
	}
}

func TestQueueLeavesABadSourceAlone(t *testing.T) {
	q := newQueue(testGiveUpAfter, testMin, testMax)
	q.add(segment(0, "bad"))
	q.add(segment(1, "good"))
	now := epoch
	for _, want := range []time.Duration{1, 2, 4, 8, 8} {
		e, _ := q.next(now)
		if e == nil || e.Task != 0 || !q.failed(e, now) {
			t.Fatalf("%v is next", e)
		}
		if e, _ = q.next(now); e == nil || e.Task != 1 {
			t.Fatalf("%v is next while the other source is left alone", e)
		}
		q.busy(e, now, 0)
		e, wait := q.next(now)
		if e != nil || wait != min(testMin, want*time.Second) {
			t.Fatalf("%v, %v", e, wait)
		}
		now = now.Add(want * time.Second)
		if e, _ = q.next(now.Add(-1)); want > 1 && e != nil && e.Task == 0 {
			t.Fatalf("source asked before %v are over", want)
		} else if e != nil {
			q.busy(e, now.Add(-testMin), 0)
		}
	}
	e, _ := q.next(now)
	q.succeeded(e)
	if s := q.source("bad"); s.failures != 0 || !s.failingSince.IsZero() {
		t.Errorf("%+v after a success", s)
	}
}

// TestQueueGivesUp checks that an output is lost only after testGiveUpAfter. This holds for
// a dead source, and for one bad output of a healthy source.
func TestQueueGivesUp(t *testing.T) {
	for _, sound := range []int{0, 1000} {
		q := newQueue(testGiveUpAfter, testMin, testMax)
		q.add(segment(0, "a"))
		for i := range sound {
			q.add(segment(i+1, "a"))
		}
		now := epoch
		for {
			e, wait := q.next(now)
			if e == nil {
				now = now.Add(wait)
				continue
			}
			now = now.Add(time.Second) // each copy takes one second
			if e.Task != 0 {
				q.succeeded(e)
				continue
			}
			if !q.failed(e, now) {
				break
			}
			if now.Sub(epoch) > 100*testGiveUpAfter {
				t.Fatal("patience has no end")
			}
		}
		if now.Sub(epoch) < testGiveUpAfter {
			t.Errorf("lost after %v", now.Sub(epoch))
		}
	}
}

func TestQueueTakesTheNewerOutput(t *testing.T) {
	q := newQueue(testGiveUpAfter, testMin, testMax)
	q.add(segment(0, "a"))
	q.add(segment(0, "b")) // replaces the first
	e, _ := q.next(epoch)
	if e.Output.Address != "b" {
		t.Fatalf("%v is next", e.Output)
	}
	q.add(segment(0, "c"))
	if next, _ := q.next(epoch); next != nil {
		t.Fatalf("%v copied beside %v", next.Output, e.Output)
	}
	if !q.lost(e) {
		t.Fatal("lost though there is a newer one")
	}
	e, _ = q.next(epoch)
	q.add(segment(0, "d"))
	q.succeeded(e)
	if next, wait := q.next(epoch); next != nil || wait >= 0 || len(q.waiting) > 0 {
		t.Fatalf("%v copied after a success", next)
	}
}

func TestQueueDropsLostOutputs(t *testing.T) {
	q := newQueue(testGiveUpAfter, testMin, testMax)
	one, two := segment(0, "a"), segment(1, "a")
	q.add(one)
	q.add(two)
	q.drop(1, "another attempt")
	e, _ := q.next(epoch)
	q.drop(0, one.Output.Attempt)
	q.drop(1, two.Output.Attempt)
	if again := q.failed(e, epoch.Add(10*testGiveUpAfter)); !again {
		t.Error("lost, though it was known to be gone")
	}
	if e, wait := q.next(epoch.Add(time.Hour)); e != nil || wait >= 0 {
		t.Errorf("%v is copied", e.Output)
	}
	q.add(segment(0, "b"))
	if e, _ := q.next(epoch.Add(time.Hour)); e == nil || e.Output.Address != "b" {
		t.Errorf("%v instead of the newer output", e)
	}
}

// TestQueueForgetsIdleSources checks that a source is known only while it has segments or failures.
func TestQueueForgetsIdleSources(t *testing.T) {
	q := newQueue(testGiveUpAfter, testMin, testMax)
	for i := range 3 {
		q.add(segment(i, fmt.Sprint("file", i)))
	}
	e, _ := q.next(epoch)
	q.succeeded(e)
	failing, _ := q.next(epoch)
	q.failed(failing, epoch)
	e, _ = q.next(epoch)
	q.succeeded(e)
	if e, wait := q.next(epoch); e != nil || wait != testMin {
		t.Fatalf("%v, %v; want the delay of %s", e, wait, failing.source.name)
	}
	if len(q.byName) != 1 || q.sources.Len() != 1 || q.source("file1") != failing.source {
		t.Errorf("%d sources, %d names are kept", q.sources.Len(), len(q.byName))
	}
}

// BenchmarkQueueOfStoredFiles copies 100,000 segments, each from a source of its own.
func BenchmarkQueueOfStoredFiles(b *testing.B) {
	for b.Loop() {
		q := newQueue(testGiveUpAfter, testMin, testMax)
		for i := range 100_000 {
			q.add(segment(i, fmt.Sprint("file", i)))
		}
		for e, _ := q.next(epoch); e != nil; e, _ = q.next(epoch) {
			q.succeeded(e)
		}
	}
}

// TestQueueKeepsItsInvariants runs random copies and compares the queue with a simple list
// of them.
func TestQueueKeepsItsInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newQueue(testGiveUpAfter, testMin, testMax)
		now := epoch
		var copying []*entry
		wanted, done := map[int32]bool{}, map[int32]bool{}
		end := func(f func(e *entry)) {
			if len(copying) > 0 {
				i := rapid.IntRange(0, len(copying)-1).Draw(t, "which")
				e := copying[i]
				copying = slices.Delete(copying, i, i+1)
				f(e)
			}
		}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			switch rapid.IntRange(0, 6).Draw(t, "step") {
			case 0, 1:
				task := rapid.IntRange(0, 20).Draw(t, "task")
				if !done[int32(task)] {
					q.add(segment(task, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "source")))
					wanted[int32(task)] = true
				}
			case 2, 3:
				e, wait := q.next(now)
				if e == nil {
					now = now.Add(max(wait, 0))
					break
				}
				if e.source.until.After(now) || slices.ContainsFunc(copying, func(c *entry) bool { return c.Task == e.Task }) {
					t.Fatalf("task %d begun too early", e.Task)
				}
				copying = append(copying, e)
			case 4:
				end(func(e *entry) { q.succeeded(e); delete(wanted, e.Task); done[e.Task] = true })
			case 5:
				end(func(e *entry) {
					if !q.failed(e, now) {
						delete(wanted, e.Task)
					}
				})
			case 6:
				end(func(e *entry) { q.busy(e, now, 3*time.Second) })
			}
			checkQueue(t, q, copying, wanted)
		}
	})
}

func checkQueue(t *rapid.T, q *queue, copying []*entry, wanted map[int32]bool) {
	active, waiting := 0, map[int32]bool{}
	for _, s := range q.byName {
		active += s.active
		for _, e := range s.waiting {
			if waiting[e.Task] || q.waiting[e.Task] != e {
				t.Fatalf("task %d waits twice", e.Task)
			}
			waiting[e.Task] = true
		}
	}
	if active != len(copying) || len(q.copying) != len(copying) || len(waiting) != len(q.waiting) {
		t.Fatalf("%d active, %d copying, %d waiting; %d are copied", active, len(q.copying), len(q.waiting), len(copying))
	}
	for task := range wanted {
		if !waiting[task] && q.copying[task] == nil {
			t.Fatalf("task %d is forgotten", task)
		}
	}
}
