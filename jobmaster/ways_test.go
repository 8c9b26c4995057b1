package jobmaster

import (
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/preempt"
)

func TestDisallowedModesOfAJob(t *testing.T) {
	const none = preempt.ModeSet(0)
	chain := dag.MapReduce(2, 2)
	chain.Stages = append(chain.Stages, dag.Stage{Name: "top", Nodes: 1, Slots: dag.SlotMap})
	chain.Edges = append(chain.Edges, dag.Edge{From: "reduce", To: "top", Connection: dag.Gather})
	for name, tt := range map[string]struct {
		properties map[string]string
		barred     map[string]string
		want       []preempt.ModeSet
		passive    bool
		fault      string
	}{
		"says nothing": {want: nil},
		"keeps its work": {
			properties: map[string]string{"hammr.job.map.preemption": "split, Checkpoint", "hammr.job.reduce.preemption": "checkpoint,suspend"},
			want:       []preempt.ModeSet{preempt.SetOf(preempt.Suspend, preempt.Kill), preempt.SetOf(preempt.Kill), preempt.SetOf(preempt.Suspend, preempt.Kill)},
		},
		"gives up no slot": {
			properties: map[string]string{"hammr.job.map.preemption": "", "hammr.job.reduce.preemption": "wait"},
			want:       []preempt.ModeSet{preempt.AllModes, preempt.AllModes &^ preempt.SetOf(preempt.Split), preempt.AllModes},
		},
		"takes none":       {properties: map[string]string{"hammr.job.may.preempt": "false"}, passive: true},
		"carries a state":  {barred: map[string]string{"map": "split"}, want: []preempt.ModeSet{preempt.SetOf(preempt.Split), none, none}},
		"bars both":        {properties: map[string]string{"hammr.job.map.preemption": "split,kill"}, barred: map[string]string{"map": "split,checkpoint"}, want: []preempt.ModeSet{preempt.AllModes &^ preempt.SetOf(preempt.Kill), none, preempt.SetOf(preempt.Checkpoint, preempt.Suspend)}},
		"of another graph": {barred: map[string]string{"m": "split"}, fault: `stage "m", which is not in the graph`},
		"of another age":   {barred: map[string]string{"map": "split,melt"}, fault: `preemption mode "melt", disallowed for stage map: unknown`},
		"misspelt":         {properties: map[string]string{"hammr.job.map.preemption": "split,freeze"}, fault: "hammr.job.map.preemption=split,freeze: expected some of split, checkpoint, suspend, kill, wait"},
		"splits reduces":   {properties: map[string]string{"hammr.job.reduce.preemption": "split"}, fault: "hammr.job.reduce.preemption=split: expected some of checkpoint, suspend, kill, wait"},
		"may, perhaps":     {properties: map[string]string{"hammr.job.may.preempt": "perhaps"}, fault: "hammr.job.may.preempt=perhaps: expected true or false"},
	} {
		spec, err := jobSpec(&wire.JobSpec{Graph: taskproc.FromGraph(chain), Properties: tt.properties, Barred: tt.barred})
		switch {
		case tt.fault != "":
			if err == nil || !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("one that %s: %v, want %q", name, err, tt.fault)
			}
		case err != nil || !slices.Equal(spec.DisallowedModes, tt.want) || spec.Passive != tt.passive:
			t.Errorf("one that %s bars %v, passive: %v, %v; want %v, %v", name, spec.DisallowedModes, spec.Passive, err, tt.want, tt.passive)
		}
	}
}
