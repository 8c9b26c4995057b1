package tasknode

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestReloadOffersLessThanRuns lowers what a machine offers below what its tasks use. They run on,
// and the master gets one report about it.
func TestReloadOffersLessThanRuns(t *testing.T) {
	run(t, func(b *rig) {
		task := b.start(taskproc.Kind_MAP)
		offer := Offer{MapSlots: 0, ReduceSlots: 5, MemoryMB: 4096, Rack: "/b"}
		b.daemon.Reload(offer)
		b.daemon.Reload(offer) // nothing changes
		synctest.Wait()
		joined := (<-b.reports).GetJoined()
		if joined == nil || joined.MapSlots != 0 || joined.ReduceSlots != 5 || joined.MemoryMb != 4096 || joined.Rack != "/b" || joined.Instance == "" {
			t.Errorf("report %v", joined)
		}
		if n := len(joined.GetAttempts()); n != 1 {
			t.Errorf("%d attempts run", n)
		}
		if c := b.daemon.Counts(); c.Offered != 4096 || c.Running != 1 {
			t.Errorf("counts %+v", c)
		}
		must.Do(t, task.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: new(taskproc.Finished)}}))
		task.end(nil)
		if r := <-b.reports; r.GetFinished() == nil {
			t.Errorf("after the task: %v", r)
		}
	})
}

// TestAdmissionIsPassedOn sends what a master says about new tasks.
func TestAdmissionIsPassedOn(t *testing.T) {
	run(t, func(b *rig) {
		for _, refusal := range []string{"", "drained", ""} {
			b.orders.Put(&wire.Order{Order: &wire.Order_Admission_{Admission: &wire.Order_Admission{Refusal: refusal}}})
			synctest.Wait()
		}
		if got := strings.Join(b.refusals, ","); got != ",drained," {
			t.Errorf("refusals %q", got)
		}
	})
}
