package remote

import (
	"testing"

	"github.com/hammr/hammr/internal/rpc/wire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

// TestWatchShowsNoEarlierState passes the statuses of several masters to a watcher. It
// checks that the shown statuses only advance, that each differs from the one before, and
// that the final status is shown once, as the last.
func TestWatchShowsNoEarlierState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var shown []*wire.JobStatus
		w := &watcher{each: func(s *wire.JobStatus) { shown = append(shown, s) }}
		for range rapid.IntRange(0, 30).Draw(t, "told") {
			if w.done() {
				break // the rest of the stream is not read
			}
			w.show(&wire.JobStatus{
				State:       wire.JobState(rapid.IntRange(1, 7).Draw(t, "state")),
				MapProgress: float64(rapid.IntRange(0, 1).Draw(t, "progress")),
			})
		}
		for i, s := range shown {
			if final := s.State.Final(); final != (i == len(shown)-1 && w.done()) {
				t.Fatalf("status %d of %d is %v", i+1, len(shown), s.State)
			}
			if i > 0 && (s.State < shown[i-1].State || proto.Equal(s, shown[i-1])) {
				t.Fatalf("%v is shown after %v", s, shown[i-1])
			}
		}
	})
}
