package jobmaster_test

import (
	"testing"
	"time"
)

// TestJobsSayWhatTheyWaitFor has less and less to wait for.
func TestJobsSayWhatTheyWaitFor(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.elect(0)
		first, second := w.submit(1, 1), w.submitSpec(w.another(2, 0))
		want := func(id, reason string) {
			w.t.Helper()
			w.sleep(500 * time.Millisecond)
			s, err := w.leader().Job(w.ctx, id, true)
			if err != nil || s.Reason != reason {
				w.t.Errorf("%s waits for %q, %v; want %q", id, s.GetReason(), err, reason)
			}
		}
		want(first, "1 map tasks wait for tasknodes; none is there")
		w.addNode("a", 1, 0)
		want(second, "2 map tasks wait for map slots; all 1 are taken")
		w.succeeds(second)
		want(first, "1 reduce tasks wait for reduce slots; no tasknode that takes tasks has any")
		w.addNode("b", 0, 1)
		w.succeeds(first)
	})
}
