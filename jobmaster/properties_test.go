package jobmaster

import (
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/preempt"
)

func TestSubmissionReportsEveryBadProperty(t *testing.T) {
	_, err := newSubmission(&wire.JobSpec{
		ClientId: "me", Graph: taskproc.FromGraph(dag.MapReduce(1, 1)), DisallowedModes: map[string]string{"map": "melt"},
		Properties: map[string]string{
			"mapreduce.map.maxattempts": "0", "mapreduce.task.timeout": "soon", "mapreduce.job.priority": "URGENT",
			"hammr.job.may.preempt": "perhaps", "mapreduce.job.queuename": "nightly",
		},
	}, cluster.DefaultLimits())
	for _, want := range []string{
		"mapreduce.map.maxattempts=0: expected", "mapreduce.task.timeout=soon: expected", "mapreduce.job.priority=URGENT: expected",
		"hammr.job.may.preempt=perhaps: expected true or false", `unknown preemption mode "melt"`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
}

func TestSubmissionNeedsAClient(t *testing.T) {
	_, err := newSubmission(&wire.JobSpec{Graph: taskproc.FromGraph(dag.MapReduce(1, 1))}, cluster.DefaultLimits())
	if err == nil || !strings.Contains(err.Error(), "client id") {
		t.Errorf("submission without a client id: %v", err)
	}
}

func TestDisallowedModesOfASubmission(t *testing.T) {
	const none = preempt.ModeSet(0)
	chain := dag.MapReduce(2, 2)
	chain.Stages = append(chain.Stages, dag.Stage{Name: "top", Nodes: 1, Slots: dag.SlotMap})
	chain.Edges = append(chain.Edges, dag.Edge{From: "reduce", To: "top", Connection: dag.Gather})
	for name, tt := range map[string]struct {
		properties map[string]string
		disallowed map[string]string
		want       []preempt.ModeSet
		passive    bool
		err        string
	}{
		"no property": {want: nil},
		"no mode that loses work": {
			properties: map[string]string{"hammr.job.map.preemption": "split, Checkpoint", "hammr.job.reduce.preemption": "checkpoint,suspend"},
			want:       []preempt.ModeSet{preempt.SetOf(preempt.Suspend, preempt.Kill), preempt.SetOf(preempt.Kill), preempt.SetOf(preempt.Suspend, preempt.Kill)},
		},
		"no mode at all": {
			properties: map[string]string{"hammr.job.map.preemption": "", "hammr.job.reduce.preemption": "wait"},
			want:       []preempt.ModeSet{preempt.AllModes, preempt.AllModes &^ preempt.SetOf(preempt.Split), preempt.AllModes},
		},
		"the job never preempts":      {properties: map[string]string{"hammr.job.may.preempt": "false"}, passive: true},
		"the client disallows a mode": {disallowed: map[string]string{"map": "split"}, want: []preempt.ModeSet{preempt.SetOf(preempt.Split), none, none}},
		"both disallow":               {properties: map[string]string{"hammr.job.map.preemption": "split,kill"}, disallowed: map[string]string{"map": "split,checkpoint"}, want: []preempt.ModeSet{preempt.AllModes &^ preempt.SetOf(preempt.Kill), none, preempt.SetOf(preempt.Checkpoint, preempt.Suspend)}},
		"unknown stage":               {disallowed: map[string]string{"m": "split"}, err: `stage "m", which is not in the graph`},
		"unknown mode of the client":  {disallowed: map[string]string{"map": "split,melt"}, err: `unknown preemption mode "melt" disallowed for stage map`},
		"unknown mode in a property":  {properties: map[string]string{"hammr.job.map.preemption": "split,freeze"}, err: "hammr.job.map.preemption=split,freeze: expected some of split, checkpoint, suspend, kill, wait"},
		"split for reduces":           {properties: map[string]string{"hammr.job.reduce.preemption": "split"}, err: "hammr.job.reduce.preemption=split: expected some of checkpoint, suspend, kill, wait"},
		"neither true nor false":      {properties: map[string]string{"hammr.job.may.preempt": "perhaps"}, err: "hammr.job.may.preempt=perhaps: expected true or false"},
	} {
		s, err := newSubmission(&wire.JobSpec{ClientId: "me", Graph: taskproc.FromGraph(chain), Properties: tt.properties, DisallowedModes: tt.disallowed}, cluster.DefaultLimits())
		switch {
		case tt.err != "":
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v, want %q", name, err, tt.err)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case !slices.Equal(s.spec.DisallowedModes, tt.want) || s.spec.Passive != tt.passive:
			t.Errorf("%s: disallowed %v, passive: %v; want %v, %v", name, s.spec.DisallowedModes, s.spec.Passive, tt.want, tt.passive)
		}
	}
}
