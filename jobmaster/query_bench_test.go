package jobmaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fair"
	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/storage"
	"google.golang.org/protobuf/proto"
)

// fullLoop is a master that leads a large cluster, and a loop that only answers queries and
// measures them:
//
//	1,000 machines of 16 slots, 40 of them drained; 1,000 finished jobs
//	a job of 100,000 maps, half of them finished, 8,000 running
//	100 jobs of 1,000 maps in 10 pools, 80 of each running
type fullLoop struct {
	*Master
	mu struct {
		sync.Mutex
		sum     time.Duration // time in the loop of the present operation
		longest time.Duration // longest time of one of its messages in the loop
	}
}

type idleLog struct{}

func (idleLog) Propose([]cluster.Entry) {}
func (idleLog) Events() <-chan LogEvent { return nil }

func newFullLoop(b *testing.B) *fullLoop {
	b.Helper()
	m, err := New(Config{
		ClusterID: "1", Log: idleLog{}, TasknodeExpiry: time.Hour,
		Policy: func(string, map[string]string) (sched.Policy, error) {
			a, err := pool.Parse("pools.xml", []byte("<allocations/>"))
			return fair.New(fair.Config{Allocations: a}), err
		},
		Resolve: func(context.Context, string) (storage.FS, string, error) {
			return nil, "", errors.New("no file system")
		},
	})
	must.Do(b, err)
	l := &fullLoop{Master: m}
	l.fill(b)
	m.becomeLeader(b.Context())
	for j := range m.view.Jobs() {
		r := m.record(j.ID)
		r.awaitingProgress = nil
		for _, a := range j.Attempts() {
			if a.Active() {
				r.setProgress(a.ID, progressOf(a.ID.Task.Number))
			}
		}
	}
	m.brain.Step(m.now(), m.events)
	go l.answer(b.Context())
	return l
}

// progressOf returns a report with as many counters as a map of wordcount has.
func progressOf(n int) *taskproc.Progress {
	p := &taskproc.Progress{Fraction: float64(n%100) / 100, Phase: "map"}
	for i := range 25 {
		p.Counters = append(p.Counters, &taskproc.Counter{Group: "org.apache.hadoop.mapreduce.TaskCounter", Name: fmt.Sprintf("COUNTER_%d", i), Value: int64(n)})
	}
	return p
}

// fill makes the state.
func (l *fullLoop) fill(b *testing.B) {
	apply := func(c cluster.Command) {
		if _, err := l.state.Apply(cluster.Entry{At: 1, Command: c}); err != nil {
			b.Fatal(err)
		}
	}
	join := func(mapSlots int) {
		for n := range 1000 {
			apply(cluster.JoinMachine{Name: fmt.Sprintf("n%d", n), Address: "n:1", Hosts: []string{fmt.Sprintf("n%d", n)}, Slots: cluster.Slots{mapSlots, 1}})
		}
	}
	join(17) // one slot for tasks that finish
	var pools []string
	for n := range 10 {
		pools = append(pools, fmt.Sprintf("p%d", n))
	}
	apply(cluster.SetPools{Names: append(pools, cluster.DefaultPool)})
	document, _ := proto.Marshal(&wire.JobSpec{Name: "job", Program: "wordcount"})
	job, machines := 0, [2]int{} // places of the next finished and the next running task
	run := func(maps, finish, start int) {
		job++
		id := cluster.JobID{Cluster: "1", Number: job}
		apply(cluster.SubmitJob{Spec: cluster.JobSpec{
			Name: "job", User: "u", Pool: pools[job%10], Graph: dag.MapReduce(maps, 1), MaxAttempts: [2]int{4, 4}, SlowStartPPM: 1_000_000, Document: document,
		}})
		apply(cluster.StartJob{Job: id})
		must.Do(b, l.state.Load(id, make([]cluster.Split, maps)))
		for n := range finish + start {
			task := cluster.TaskID{Job: id, Stage: "m", Number: n}
			next := &machines[min(n/max(finish, 1), 1)]
			*next = (*next + 1) % 1000
			apply(cluster.StartAttempt{Task: task, Machine: fmt.Sprintf("n%d", *next)})
			if n < finish {
				apply(cluster.FinishAttempt{Attempt: cluster.AttemptID{Task: task}})
			}
		}
	}
	for range 1000 {
		run(1, 1, 0)
		apply(cluster.KillJob{Job: cluster.JobID{Cluster: "1", Number: job}, Cause: "over"})
		apply(cluster.CloseJob{Job: cluster.JobID{Cluster: "1", Number: job}})
	}
	run(100_000, 50_000, 7_990)
	for range 100 {
		run(1_000, 100, 79)
	}
	join(16)
	for n := range 40 {
		apply(cluster.DrainMachine{Name: fmt.Sprintf("n%d", n), Cause: "maintenance"})
	}
}

// answer is the loop.
func (l *fullLoop) answer(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.inbox.Ready():
		}
		for _, msg := range l.inbox.Take() {
			began := time.Now()
			l.receive(msg)
			took := time.Since(began)
			l.mu.Lock()
			l.mu.sum, l.mu.longest = l.mu.sum+took, max(l.mu.longest, took)
			l.mu.Unlock()
		}
	}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// BenchmarkQueries measures how long queries keep the loop busy, in all and with the longest
// of their messages: medians, since other processes disturb the measurement.
func BenchmarkQueries(b *testing.B) {
	l := newFullLoop(b)
	ctx := b.Context()
	const large = "job_1_1001"
	for _, q := range []struct {
		name string
		ask  func() error
	}{
		{"job list", func() error { _, err := l.Jobs(ctx, false); return err }},
		{"job list --all", func() error { _, err := l.Jobs(ctx, true); return err }},
		{"job status", func() error { _, err := l.Job(ctx, large, false); return err }},
		{"job status with tasks", func() error { _, err := l.Job(ctx, large, true); return err }},
		{"node list", func() error { _, err := l.Tasknodes(ctx); return err }},
		{"job explain", func() error { _, err := l.Explain(ctx, large, ""); return err }},
		{"queue list", func() error { _, err := l.Queues(ctx); return err }},
		{"stats for metrics", func() error { return l.Query(ctx, func() { l.publisher.due = 0; l.publishStats() }) }},
	} {
		b.Run(q.name, func(b *testing.B) {
			var sums, longest []time.Duration
			for b.Loop() {
				must.Do(b, q.ask())
				l.mu.Lock()
				sums, longest = append(sums, l.mu.sum), append(longest, l.mu.longest)
				l.mu.sum, l.mu.longest = 0, 0
				l.mu.Unlock()
			}
			b.ReportMetric(millis(median(sums)), "loop-ms/op")
			b.ReportMetric(millis(median(longest)), "longest-ms/op")
		})
	}
}
