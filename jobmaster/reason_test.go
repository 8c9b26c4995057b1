package jobmaster_test

import (
	"testing"
	"time"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/taskproc"
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

// TestGangsSayWhatTheyWaitFor has pairs of tasks that are to run at once.
func TestGangsSayWhatTheyWaitFor(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.elect(0)
		g := dag.Graph{
			Stages: []dag.Stage{{Name: "read", Nodes: 3}, {Name: "write", Nodes: 3}},
			Edges:  []dag.Edge{{From: "read", To: "write", Channel: dag.ChannelTCP, Connection: dag.OneToOne}},
		}
		spec := w.spec(3, 0)
		spec.Graph, spec.Fingerprint = taskproc.FromGraph(g), g.Fingerprint()
		id := w.submitSpec(spec)
		w.sleep(time.Second)
		s, err := w.leader().Job(w.ctx, id, false)
		if want := "3 gangs of read+write wait for 1 map and 1 reduce slots each; 0 and 0 are free"; err != nil || s.Reason != want {
			w.t.Errorf("it waits for %q, %v; want %q", s.GetReason(), err, want)
		}
	})
}
