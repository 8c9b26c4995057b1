package jobmaster_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/docs/apidoc"
)

// TestLossIsOnAllMasters loses a tasknode with a running map and a finished one. Both masters have the same record.
func TestLossIsOnAllMasters(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.elect(0)
		crash := w.addTasknode("a", 1, 0)
		id := w.submit(2, 1)
		w.sleep(1500 * time.Millisecond) // one has finished
		crash()
		w.sleep(w.expiry - 2*time.Second)
		w.addTasknode("b", 4, 1)
		w.wantSucceeded(id)
		lists := make([][]apidoc.Loss, 2)
		for i, m := range w.masters {
			lists[i] = m.Board().Losses("").Losses
		}
		if l := lists[0]; len(l) != 1 || l[0].Node != "a" || l[0].Running != 1 || l[0].Outputs != 1 || l[0].Started != 2 || l[0].Maps != 2 || l[0].CorrectMillis == nil {
			w.t.Fatalf("losses %+v", l)
		}
		var recoveries []string
		for _, task := range lists[0][0].Tasks {
			recoveries = append(recoveries, task.Recovery[strings.Index(task.Recovery, "_m_")+1:])
		}
		if slices.Sort(recoveries); !slices.Equal(recoveries, []string{"m_000000_1", "m_000001_1"}) {
			w.t.Errorf("recoveries %q", recoveries)
		}
		if *lists[0][0].CorrectMillis != *lists[1][0].CorrectMillis || lists[0][0].WaitMillis != lists[1][0].WaitMillis {
			w.t.Errorf("on the follower: %+v, want %+v", lists[1], lists[0])
		}
	})
}
