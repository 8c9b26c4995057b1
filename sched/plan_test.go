package sched

import (
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

func TestPlansNameBeneficiaries(t *testing.T) {
	view := cluster.New("1").View()
	for _, p := range []Preempt{{Mode: preempt.Kill, For: cluster.JobID{Cluster: "1", Number: 7}}, {Mode: preempt.Suspend, ForPool: "etl"}, {Mode: preempt.Checkpoint}} {
		commands := Plan{Preempts: []Preempt{p}}.Commands(view)
		if len(commands) != 1 {
			t.Fatalf("%+v", commands)
		}
		if got, want := commands[0].(cluster.PreemptAttempt).For, (cluster.Beneficiary{Job: p.For, Pool: p.ForPool}); got != want {
			t.Errorf("for %+v, want %+v", got, want)
		}
	}
}
