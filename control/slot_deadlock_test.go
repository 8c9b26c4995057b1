package control

import (
	"fmt"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
)

// BenchmarkDeadlocksAfterALeaderChange measures a step in which nothing changes, after a new leader has marked every
// job as one that may have lost output: 10,000 reduces wait for the slots of 1,000 machines, and others wait for them.
func BenchmarkDeadlocksAfterALeaderChange(b *testing.B) {
	const machines, waiting = 1000, 10_000
	s := cluster.New("1")
	apply := func(c cluster.Command) {
		if _, err := s.Apply(cluster.Entry{At: 1, Command: c}); err != nil {
			b.Fatal(err)
		}
	}
	for n := range machines {
		apply(cluster.JoinMachine{Name: fmt.Sprint("n", n), Slots: cluster.Slots{1, 1}})
	}
	g := dag.Graph{
		Stages: []dag.Stage{{Name: "first", Nodes: waiting, Slots: dag.SlotReduce}, {Name: "second", Nodes: 100, Slots: dag.SlotReduce}},
		Edges:  []dag.Edge{{From: "first", To: "second"}},
	}
	apply(cluster.SubmitJob{Spec: cluster.JobSpec{Graph: g, MaxAttempts: [2]int{1, 1}}})
	job := cluster.JobID{Cluster: "1", Number: 1}
	if err := s.Load(job, make([]cluster.Split, waiting)); err != nil {
		b.Fatal(err)
	}
	apply(cluster.StartJob{Job: job})
	first := s.View().Job(job).Stages[0]
	for n := range machines {
		apply(cluster.StartAttempt{Task: first.Tasks[n].ID, Machine: fmt.Sprint("n", n)})
	}
	c := New(s.View(), fifo.New(sched.DefaultPlacement()))
	c.outputLost[job] = true
	b.ReportAllocs()
	for b.Loop() {
		c.breakDeadlocks(1)
	}
	if !c.outputLost[job] {
		b.Fatal("the stage waits and is not searched")
	}
}
