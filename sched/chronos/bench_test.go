package chronos

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sched/schedtest"
)

// busy returns a cluster of machines with 12 map slots, all taken by 20 jobs, after the loss
// of one machine.
func busy(b *testing.B, machines int) *testCluster {
	w, random := newTestCluster(b, Config{}), rand.New(rand.NewPCG(1, 1))
	name := func(i int) string { return fmt.Sprintf("host%d", i%machines) }
	for i := range machines {
		w.Apply(cluster.JoinMachine{Name: name(i), Hosts: []string{name(i)}, Slots: cluster.Slots{12, 1}})
	}
	maps := machines * 12 / 20
	for job := range 20 {
		id := w.Apply(cluster.SubmitJob{Spec: schedtest.Spec(dag.MapReduce(maps, 0))}).Submitted
		splits := make([]cluster.Split, maps)
		for i := range splits {
			splits[i] = cluster.Split{Bytes: 128 << 20, Hosts: []string{name(random.IntN(machines)), name(random.IntN(machines)), name(random.IntN(machines))}}
		}
		if err := w.State.Load(id, splits); err != nil {
			b.Fatal(err)
		}
		w.Apply(cluster.StartJob{Job: id})
		for n := range maps {
			w.Apply(cluster.StartAttempt{Task: cluster.TaskID{Job: id, Stage: "m", Number: n}, Machine: name(job*maps + n)})
		}
	}
	w.Apply(cluster.ExpireMachine{Name: name(0), Epoch: 1})
	w.heartbeat(nil)
	w.policy.Reset(w.Now, w.PolicyView())
	return w
}

// BenchmarkDecide measures the first decision after a failure, with and without Chronos.
func BenchmarkDecide(b *testing.B) {
	for _, machines := range []int{100, 1000, 10_000} {
		w := busy(b, machines)
		plain := fifo.New(sched.Placement{})
		plain.Reset(w.Now, w.PolicyView())
		for name, policy := range map[string]sched.Policy{"fifo": plain, "chronos": w.policy} {
			b.Run(fmt.Sprintf("%d machines, %s", machines, name), func(b *testing.B) {
				b.ReportAllocs()
				var plan sched.Plan
				for b.Loop() {
					plan = policy.Decide(w.Now, w.PolicyView())
				}
				b.ReportMetric(float64(len(plan.Preempts)), "preempts")
			})
		}
	}
}
