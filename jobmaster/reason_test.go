package jobmaster_test

import (
	"testing"
	"time"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
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

// TestGangsSayWhatTheyWaitFor has pairs of tasks that are to run at once, and
// that no tasknode was there to refuse.
func TestGangsSayWhatTheyWaitFor(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.elect(0)
		g := dag.Graph{
			Stages: []dag.Stage{{Name: "read", Nodes: 3}, {Name: "write", Nodes: 3}},
			Edges:  []dag.Edge{{From: "read", To: "write", Channel: dag.ChannelTCP, Connection: dag.OneToOne}},
		}
		submit := func(spec *wire.JobSpec) string {
			spec.Graph, spec.Fingerprint = taskproc.FromGraph(g), g.Fingerprint()
			return w.submitSpec(spec)
		}
		want := func(id, end string) {
			w.t.Helper()
			w.sleep(500 * time.Millisecond)
			jobs, err := w.leader().Jobs(w.ctx, false)
			if err != nil {
				w.t.Fatal(err)
			}
			want := "3 gangs of read+write wait, each for 1 map and 1 reduce slots at once; " + end
			for _, s := range jobs {
				if s.JobId == id && s.Reason != want {
					w.t.Errorf("it waits for %q, want %q", s.Reason, want)
				}
			}
		}
		first := submit(w.spec(3, 0))
		want(first, "the cluster has 0 and 0")
		w.addNode("a", 2, 0)
		want(first, "the cluster has 2 and 0")
		w.addNode("b", 0, 1)
		w.sleep(100 * time.Millisecond)
		want(submit(w.another(3, 0)), "1 and 0 are free")
	})
}
