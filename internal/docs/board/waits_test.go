package board

import (
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
)

// TestWaitsAreThoseOfStarts starts tasks a known time after they were ready: since the job runs, since
// their first attempt has failed, and since a split made them.
func TestWaitsAreThoseOfStarts(t *testing.T) {
	s := newStory(t, 3, 1) // the job has started at 2 s; its story is at 4 s
	want := Waits{Buckets: [len(WaitBuckets)]uint64{}}
	expect := func(millis int64) {
		t.Helper()
		want.Count, want.Millis = want.Count+1, want.Millis+millis
		for i, bound := range WaitBuckets {
			if millis <= bound {
				want.Buckets[i]++
			}
		}
		if got := s.board.Waits().Starts; got != want {
			t.Fatalf("%+v, want %+v", got, want)
		}
	}
	s.start(0, "a", true) // at 5 s
	expect(3000)
	s.at = 61_500
	s.start(1, "b", false) // at 62.5 s
	expect(60_500)
	s.at = 99_000
	s.do(cluster.FailAttempt{Attempt: try(1, 0), Failure: cluster.Failure{Cause: "bad"}}) // at 100 s
	s.do(cluster.ExitAttempt{Attempt: try(1, 0)})
	s.start(1, "a", true) // at 102 s
	expect(2000)
	s.at = 200_000
	s.do(cluster.SplitTask{Attempt: try(0, 0), At: dag.Position{Offset: 40}}) // at 201 s
	s.start(3, "a", true)                                                     // at 202 s
	expect(1000)
}
