package sched

import (
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// TestPlansNameBeneficiariesFromVersion2 makes commands for clusters of each version: all of them may be
// proposed there.
func TestPlansNameBeneficiariesFromVersion2(t *testing.T) {
	job := cluster.JobID{Cluster: "1", Number: 7}
	for version := cluster.FirstVersion; version <= cluster.FormatVersion; version++ {
		view := cluster.NewAt("1", version).View()
		for _, p := range []Preempt{{Mode: preempt.Kill, For: job}, {Mode: preempt.Suspend, ForPool: "etl"}, {Mode: preempt.Checkpoint}} {
			commands := Plan{Preempts: []Preempt{p}}.Commands(view)
			if len(commands) != 1 || view.CheckVersion(commands[0]) != nil {
				t.Fatalf("version %d: %+v", version, commands)
			}
			want := cluster.Beneficiary{Job: p.For, Pool: p.ForPool}
			if version < 2 {
				want = cluster.Beneficiary{}
			}
			if got := commands[0].(cluster.PreemptAttempt).For; got != want {
				t.Errorf("version %d: for %+v, want %+v", version, got, want)
			}
		}
	}
}
