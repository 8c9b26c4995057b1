package cluster

import (
	"errors"
	"slices"
	"testing"

	"github.com/hammr/hammr/preempt"
)

// TestMoveAttempt moves a suspended attempt, and refuses to move any other.
func TestMoveAttempt(t *testing.T) {
	first := attemptAt(mapTask(0), 0)
	stop, move := PreemptAttempt{Attempt: first, Mode: preempt.Suspend}, MoveAttempt{Attempt: first, Cause: "its machine is full"}
	for name, tt := range map[string]struct {
		before     []Command
		disallowed preempt.ModeSet
		problem    error
	}{
		"is suspended":                         {before: []Command{stop}},
		"runs":                                 {problem: ErrRefused},
		"resumed":                              {before: []Command{stop, ResumeAttempt{Attempt: first}}, problem: ErrRefused},
		"was moved already":                    {before: []Command{stop, move}, problem: ErrRefused},
		"has a job that is suspended":          {before: []Command{SuspendJob{Job: job1, PreferSuspend: true}}, problem: ErrRefused},
		"has a job that is resumed":            {before: []Command{SuspendJob{Job: job1, PreferSuspend: true}, ResumeJob{Job: job1}}},
		"bars what keeps its work":             {before: []Command{stop}, disallowed: preempt.SetOf(preempt.Split, preempt.Checkpoint), problem: ErrRefused},
		"bars being split":                     {before: []Command{stop}, disallowed: preempt.SetOf(preempt.Split)},
		"has declined, and is suspended again": {before: []Command{stop, move, DeclinePreemption{Attempt: first}, stop}},
		"is lost with its machine":             {before: []Command{stop, ExpireMachine{Name: "a", Epoch: 1}}, problem: ErrRefused},
		"is of a job that is killed":           {before: []Command{KillJob{Job: job1, Cause: "test"}}, problem: ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			s := New("1")
			spec := submit(1, 0)
			spec.Spec.DisallowedModes = []preempt.ModeSet{tt.disallowed, tt.disallowed}[:len(spec.Spec.Graph.Stages)]
			apply(t, s, joinOf("a", "1"), joinOf("b", "1"), spec, StartJob{job1}, StartAttempt{Task: first.Task, Machine: "a"})
			apply(t, s, tt.before...)
			delta, err := s.Apply(Entry{At: 50, Command: move})
			if !errors.Is(err, tt.problem) || (err == nil) != (tt.problem == nil) {
				t.Fatalf("%v, want %v", err, tt.problem)
			}
			if err != nil {
				return
			}
			_, _, a, _ := s.View().Attempt(first)
			if a.Suspended() || !a.Preempting() || a.Cause != move.Cause || !a.OccupiesSlot() || !slices.Contains(delta.OrdersChanged, first) {
				t.Errorf("it is %+v, delta %v", a, delta.OrdersChanged)
			}
			apply(t, s, CheckpointAttempt{Attempt: first, Checkpoint: Checkpoint{Path: "c"}}, StartAttempt{Task: first.Task, Machine: "b"})
			if m := s.View().Machine("a"); !m.Used.IsZero() || len(m.Attempts) != 0 {
				t.Errorf("machine a has %v, %d slots used", m.Attempts, m.Used)
			}
		})
	}
	if _, err := New("1").Apply(Entry{Command: move}); !errors.Is(err, ErrUnknown) {
		t.Errorf("an attempt that is not there: %v", err)
	}
}

// TestMoveOutput points readers to a copy, as long as it is complete and needed.
func TestMoveOutput(t *testing.T) {
	written := []Segments{{Edge: 0, Path: "/a/out", IndexChecksum: 7, Emitted: 3, Cuts: 4}}
	first := attemptAt(mapTask(0), 0)
	move := func(machine string, segments ...Segments) MoveOutput { return MoveOutput{first, machine, segments} }
	copied := Segments{Edge: 0, Path: "/b/out", IndexChecksum: 7}
	for name, tt := range map[string]struct {
		before        []Command
		move          MoveOutput
		problem       error
		machineOfData string
	}{
		"elsewhere":                 {move: move("b", copied), machineOfData: "b"},
		"back":                      {before: []Command{move("b", copied)}, move: move("a", written...), machineOfData: "a"},
		"to an unknown machine":     {move: move("c", copied), problem: ErrUnknown},
		"to a machine that is lost": {before: []Command{ExpireMachine{Name: "b", Epoch: 1}}, move: move("b", copied), problem: ErrUnknown},
		"in part":                   {move: move("b"), problem: ErrRefused},
		"damaged":                   {move: move("b", Segments{Path: "/b/out", IndexChecksum: 8}), problem: ErrRefused},
		"of an attempt that lost":   {before: []Command{LoseOutput{first, "bad"}}, move: move("b", copied), problem: ErrRefused},
		"of a job that is over":     {before: []Command{KillJob{Job: job1, Cause: "test"}}, move: move("b", copied), problem: ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			s := New("1")
			apply(t, s, joinOf("a", "1"), joinOf("b", "1"), submit(2, 1), StartJob{job1}, StartAttempt{Task: first.Task, Machine: "a"},
				FinishAttempt{Attempt: first, Output: Manifest{Bytes: 7, Segments: written}})
			apply(t, s, tt.before...)
			delta, err := s.Apply(Entry{At: 50, Command: tt.move})
			if !errors.Is(err, tt.problem) || (err == nil) != (tt.problem == nil) {
				t.Fatalf("%v, want %v", err, tt.problem)
			}
			if err != nil {
				return
			}
			_, task, a, _ := s.View().Attempt(first)
			moved := []Segments{{Edge: 0, Path: tt.move.Segments[0].Path, IndexChecksum: 7, Emitted: 3, Cuts: 4}}
			if a.DataMachine() != tt.machineOfData || !slices.Equal(task.Output.Segments, moved) || !slices.Contains(delta.Moved, first) {
				t.Errorf("it lies on %s as %+v, moved were %v", a.DataMachine(), task.Output.Segments, delta.Moved)
			}
			other := map[string]string{"a": "b", "b": "a"}[tt.machineOfData]
			apply(t, s, ExpireMachine{Name: other, Epoch: 1})
			wantTask(t, s, mapTask(0), TaskSucceeded, 0)
		})
	}
}
