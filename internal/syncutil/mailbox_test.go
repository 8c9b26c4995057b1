package syncutil

import (
	"sync"
	"testing"
)

func TestEachMessageIsTakenOnceAndInOrder(t *testing.T) {
	const senders, each = 4, 1000
	box := NewMailbox[[2]int]()
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
