package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/preempt"
)

// TestNoTwoAttemptsAreEverVisible visits every order in which the attempts at a small job
// can start, run at the same time, finish, fail, be lost with their machine, and report late
// or twice. In the smallest job a lost machine may also be forgotten. The job's output
// always consists of one attempt for each task, and does not change once it is settled.
func TestNoTwoAttemptsAreEverVisible(t *testing.T) {
	if RaceEnabled {
		t.Skip("each walk is one goroutine: make test runs it without the race detector")
	}
	gang, late := dag.MapReduce(1, 1), gangGraph(1)
	gang.Edges[0].Channel = dag.ChannelTCP
	for name, small := range map[string]struct {
		graph      dag.Graph
		attempts   int
		forget     bool
		preemption bool
		night      bool
	}{
		"one map": {graph: dag.MapReduce(1, 0), attempts: 3, forget: true}, "two maps": {graph: dag.MapReduce(2, 0), attempts: 2, night: true},
		"map and reduce": {graph: dag.MapReduce(1, 1), attempts: 2, night: true},
		"a gang":         {graph: gang, attempts: 2, preemption: true, night: true}, "a gang and its reader": {graph: late, attempts: 2},
	} {
		t.Run(name, func(t *testing.T) {
			if small.night {
				// Gate: TestNoTwoAttemptsAreEverVisible, TestRandomCommandsKeepTheInvariants, TestEveryGraphEnds
				testlevel.Nightly(t)
			}
			t.Parallel()
			w := walk{t: t, attempts: small.attempts, forget: small.forget, preemption: small.preemption, seen: make(map[string]bool)}
			s := New("1")
			spec := submit(0, 0)
			spec.Spec.Graph, spec.Spec.MaxAttempts = small.graph, [2]int{2, 2}
			for _, c := range []Command{JoinMachine{Name: "a", Slots: Slots{2, 1}}, JoinMachine{Name: "b", Slots: Slots{2, 1}}, spec, StartJob{job1}} {
				if _, err := s.Apply(Entry{At: 1, Command: c}); err != nil {
					t.Fatal(err)
				}
			}
			w.visit(s)
			t.Logf("%d states", len(w.seen))
			if len(w.seen) < 100 || w.committed == 0 {
				t.Errorf("%d states seen, %d of them after the commit", len(w.seen), w.committed)
			}
		})
	}
}

type walk struct {
	t          *testing.T
	attempts   int  // most attempts at each task
	forget     bool // a machine that is lost may be forgotten
	preemption bool // attempts may be preempted, and obey or decline
	seen       map[string]bool
	committed  int
	encoded    bytes.Buffer // encoding of the latest key
}

// visit checks a state and all states that can follow it.
func (w *walk) visit(s *State) {
	key := w.key(s)
	if w.seen[key] || w.t.Failed() {
		return
	}
	w.seen[key] = true
	w.check(s)
	after := w.copy(s)
	for _, c := range w.next(s) {
		if _, err := after.Apply(Entry{At: 1, Command: c}); err != nil {
			if !errors.Is(err, ErrRefused) && !errors.Is(err, ErrUnknown) {
				w.t.Errorf("%T: %v", c, err)
			}
			continue // a refused command has changed nothing: the next one uses this copy
		}
		w.checkStep(s, after, c)
		w.visit(after)
		after = w.copy(s)
	}
	if w.key(after) != key {
		w.t.Errorf("a command that was refused has changed\n%s\nto\n%s", dump(s), dump(after))
	}
}

// key identifies a state.
func (w *walk) key(s *State) string {
	w.encoded.Reset()
	out, snapshot := encoding.NewEncoder(&w.encoded), s.Snapshot()
	for _, j := range snapshot.state.jobs {
		j.Spec = JobSpec{}
		w.must(j.encode(out))
	}
	w.must(out.Encode(&snapshot.state))
	return w.encoded.String()
}

func (w *walk) must(err error) {
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *walk) copy(s *State) *State {
	c, err := s.Snapshot().Restore()
	w.must(err)
	return c
}

