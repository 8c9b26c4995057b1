package syncutil_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/internal/syncutil"
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
