package jobmaster_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/tasknode"
)

// TestUnhealthyTasknodeIsShownAndHealsByItself has a health script fail and succeed on one of
// two machines.
func TestUnhealthyTasknodeIsShownAndHealsByItself(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		var reason atomic.Value
		reason.Store("")
		w.addTasknodeOf(tasknode.Config{
			Name: "a", MapSlots: 1, ReduceSlots: 1, Dirs: []string{t.TempDir()},
			MachineStatus: func() *wire.Report_Heartbeat { return &wire.Report_Heartbeat{Unhealthy: reason.Load().(string)} },
		})
		want := func(when, state, text string) {
			t.Helper()
			w.sleep(3 * time.Second)
			nodes, err := w.leader().Tasknodes(w.ctx)
			if err != nil || len(nodes) != 1 || nodes[0].State != state || !strings.Contains(nodes[0].Unhealthy, text) || (text == "") != (nodes[0].Unhealthy == "") {
				t.Errorf("%s: %v, %v", when, nodes, err)
			}
		}
		want("at first", "RUNNING", "")
		reason.Store("ERROR disk sdb")
		want("when the script fails", "UNHEALTHY", "health script: ERROR disk sdb")
		reason.Store("ERROR disk sdc")
		want("when it fails again", "UNHEALTHY", "health script: ERROR disk sdb")
		reason.Store("")
		want("when it succeeds", "RUNNING", "")
	})
}