// next returns every command that may come in a state, valid or not.
func (w *walk) next(s *State) (commands []Command) {
	j := s.jobs[0]
	if b := s.byName["b"]; b != nil && !b.Lost {
		commands = append(commands, ExpireMachine{Name: "b", Epoch: 1})
	} else {
		commands = append(commands, JoinMachine{Name: "b", Instance: "second"})
	}
	if w.forget {
		commands = append(commands, ForgetMachine{"b", 1})
	}
	for _, stage := range j.Stages {
		for _, task := range stage.Tasks {
			if !stage.StartsAlone() && !slices.ContainsFunc(stage.Bundle.TasksOf(0), func(t *Task) bool { return len(t.Attempts) == w.attempts }) {
				commands = append(commands, bundleStart(j, stage.Bundle.Index, 0, "a"), bundleStart(j, stage.Bundle.Index, 0, "b", "a"))
			}
			if len(task.Attempts) < w.attempts {
				for _, machine := range []string{"a", "b"} {
					commands = append(commands, StartAttempt{Task: task.ID, Machine: machine}, SpeculateTask{task.ID, machine})
				}
			}
			for _, a := range task.Attempts {
				out := pieceOf(s, a.ID)
				commands = append(commands, FinishAttempt{Attempt: a.ID, Output: out}, RestoreOutput{Attempt: a.ID, Output: out})
				if w.preemption && a.OnMachine() {
					commands = append(commands, PreemptAttempt{Attempt: a.ID, Mode: preempt.Checkpoint}, CheckpointAttempt{Attempt: a.ID}, FailAttempt{Attempt: a.ID, BadCheckpoint: true})
				}
				if a.OnMachine() {
					commands = append(commands, FailAttempt{Attempt: a.ID}, ExitAttempt{Attempt: a.ID})
				}
			}
		}
	}
	return append(commands, CommitJob{j.ID})
}

// check compares a state with its visible output.
func (w *walk) check(s *State) {
	w.t.Helper()
	if err := s.CheckInvariants(); err != nil {
		w.t.Errorf("%v\n%s", err, dump(s))
	}
	j := s.jobs[0]
	for _, stage := range j.Stages {
		for _, task := range stage.Tasks {
			winners := 0
			for _, a := range task.Attempts {
				if a.Status() == StatusSucceeded {
					winners++
				}
			}
			whole := task.State == TaskSucceeded
			if whole != (winners == 1) || winners > 1 || whole != (task.Winner != nil) || whole != (task.Output != nil) {
				w.t.Errorf("%v is %v with %d winners\n%s", task.ID, task.State, winners, dump(s))
			}
			if whole && (len(task.Output.Pieces) != 1 || !strings.Contains(task.Output.Pieces[0].Path, task.Winner.ID.String()+".")) {
				w.t.Errorf("the output of %v is %v, its winner %v", task.ID, task.Output.Pieces, task.Winner.ID)
			}
			if published := j.Published(task); published != (stage.Bundle.Gang && stage.Bundle.isFinished(0) || !stage.Bundle.Gang && whole) {
				w.t.Errorf("%v is %v, published: %v\n%s", task.ID, task.State, published, dump(s))
			}
			if stage.RequiredForCommit() && !whole && (j.State == JobCommitting || j.State == JobSucceeded) {
				w.t.Errorf("%v is %v without %v\n%s", j.ID, j.State, task.ID, dump(s))
			}
		}
	}
	if j.State == JobSucceeded {
		w.committed++
	}
}

// checkStep checks that a step does not change what the commit reads.
func (w *walk) checkStep(before, after *State, c Command) {
	w.t.Helper()
	if s := before.jobs[0].State; s != JobCommitting && s != JobSucceeded {
		return
	}
	if b, a := outputOf(before), outputOf(after); a != b {
		w.t.Errorf("%T %+v changes the output from %s to %s", c, c, b, a)
	}
}

// outputOf lists the pieces that the job's output is made of, by task.
func outputOf(s *State) (pieces string) {
	for _, stage := range s.jobs[0].Stages {
		for _, task := range stage.Tasks {
			if stage.RequiredForCommit() && task.Output != nil {
				pieces += fmt.Sprintln(task.ID, task.Output.Pieces)
			}
		}
	}
	return pieces
}
