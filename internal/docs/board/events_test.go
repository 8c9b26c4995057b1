package board

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/preempt"
)

// story applies commands, which the state must accept, a second apart.
type story struct {
	*testing.T
	state *cluster.State
	board *Board
	at    int64
}

func newStory(t *testing.T, maps, reduces int) *story {
	s := &story{T: t, state: cluster.New("1"), board: testBoard()}
	s.do(cluster.SubmitJob{Spec: cluster.JobSpec{Graph: dag.MapReduce(maps, reduces), MaxAttempts: [2]int{4, 4}}})
	splits := make([]cluster.Split, maps)
	for i := range splits {
		splits[i] = cluster.Split{Range: whole, Bytes: 100}
	}
	must.Do(t, s.state.Load(jobOne, splits))
	s.do(cluster.StartJob{Job: jobOne})
	for _, name := range []string{"a", "b"} {
		s.do(cluster.JoinMachine{Name: name, Instance: "x", Slots: cluster.Slots{4, 4}})
	}
	return s
}

var (
	jobOne = cluster.JobID{Cluster: "1", Number: 1}
	whole  = dag.Range{End: dag.Position{Offset: 100}}
)

func mapTask(n int) cluster.TaskID { return cluster.TaskID{Job: jobOne, Stage: "m", Number: n} }

func try(task, n int) cluster.AttemptID { return cluster.AttemptID{Task: mapTask(task), Number: n} }

func (s *story) do(c cluster.Command) {
	s.Helper()
	s.at += 1000
	e := cluster.Entry{At: s.at, Command: c}
	delta, err := s.state.Apply(e)
	if err != nil {
		s.Fatalf("%T: %v", c, err)
	}
	s.board.Commit(e, delta, s.state.View())
}

func (s *story) start(task int, machine string, local bool) {
	s.Helper()
	_, _, t, _ := s.state.View().Task(mapTask(task))
	s.do(cluster.StartAttempt{Task: mapTask(task), Machine: machine, Range: s.state.View().Job(jobOne).RangeOf(t), Local: local})
}

