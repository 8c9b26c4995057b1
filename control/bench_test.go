package control

import (
	"fmt"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
)

// loop is a state and a controller whose log commits at once.
type loop struct {
	b        *testing.B
	machines int
	state    *cluster.State
	brain    *Controller
	running  []cluster.AttemptID
}

// newLoop returns a loop with machines of four map slots each, a job of many tasks that uses
// all slots, and other jobs that wait.
func newLoop(b *testing.B, machines, tasks, queued int) *loop {
	b.Helper()
	l := &loop{b: b, machines: machines, state: cluster.New("1")}
	l.brain = New(l.state.View(), fifo.New(sched.DefaultPlacement()))
	for n := range machines {
		name := fmt.Sprintf("n%d", n)
		l.step(Requested{Command: cluster.JoinMachine{Name: name, Hosts: []string{name}, Slots: cluster.Slots{4, 1}}})
	}
	l.start(1, tasks)
	for n := range queued {
		l.start(n+2, 1)
	}
	return l
}

// start submits a job, which gets the given number, and starts it.
func (l *loop) start(number, tasks int) {
	l.b.Helper()
	id := cluster.JobID{Cluster: "1", Number: number}
	l.step(Requested{Command: cluster.SubmitJob{Spec: cluster.JobSpec{
		Graph: dag.MapReduce(tasks, 1), MaxAttempts: [2]int{4, 4}, SlowStartPPM: 1_000_000, TimeoutMillis: 600_000,
	}}})
	splits := make([]cluster.Split, tasks)
	for i := range splits {
		splits[i].Hosts = []string{fmt.Sprintf("n%d", i%l.machines), fmt.Sprintf("n%d", 7*i%l.machines)}
	}
	must.Do(l.b, l.state.Load(id, splits))
	l.step(Requested{Command: cluster.StartJob{Job: id}})
}

// step handles an event and everything that follows from it.
func (l *loop) step(event Event) {
	for out := l.brain.Step(1, []Event{event}); len(out.Commands) > 0; {
		var done Applied
		for _, e := range out.Commands {
			delta, err := l.state.Apply(e)
			done.Results = append(done.Results, Result{e, delta, err})
			l.running = append(l.running, delta.Started...)
		}
		out = l.brain.Step(1, []Event{done})
	}
}

// BenchmarkHeartbeat measures the cost of one report of progress.
func BenchmarkHeartbeat(b *testing.B) {
	for _, size := range [][2]int{{10, 0}, {100_000, 0}, {10, 1000}} {
		b.Run(fmt.Sprintf("tasks=%d,queued=%d", size[0], size[1]), func(b *testing.B) {
			l := newLoop(b, 1, size[0], size[1])
			b.ReportAllocs()
			for mark := uint64(0); b.Loop(); mark++ {
				l.step(AttemptProgressed{Attempt: l.running[0], Mark: mark})
			}
		})
	}
}

// BenchmarkFinish measures the cost of a task that finishes and of the next one that gets
// its slot.
func BenchmarkFinish(b *testing.B) {
	for _, size := range [][3]int{{1, 1000, 0}, {1, 100_000, 0}, {1, 1000, 1000}, {100, 1000, 0}, {100, 100_000, 0}, {100, 100_000, 1000}} {
		b.Run(fmt.Sprintf("machines=%d,tasks=%d,queued=%d", size[0], size[1], size[2]), func(b *testing.B) {
			l, left := newLoop(b, size[0], size[1], size[2]), size[1]/2
			b.ReportAllocs()
			for b.Loop() {
				if left == 0 {
					b.StopTimer()
					l, left = newLoop(b, size[0], size[1], size[2]), size[1]/2
					b.StartTimer()
				}
				left--
				id := l.running[0]
				l.running = l.running[1:]
				l.step(AttemptFinished{Attempt: id})
			}
		})
	}
}
