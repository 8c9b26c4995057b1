package board

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/reachable"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/preempt"
)

// largeJob is a job of many maps. A tenth of them are preempted once: by a checkpoint, from which
// they resume elsewhere.
type largeJob struct {
	testing.TB
	state *cluster.State
	board *Board
	at    int64
	taken time.Duration // in Commit
	n     int           // entries
}

const largeMachines = 100

func newLargeJob(tb testing.TB, maps int) *largeJob {
	l := &largeJob{TB: tb, state: cluster.New("1"), board: testBoard()}
	l.do(cluster.SubmitJob{Spec: cluster.JobSpec{Graph: dag.MapReduce(maps, 1), MaxAttempts: [2]int{4, 4}, SlowStartPPM: 1_000_000}})
	l.do(cluster.StartJob{Job: jobOne})
	must.Do(tb, l.state.Load(jobOne, make([]cluster.Split, maps)))
	for n := range largeMachines {
		l.do(cluster.JoinMachine{Name: machineName(n), Instance: "x", Slots: cluster.Slots{4, 1}})
	}
	return l
}

func machineName(n int) string { return fmt.Sprintf("n%d", n%largeMachines) }

func (l *largeJob) do(c cluster.Command) {
	l.at += 10
	e := cluster.Entry{At: l.at, Command: c}
	delta, err := l.state.Apply(e)
	if err != nil {
		l.Fatalf("%T: %v", c, err)
	}
	began := time.Now()
	l.board.Commit(e, delta, l.state.View())
	l.taken += time.Since(began)
	l.n++
}

// run runs maps to their ends. Times and bytes differ between them.
func (l *largeJob) run(maps int) {
	for n := range maps {
		l.do(cluster.StartAttempt{Task: mapTask(n), Machine: machineName(n), Local: n%3 > 0})
		attempt := 0
		if n%10 == 0 {
			l.do(cluster.PreemptAttempt{Attempt: try(n, 0), Mode: preempt.Checkpoint})
			l.do(cluster.CheckpointAttempt{Attempt: try(n, 0), Checkpoint: cluster.Checkpoint{Path: "c", Bytes: 5}})
			l.do(cluster.StartAttempt{Task: mapTask(n), Machine: machineName(n + 1)})
			attempt = 1
		}
		l.at += int64(n * 7919 % 1000)
		l.do(cluster.FinishAttempt{Attempt: try(n, attempt), Output: cluster.Manifest{Bytes: int64(n * 31 % 1000), Records: 1}, Counters: counters(int64(n))})
	}
}

const maxTaskBytes = 250 // for a task with its attempts and events

func TestRowsAreSmall(t *testing.T) {
	if task, attempt, event := unsafe.Sizeof(taskRow{}), unsafe.Sizeof(attemptRow{}), unsafe.Sizeof(event{}); task > 96 || attempt > 64 || event > 32 {
		t.Errorf("rows of %d, %d and %d bytes, want at most 96, 64 and 32", task, attempt, event)
	}
}

// TestMemoryIsBounded measures the board of a large job with 1.1 attempts for each task.
func TestMemoryIsBounded(t *testing.T) {
	maps := testlevel.Choose(20_000, 100_000)
	l := newLargeJob(t, maps)
	l.run(maps)
	bytes := (reachable.Bytes(l.state, l.board) - reachable.Bytes(l.state)) / uint64(maps)
	t.Logf("%d bytes for a task", bytes)
	if bytes > maxTaskBytes {
		t.Errorf("%d bytes for a task, want at most %d", bytes, maxTaskBytes)
	}
}

// TestSnapshotsAreSharedAndRare checks that no snapshot is made while no reader asks, that
// readers share one, and that jobs that have not changed are the same in the next.
func TestSnapshotsAreSharedAndRare(t *testing.T) {
	now := time.UnixMilli(0)
	b := New(Config{Now: func() time.Time { return now }})
	state := cluster.New("1")
	do := func(c cluster.Command) {
		e := cluster.Entry{At: 1, Command: c}
		delta, err := state.Apply(e)
		must.Do(t, err)
		b.Commit(e, delta, state.View())
	}
	for range 100 {
		do(cluster.SubmitJob{Spec: cluster.JobSpec{Graph: dag.MapReduce(1, 0), MaxAttempts: [2]int{1, 1}}})
	}
	if n := b.mu.published; n != 0 {
		t.Errorf("%d snapshots without a reader", n)
	}
	first := b.Snapshot()
	do(cluster.KillJob{Job: jobOne, Cause: "because"})
	if b.Snapshot() != first {
		t.Error("two snapshots at one time")
	}
	now = now.Add(publishInterval)
	second := b.Snapshot()
	if second == first || second.Jobs[0] == first.Jobs[0] || second.Jobs[1] != first.Jobs[1] {
		t.Error("the second snapshot does not differ from the first in the first job alone")
	}
	now = now.Add(time.Hour)
	if third := b.Snapshot(); third.At != now || &third.Jobs[0] != &second.Jobs[0] || b.mu.published != 2 {
		t.Errorf("%d snapshots of two states, the last of %v", b.mu.published, third.At)
	}
}

// TestReadersRunBesideTheLoop reads snapshots in several goroutines while the loop commits. What
// is read from one snapshot does not change. The race detector finds rows that are not copied.
func TestReadersRunBesideTheLoop(t *testing.T) {
	l := newLargeJob(t, 3000)
	var ms atomic.Int64 // each snapshot is taken an hour after the one before, so none is shared
	l.board.cfg.Now = func() time.Time { return time.UnixMilli(0).Add(time.Duration(ms.Add(1)) * time.Hour) }
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for running := true; running; {
				select {
				case <-done:
					running = false // and read the last snapshot
				default:
				}
				s := l.board.Snapshot()
				first, again := read(s), read(s)
				if !reflect.DeepEqual(first, again) {
					t.Error("a snapshot has changed")
				}
				if len(events(s, jobOne)) < len(first.Attempts) {
					t.Error("there are attempts without an event")
				}
			}
		})
	}
	l.run(3000)
	close(done)
	readers.Wait()
}