// lines returns the events of the job, a line for each.
func (s *story) lines(task cluster.TaskID) string {
	s.Helper()
	all, err := s.board.Snapshot().Events(jobOne, task)
	must.Do(s, err)
	short := func(attempt string) string {
		id, err := cluster.ParseAttemptID(attempt)
		must.Do(s, err)
		return fmt.Sprintf("m%d.%d", id.Task.Number, id.Number)
	}
	var b strings.Builder
	for _, e := range all.Events {
		fmt.Fprintf(&b, "%d %s %s on %s", e.At/1000, e.Kind, short(e.Attempt), e.Node)
		if e.Mode != "" {
			fmt.Fprintf(&b, " by %s", e.Mode)
		}
		if e.Bytes != 0 {
			fmt.Fprintf(&b, ", %d bytes", e.Bytes)
		}
		if e.Source != "" {
			fmt.Fprintf(&b, ", of %s", short(e.Source))
		}
		if e.Rest != "" {
			rest, _ := cluster.ParseTaskID(e.Rest)
			fmt.Fprintf(&b, ", rest m%d", rest.Number)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestEventsSayWhoLeftWorkToWhom preempts attempts in every mode, and loses a machine.
func TestEventsSayWhoLeftWorkToWhom(t *testing.T) {
	s := newStory(t, 4, 0)
	s.start(0, "a", true)
	s.do(cluster.PreemptAttempt{Attempt: try(0, 0), Mode: preempt.Split})
	s.do(cluster.SplitTask{Attempt: try(0, 0), At: dag.Position{Offset: 40}})
	s.do(cluster.FinishAttempt{Attempt: try(0, 0), Range: dag.Range{End: dag.Position{Offset: 40}}, Output: cluster.Manifest{Bytes: 8}})
	s.start(1, "a", false)
	s.do(cluster.PreemptAttempt{Attempt: try(1, 0), Mode: preempt.Suspend})
	s.do(cluster.ResumeAttempt{Attempt: try(1, 0)})
	s.do(cluster.PreemptAttempt{Attempt: try(1, 0), Mode: preempt.Suspend})
	s.do(cluster.MoveAttempt{Attempt: try(1, 0)})
	s.do(cluster.DeclinePreemption{Attempt: try(1, 0)})
	s.do(cluster.PreemptAttempt{Attempt: try(1, 0), Mode: preempt.Checkpoint})
	s.do(cluster.CheckpointAttempt{Attempt: try(1, 0), Checkpoint: cluster.Checkpoint{Path: "c", Bytes: 5}})
	s.start(1, "b", false)
	s.start(2, "a", false)
	s.do(cluster.SpeculateTask{Task: mapTask(2), Machine: "b"})
	s.do(cluster.PreemptAttempt{Attempt: try(2, 0), Mode: preempt.Kill})
	s.do(cluster.ExitAttempt{Attempt: try(2, 0)})
	s.do(cluster.FailAttempt{Attempt: try(2, 1), Failure: cluster.Failure{Cause: "bad"}})
	s.do(cluster.ExpireMachine{Name: "b", Epoch: 1})
	want := `5 start m0.0 on a
6 order m0.0 on a by split
7 split m0.0 on a, rest m4
8 finish m0.0 on a by split, 8 bytes
9 start m1.0 on a
10 suspend m1.0 on a
11 resume m1.0 on a
12 suspend m1.0 on a
13 resume m1.0 on a
13 order m1.0 on a by split
14 decline m1.0 on a by split
15 order m1.0 on a by checkpoint
16 checkpoint m1.0 on a by checkpoint, 5 bytes
17 continue m1.1 on b, of m1.0
18 start m2.0 on a
19 speculate m2.1 on b
20 preempt m2.0 on a
21 exit m2.0 on a
22 fail m2.1 on b
23 lose m1.1 on b
`
	if got := s.lines(cluster.TaskID{}); got != want {
		t.Errorf("events are:\n%swant:\n%s", got, want)
	}
	if got, want := s.lines(mapTask(0)), "5 start m0.0 on a\n6 order m0.0 on a by split\n7 split m0.0 on a, rest m4\n8 finish m0.0 on a by split, 8 bytes\n"; got != want {
		t.Errorf("of one task: %q, want %q", got, want)
	}
	if places, err := s.board.Snapshot().Attempts(mapTask(0)); err != nil || len(places) != 1 || places[0].Place != PlaceNode {
		t.Errorf("the attempts at m0 are %+v, %v, want one with place node", places, err)
	}
}

// TestEventsAreBounded suspends and resumes one attempt again and again. The oldest events are
// dropped, and readers are informed.
func TestEventsAreBounded(t *testing.T) {
	s := newStory(t, 1, 0)
	s.start(0, "a", true)
	if before, err := s.board.Snapshot().Events(jobOne, cluster.TaskID{}); before.Since != 0 || err != nil {
		t.Errorf("before: since %d, %v", before.Since, err)
	}
	for range 3 * chunkRows {
		s.do(cluster.PreemptAttempt{Attempt: try(0, 0), Mode: preempt.Suspend})
		s.do(cluster.ResumeAttempt{Attempt: try(0, 0)})
	}
	doc, _ := s.board.Snapshot().Events(jobOne, cluster.TaskID{})
	all, since := doc.Events, doc.Since
	if len(all) > 2*chunkRows || since != all[0].At || all[len(all)-1].At != s.at {
		t.Errorf("%d events since %d, the last at %d; want at most %d, and that at %d", len(all), since, all[len(all)-1].At, 2*chunkRows, s.at)
	}
	restored := testBoard()
	restored.Restore(s.state.View())
	snapshot := restored.Snapshot()
	if all, _ := snapshot.Events(jobOne, cluster.TaskID{}); len(all.Events) > 0 || all.Since != snapshot.At.UnixMilli() {
		t.Errorf("of a restored board: %+v", all)
	}
	if _, err := snapshot.Events(jobOne, cluster.TaskID{Job: jobOne, Stage: "x"}); !errors.Is(err, cluster.ErrUnknown) {
		t.Errorf("events of a task that does not exist: %v", err)
	}
}

// TestNamesAreBounded runs jobs on machines that are new for each, and retires them.
func TestNamesAreBounded(t *testing.T) {
	s := &story{T: t, state: cluster.New("1"), board: testBoard()}
	for n := range 50 {
		job := cluster.JobID{Cluster: "1", Number: n + 1}
		task := cluster.TaskID{Job: job, Stage: "m"}
		s.do(cluster.SubmitJob{Spec: cluster.JobSpec{Graph: dag.MapReduce(1, 0), MaxAttempts: [2]int{4, 4}}})
		must.Do(t, s.state.Load(job, make([]cluster.Split, 1)))
		s.do(cluster.StartJob{Job: job})
		name := fmt.Sprintf("pod-%d", n)
		s.do(cluster.JoinMachine{Name: name, Instance: "x", Slots: cluster.Slots{1, 1}})
		s.do(cluster.StartAttempt{Task: task, Machine: name})
		running := s.board.Snapshot()
		s.do(cluster.FinishAttempt{Attempt: cluster.AttemptID{Task: task}})
		s.do(cluster.CommitJob{Job: job})
		s.do(cluster.ArchiveJob{Job: job, Summary: []byte("sort")})
		s.do(cluster.ExpireMachine{Name: name, Epoch: 1})
		s.do(cluster.ForgetMachine{Name: name, Epoch: 1})
		if got, err := running.Task(task); err != nil || got.Machine != name {
			t.Fatalf("an old snapshot shows %+v, %v", got, err)
		}
	}
	if c := &s.board.mu.contents; len(c.texts) > 2 || len(c.numbers) != 1 || len(c.machines) > 0 {
		t.Errorf("after 50 machines: names %q, %d machines", c.texts, len(c.machines))
	}
}
