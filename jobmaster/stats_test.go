package jobmaster_test

import (
	"maps"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
)

// TestStatsArePublishedOnceInASecond checks what the leader publishes, and that more checks of
// the loop do not publish more.
func TestStatsArePublishedOnceInASecond(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		check := func() {
			t.Helper()
			answered := make(chan struct{})
			w.masters[0].CheckLoop(func() { close(answered) })
			<-answered
		}
		check()
		if s := w.masters[0].Stats(); s != nil {
			t.Errorf("a follower publishes %+v", s)
		}
		w.elect(0)
		a := w.addFake("a", "a:1", 2, 0)
		w.addFake("b", "b:1", 0, 1)
		synctest.Wait()
		check()
		first := w.masters[0].Stats()
		if first == nil || !maps.Equal(first.Tasknodes, map[string]int{"RUNNING": 2}) || first.Slots[cluster.MapSlot] != 2 || first.Slots[cluster.ReduceSlot] != 1 {
			t.Fatalf("published is %+v", first)
		}
		w.submitNow(2, 1)
		for range 100 {
			check()
		}
		if s := w.masters[0].Stats(); !reflect.DeepEqual(s.Counts, first.Counts) {
			t.Errorf("published twice in a second: %+v", s)
		}
		time.Sleep(time.Second)
		check()
		s := w.masters[0].Stats()
		if s.Counts.Launches["other"] != 2 || s.Jobs["RUNNING"] != 1 || s.Jobs["SUCCEEDED"] != 0 || s.Used[cluster.MapSlot] != 2 {
			t.Errorf("published is %+v", s)
		}
		a.finish(a.starts[0])
		w.drain("a")
		time.Sleep(time.Second)
		check()
		if s := w.masters[0].Stats(); !maps.Equal(s.Tasknodes, map[string]int{"RUNNING": 1, "DECOMMISSIONING": 1}) || s.Slots[cluster.MapSlot] != 0 {
			t.Errorf("with a drained tasknode, published is %+v", s)
		}
	})
}
