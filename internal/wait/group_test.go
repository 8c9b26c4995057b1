package wait_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/internal/wait"
)

// TestGroup closes a group of which one goroutine runs, which then wants another.
func TestGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g wait.Group
		var ended, late atomic.Bool
		goOn := make(chan struct{})
		if !g.Go(func() {
			<-goOn
			late.Store(g.Go(func() { t.Error("began after Close") }))
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
		close(goOn)
		<-closed
		if !ended.Load() || late.Load() {
			t.Errorf("ended %v, another one accepted %v", ended.Load(), late.Load())
		}
	})
}
