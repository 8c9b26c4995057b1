package registry

import (
	"maps"
	"reflect"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

func TestPlacementOfEveryPolicy(t *testing.T) {
	before := sched.Placement{Patience: 9, Delay: locality.Delay{MachineWait: 4500, RackWait: 4500}}
	with := func(method sched.Method, node, rack int64) sched.Placement {
		return sched.Placement{Method: method, Patience: 9, Delay: locality.Delay{MachineWait: node, RackWait: rack}}
	}
	for name, tt := range map[string]struct {
		conf  map[string]string
		want  sched.Placement
		rest  string // settings that are left, joined
		wrong []string
	}{
		"none":             {want: before},
		"one of others":    {conf: map[string]string{"mapred.x": "y"}, want: before, rest: "mapred.x"},
		"a method":         {conf: map[string]string{PlacementMethod: "none"}, want: with(sched.None, 4500, 4500)},
		"delay by default": {conf: map[string]string{LocalityDelay: "-1"}, want: with(sched.Delay, 4500, 4500)},
		"delay":            {conf: map[string]string{LocalityDelay: "7000"}, want: with(sched.Delay, 7000, 7000)},
		"no delay":         {conf: map[string]string{LocalityDelay: "0"}, want: with(sched.Delay, 0, 0)},
		"each level":       {conf: map[string]string{NodeDelay: "7", RackDelay: "8"}, want: with(sched.Delay, 7, 8)},
		"one level":        {conf: map[string]string{LocalityDelay: "5", RackDelay: "8"}, want: with(sched.Delay, 5, 8)},
		"of no use":        {conf: map[string]string{LocalityDelay: "5", PlacementMethod: "flow"}, want: with(sched.Flow, 5, 5)},
		"empty":            {conf: map[string]string{LocalityDelay: "", PlacementMethod: ""}, want: before},
		"faults, all of them": {
			conf: map[string]string{PlacementMethod: "chance", LocalityDelay: "-2", NodeDelay: "1s", RackDelay: "10000000000000000"},
			want: with(sched.Delay, 4500, 4500), wrong: []string{PlacementMethod, LocalityDelay, NodeDelay, RackDelay},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := before
			rest, err := takePlacement("fifo", tt.conf, &got)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
			checkTaken(t, rest, tt.rest, err, tt.wrong)
		})
	}
}

// TestEveryPolicyUsesLocalityDelays checks a map with input on a machine without slots, and
// free slots in another rack.
func TestEveryPolicyUsesLocalityDelays(t *testing.T) {
	for _, name := range Names() {
		w := schedtest.New(t)
		w.Apply(cluster.JoinMachine{Name: "a", Hosts: []string{"a"}, Rack: "/far"})
		w.Join("b", 1, 0)
		w.Join("c", 1, 0)
		w.Run(schedtest.Spec(dag.MapReduce(1, 0)), "a")
		starts := func(conf map[string]string, after int64) int {
			conf = maps.Clone(conf)
			if UsesJobSizes(name, nil) {
				conf["hammr.hfsp.estimator"] = "oracle" // since samples do not wait for machines
			}
			p, err := New(name, conf, sched.Setup{
				Placement: sched.DefaultPlacement(), Oracle: func(*cluster.Job, cluster.Slot) (int64, bool) { return 1, true },
			})
			must.Do(t, err)
			p.Reset(w.Now, w.PolicyView())
			return len(p.Decide(w.View().Job(cluster.JobID{Cluster: "1", Number: 1}).StartedAt+after, w.PolicyView()).Starts)
		}
		delay := map[string]string{NodeDelay: "700", RackDelay: "50"}
		for _, tt := range []struct {
			conf  map[string]string
			after int64
			want  int
		}{{delay, 749, 0}, {delay, 750, 1}, {map[string]string{LocalityDelay: "0"}, 0, 1}, {map[string]string{PlacementMethod: "none"}, 0, 1}} {
			if got := starts(tt.conf, tt.after); got != tt.want {
				t.Errorf("%s with %v starts %d maps after %d ms, want %d", name, tt.conf, got, tt.after, tt.want)
			}
		}
	}
}
