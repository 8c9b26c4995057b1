package tasknode

import (
	"errors"
	"fmt"
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

// TestMasterSetsTheSlots orders other slots. The answer is a Joined report, which comes when they are kept.
func TestMasterSetsTheSlots(t *testing.T) {
	var kept []string
	broken := error(nil)
	keep := func(cfg *Config) {
		cfg.KeepSlots = func(maps, reduces int) error {
			kept = append(kept, fmt.Sprint(maps, "+", reduces))
			return broken
		}
	}
	runOn(t, osFiles{}, keep, func(b *rig) {
		order := func(maps, reduces int32, wantMaps, wantReduces int32, says string) {
			t.Helper()
			b.orders.Put(&wire.Order{Order: &wire.Order_SetSlots_{SetSlots: &wire.Order_SetSlots{MapSlots: maps, ReduceSlots: reduces}}})
			synctest.Wait()
			joined := (<-b.reports).GetJoined()
			if joined.GetSlotsSet() == nil || joined.MapSlots != wantMaps || joined.ReduceSlots != wantReduces || !strings.Contains(joined.SlotsSet.Error, says) || (says == "") != (joined.SlotsSet.Error == "") {
				t.Errorf("after %d+%d: %v", maps, reduces, joined)
			}
		}
		order(4, -1, 4, 1, "")
		order(4, 1, 4, 1, "") // again
		order(0, -1, 0, 1, "")
		order(-1, 0, 0, 1, "no slots of the other kind")
		broken = errors.New("disk full")
		order(-1, 7, 0, 1, "disk full")
		if got := strings.Join(kept, " "); got != "4+1 4+1 0+1 0+7" {
			t.Errorf("kept %s", got)
		}
		b.daemon.Reload(Offer{MapSlots: 2, ReduceSlots: 2})
		synctest.Wait()
		if joined := (<-b.reports).GetJoined(); joined.GetSlotsSet() != nil || joined.GetMapSlots() != 2 {
			t.Errorf("reloaded: %v", joined)
		}
	})
}
