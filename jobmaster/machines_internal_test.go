package jobmaster

import (
	"maps"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestDrainRateIsOfTheLastSeconds asks for the rate while moves become older.
func TestDrainRateIsOfTheLastSeconds(t *testing.T) {
	state := cluster.New("1")
	for _, name := range []string{"a", "b"} {
		if _, err := state.Apply(cluster.Entry{At: 1, Command: cluster.JoinMachine{Name: name, Instance: "x", Slots: cluster.Slots{1, 1}}}); err != nil {
			t.Fatal(err)
		}
	}
	drain := cluster.Entry{At: 100_000, Command: cluster.DrainMachine{Name: "a"}}
	if _, err := state.Apply(drain); err != nil {
		t.Fatal(err)
	}
	m := &Master{state: state, view: state.View(), drains: make(map[string]*drainProgress)}
	m.noteDrain(drain, movedData{})
	for second := range int64(60) { // one a second, of 10 bytes
		m.noteDrain(cluster.Entry{At: 100_000 + second*1000, Command: cluster.MoveOutput{}}, movedData{from: "a", to: "b", bytes: 10})
	}
	for now, want := range map[int64]int64{159_000: 30, 169_999: 20, 188_000: 1, 189_000: 0, 1_000_000: 0} {
		d := m.drains["a"].document(now, 0, apidoc.DrainCounts{})
		if d.MovedPerSecond != float64(want)/30 || d.BytesPerSecond != float64(10*want)/30 || d.RateMillis != 30_000 || d.Moved != 60 || d.Targets[0].Moved != 60 {
			t.Errorf("at %d ms: %v, want %d in the last 30 s", now, d, want)
		}
	}
}

// TestRackStartsCountMisses starts tasks on a machine whose input lies there, in its rack, in another rack
// and on a host without a tasknode.
func TestRackStartsCountMisses(t *testing.T) {
	state := cluster.New("1")
	do := func(c cluster.Command) {
		t.Helper()
		if _, err := state.Apply(cluster.Entry{At: 1, Command: c}); err != nil {
			t.Fatalf("%T: %v", c, err)
		}
	}
	job := cluster.JobID{Cluster: "1", Number: 1}
	do(cluster.SubmitJob{Spec: cluster.JobSpec{Name: "j", Graph: dag.MapReduce(5, 1), MaxAttempts: [2]int{4, 4}, SlowStartPPM: 1_000_000}})
	do(cluster.StartJob{Job: job})
	splits := []cluster.Split{{Hosts: []string{"a"}}, {Hosts: []string{"c"}}, {Hosts: []string{"b.example"}}, {Hosts: []string{"nas"}}, {}}
	must.Do(t, state.Load(job, splits))
	do(cluster.JoinMachine{Name: "a", Instance: "x", Rack: "/r1", Slots: cluster.Slots{5, 1}})
	do(cluster.JoinMachine{Name: "b", Instance: "x", Rack: "/r2", Hosts: []string{"b.example"}, Slots: cluster.Slots{5, 1}})
	starts := make(rackStarts)
	for n := range splits {
		starts.add(state.View(), cluster.StartAttempt{Task: cluster.TaskID{Job: job, Stage: "m", Number: n}, Machine: "a", Local: n == 0, RackLocal: n == 1})
	}
	starts.add(state.View(), cluster.StartAttempt{Task: cluster.TaskID{Job: job, Stage: "r"}, Machine: "a"})
	if want := map[string]int64{"/r1": 2, "/r2": 1, outsideRacks: 1}; !maps.Equal(starts["a"], want) || len(starts) != 1 {
		t.Errorf("%v, want %v", starts, want)
	}
}
