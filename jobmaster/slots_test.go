package jobmaster_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
)

// slotsOf returns the map slots of a tasknode and how many of them are in use.
func (w *testCluster) slotsOf(name string) (slots, used int32) {
	w.t.Helper()
	synctest.Wait()
	n, err := w.leader().Tasknode(w.ctx, name)
	must.Do(w.t, err)
	return n.MapSlots, n.MapsRunning
}

func (w *testCluster) wantSlots(when string, slots, used int32) {
	w.t.Helper()
	if s, u := w.slotsOf("a"); s != slots || u != used {
		w.t.Errorf("%s %d of %d map slots are in use, want %d of %d", when, u, s, used, slots)
	}
}

// TestSlotsChangeWhileTasksRun gives a tasknode more slots while maps wait, fewer while they run, and another leader.
// Nothing runs twice.
func TestSlotsChangeWhileTasksRun(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.takes = 10 * time.Second
		w.elect(0)
		w.addTasknode("a", 1, 1)
		id := w.submit(6, 1)
		w.wantSlots("at first", 1, 1)
		must.Do(w.t, w.leader().SetSlots(jobmaster.WithUser(w.ctx, "ann"), "a", cluster.Slots{3, -1}))
		w.wantSlots("with more slots", 3, 3)
		w.sleep(time.Second)
		must.Do(w.t, w.leader().SetSlots(w.ctx, "a", cluster.Slots{2, 1}))
		w.wantSlots("with fewer slots", 2, 3)
		w.elect(1)
		w.sleep(3 * time.Second)
		w.wantSlots("under another leader", 2, 3)
		must.Do(w.t, w.leader().SetSlots(w.ctx, "a", cluster.Slots{1, 1}))
		w.sleep(6500 * time.Millisecond) // the first three have ended
		w.wantSlots("after the tasks", 1, 1)
		w.wantSucceeded(id)
		if got, want := w.attempts(), "m_000000_0 m_000001_0 m_000002_0 m_000003_0 m_000004_0 m_000005_0 r_000000_0"; got != want {
			w.t.Errorf("attempts were %s", got)
		}
		for number, m := range w.masters {
			want := apidoc.UserAction{User: "ann", Do: "node.set", ID: "a", To: "map=3,reduce=1"}
			actions := m.Board().Snapshot().Actions
			if !slices.ContainsFunc(actions, func(a apidoc.UserAction) bool { a.Time = 0; return a == want }) || len(actions) != 1 {
				w.t.Errorf("actions on master %d: %+v", number, actions)
			}
		}
	})
}

// TestSlotsAreRefused sets slots of tasknodes that cannot have them.
func TestSlotsAreRefused(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 1, 0)
		gone := w.addFake("gone", "", 1, 1)
		crash := w.addTasknode("lost", 1, 1)
		synctest.Wait()
		crash()
		gone.own.Detach()
		w.sleep(time.Second)
		set := func(name string) error { return w.leader().SetSlots(w.ctx, name, cluster.Slots{0, -1}) }
		w.wantErr("unknown", set("none"), cluster.ErrUnknown, `"none"`)
		w.wantErr("both 0", set("a"), cluster.ErrRefused, "tasknode a: it would have no slots of the other kind")
		w.wantErr("without a connection", set("gone"), cluster.ErrRefused, "gone is not connected to the leader")
		old := w.addFake("old", "", 1, 1) // it does not answer
		beat := func() {
			old.report("", &wire.Report{Report: &wire.Report_Heartbeat_{Heartbeat: new(wire.Report_Heartbeat)}})
		}
		before := time.Now()
		later := make(chan error, 1)
		go func() { later <- set("old") }()
		synctest.Wait()
		w.wantErr("a second request", set("old"), cluster.ErrRefused, "are being set: repeat")
		w.sleep(5 * time.Second)
		beat()
		w.wantErr("without an answer", <-later, cluster.ErrRefused, "has not answered within 10s")
		if took := time.Since(before); took != 10*time.Second {
			w.t.Errorf("gave up after %v", took)
		}
		go func() { later <- set("old") }() // the first has timed out
		synctest.Wait()
		old.own.Detach()
		w.wantErr("a broken connection", <-later, cluster.ErrRefused, "broke before it answered")
		w.sleep(w.expiry)
		w.wantErr("lost", set("lost"), cluster.ErrRefused, "lost is lost: start it")
		w.wantSlots("after all,", 1, 0)

		w.addFake("again", "", 1, 1)
		go func() { later <- set("again") }()
		synctest.Wait()
		w.elect(1)
		if err := <-later; !errors.Is(err, jobmaster.ErrNotLeader) {
			w.t.Errorf("a change of leader: %v", err)
		}
	})
}

// TestSlotsAnswerWaitsForTheLog answers a request only when the state has the slots.
func TestSlotsAnswerWaitsForTheLog(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		a := w.addFake("a", "", 1, 1)
		answer := make(chan error, 1)
		go func() { answer <- w.leader().SetSlots(w.ctx, "a", cluster.Slots{4, 2}) }()
		synctest.Wait()
		join := func(set *wire.Report_SlotsSet) {
			a.report("", &wire.Report{Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{Instance: "a", MapSlots: 4, ReduceSlots: 2, SlotsSet: set}}})
		}
		join(nil) // for another reason
		w.delayProposals(0)
		join(new(wire.Report_SlotsSet))
		select {
		case err := <-answer:
			w.t.Fatalf("answered %v before the entry", err)
		default:
		}
		w.delayProposals(-1)
		must.Do(w.t, <-answer)
	})
}
