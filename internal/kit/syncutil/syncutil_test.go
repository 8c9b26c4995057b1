package syncutil_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/internal/kit/syncutil"
)

// TestGroupClosesWhileAGoroutineStartsAnother closes a group whose running goroutine
// then asks for another.
func TestGroupClosesWhileAGoroutineStartsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g syncutil.Group
		var ended, late atomic.Bool
		proceed := make(chan struct{})
		if !g.Go(func() {
			<-proceed
			late.Store(g.Go(func() { t.Error("started after Close") }))
			ended.Store(true)
		}) {
			t.Fatal("an open group refuses a goroutine")
		}
		closed := make(chan struct{})
		go func() { g.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("Close did not wait")
		default:
		}
		close(proceed)
		<-closed
		if !ended.Load() || late.Load() {
			t.Errorf("ended %v, another one accepted %v", ended.Load(), late.Load())
		}
	})
}

func TestEachMessageIsTakenOnceAndInOrder(t *testing.T) {
	const senders, each = 4, 1000
	box := syncutil.NewMailbox[[2]int]()
	var sending sync.WaitGroup
	for s := range senders {
		sending.Go(func() {
			for i := range each {
				box.Put([2]int{s, i})
			}
		})
	}
	var next [senders]int
	for taken := 0; taken < senders*each; {
		<-box.Ready()
		for _, m := range box.Take() {
			if m[1] != next[m[0]] {
				t.Fatalf("sender %d: message %d, want %d", m[0], m[1], next[m[0]])
			}
			next[m[0]]++
			taken++
		}
	}
	sending.Wait()
	if rest := box.Take(); rest != nil {
		t.Errorf("left over: %v", rest)
	}
}
