package cluster

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
	"pgregory.net/rapid"
)

// wrote reports that an attempt at a map has finished with an output of these sums.
func wrote(a AttemptID, emitted, cuts, index uint64) FinishAttempt {
	return FinishAttempt{Attempt: a, Output: Manifest{Segments: []Segments{{Node: a.Task.Number, Path: "/" + a.String(), Emitted: emitted, Cuts: cuts, IndexChecksum: index}}}}
}

// TestOtherRecords compares two outputs of a task.
func TestOtherRecords(t *testing.T) {
	for name, c := range map[string]struct {
		earlier, now Segments
		want         bool
	}{
		"equal":                           {Segments{Emitted: 3, Cuts: 4, IndexChecksum: 5}, Segments{Emitted: 3, Cuts: 4, IndexChecksum: 5}, false},
		"another path":                    {Segments{Emitted: 3, Cuts: 4, Path: "a"}, Segments{Emitted: 3, Cuts: 4, Path: "b"}, false},
		"another sum":                     {Segments{Emitted: 3, Cuts: 4, IndexChecksum: 5}, Segments{Emitted: 2, Cuts: 4, IndexChecksum: 5}, true},
		"other records in the same cuts":  {Segments{Emitted: 3, Cuts: 4, IndexChecksum: 5}, Segments{Emitted: 3, Cuts: 4, IndexChecksum: 6}, true},
		"other cuts":                      {Segments{Emitted: 3, Cuts: 4, IndexChecksum: 5}, Segments{Emitted: 3, Cuts: 5, IndexChecksum: 6}, false},
		"a checkpoint between":            {Segments{Emitted: 3, IndexChecksum: 5}, Segments{Emitted: 3, IndexChecksum: 6}, false},
		"an older program wrote it":       {Segments{IndexChecksum: 5}, Segments{IndexChecksum: 6}, false},
		"an older program wrote it first": {Segments{IndexChecksum: 5}, Segments{Emitted: 3, Cuts: 4, IndexChecksum: 6}, false},
		"another edge":                    {Segments{Emitted: 3}, Segments{Edge: 1, Emitted: 4}, false},
	} {
		if got := otherRecords([]Segments{c.earlier}, []Segments{c.now}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestReadersOfOtherRecordsStartOver loses the output of a map that one reduce has read to its
// end and another is reading, and writes it again. A restart from a snapshot in between changes
// nothing.
func TestReadersOfOtherRecordsStartOver(t *testing.T) {
	for name, c := range map[string]struct {
		again    FinishAttempt
		differs  bool
		restores bool
	}{
		"the same":             {again: wrote(attemptAt(mapTask(0), 1), 5, 6, 7)},
		"other records":        {again: wrote(attemptAt(mapTask(0), 1), 4, 6, 8), differs: true},
		"after a restart":      {again: wrote(attemptAt(mapTask(0), 1), 5, 6, 8), differs: true, restores: true},
		"other cuts":           {again: wrote(attemptAt(mapTask(0), 1), 5, 9, 8)},
		"the same, restarting": {again: wrote(attemptAt(mapTask(0), 1), 5, 6, 7), restores: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := New("1")
			apply(t, s, joinOf("a", "1"), joinOf("b", "1"), joinOf("c", "1"), joinOf("d", "1"), submit(1, 3), StartJob{job1},
				StartAttempt{Task: mapTask(0), Machine: "a"}, wrote(attemptAt(mapTask(0), 0), 5, 6, 7),
				StartAttempt{Task: firstReduce, Machine: "c"}, StartAttempt{Task: secondReduce, Machine: "d"},
				FinishAttempt{Attempt: attemptAt(firstReduce, 0)},
				ExpireMachine{Name: "a", Epoch: 1}, StartAttempt{Task: mapTask(0), Machine: "b"})
			if c.restores {
				s = restored(t, encoded(t, s))
			}
			delta := apply(t, s, c.again)
			j := s.jobs[0]
			if !c.differs {
				wantTask(t, s, firstReduce, TaskSucceeded, 0)
				wantTask(t, s, secondReduce, TaskRunning, -1)
				if len(j.Failures)+len(delta.Revoked) > 0 {
					t.Errorf("failures %v, revoked %v", j.Failures, delta.Revoked)
				}
				return
			}
			wantTask(t, s, firstReduce, TaskPending, -1)
			wantTask(t, s, secondReduce, TaskPending, -1)
			if a := j.Stages[1].Tasks[1].Attempts[0]; a.Status() != StatusKilled || a.Cause != "it read the output of task_1_0001_m_000000, and attempt 1 emitted other records" {
				t.Errorf("%v is %v: %s", a.ID, a.Status(), a.Cause)
			}
			if len(j.Failures) != 1 || j.Failures[0].Attempt != c.again.Attempt || !strings.Contains(j.Failures[0].Cause, "so 2 tasks that had begun to read it start over: the program is not deterministic") {
				t.Errorf("failures %+v", j.Failures)
			}
		})
	}
}

// TestGangThatReadOtherRecordsStartsOver does the same to a gang, which has a consistent
// checkpoint: it must not resume from that.
func TestGangThatReadOtherRecordsStartsOver(t *testing.T) {
	s, j := running(t, dag.Graph{
		Stages: []dag.Stage{{Name: "read", Nodes: 1}, {Name: "sort", Nodes: 1}, {Name: "sum", Nodes: 1}},
		Edges:  []dag.Edge{{From: "read", To: "sort"}, {From: "sort", To: "sum", Channel: dag.ChannelTCP}},
	})
	read := TaskID{job1, j.Stages[0].Code, 0}
	write := func(number int, emitted uint64) Command {
		c := wrote(attemptAt(read, number), emitted, 1, emitted)
		c.Range = j.Stages[0].Tasks[0].Range
		return c
	}
	mustApply(t, s, StartAttempt{Task: read, Machine: "n1", Range: j.Stages[0].Tasks[0].Range})
	mustApply(t, s, write(0, 5))
	mustApply(t, s, bundleStart(j, 1, 0, "n0", "n2"))
	mustApply(t, s, PreemptAttempt{Attempt: newest(j, 1, 0), Mode: preempt.Checkpoint})
	for stage := 1; stage <= 2; stage++ {
		mustApply(t, s, CheckpointAttempt{Attempt: newest(j, stage, 0), Checkpoint: Checkpoint{Path: "c"}})
	}
	mustApply(t, s, LoseOutput{attemptAt(read, 0), "unreadable"})
	wantStates(t, j, "PENDING | CHECKPOINTED | CHECKPOINTED")
	mustApply(t, s, StartAttempt{Task: read, Machine: "n1", Range: j.Stages[0].Tasks[0].Range})
	mustApply(t, s, write(1, 6))
	wantStates(t, j, "SUCCEEDED | PENDING | PENDING")
	if err := s.CheckInvariants(); err != nil {
		t.Error(err)
	}
}

// versions is a dumb twin that tracks which output of each writer an attempt has read.
type versions struct {
	fetches
	written map[AttemptID]uint64            // records of an output, by its attempt
	read    map[AttemptID]map[TaskID]uint64 // records that an attempt has read, by writer
}

// TestReadersAgreeOnAnOutput applies random commands to a cluster. If each attempt at a task may
// write other records, all tasks that read it have still read the same ones, at any time. If
// they write the same records, no task starts over for it.
func TestReadersAgreeOnAnOutput(t *testing.T) {
	restarts := 0
	rapid.Check(t, func(t *rapid.T) { restarts += playVersions(t, 2) })
	if restarts == 0 {
		t.Error("no reader has started over")
	}
	rapid.Check(t, func(t *rapid.T) {
		if playVersions(t, 1) > 0 {
			t.Error("a reader of equal records has started over")
		}
	})
}

// playVersions plays a job whose attempts write one of several versions of their records. It
// returns how often readers have started over.
func playVersions(t *rapid.T, several uint64) (restarts int) {
	s, v := New("1"), versions{make(fetches), make(map[AttemptID]uint64), make(map[AttemptID]map[TaskID]uint64)}
	spec := JobSpec{Graph: drawFetching(t), MaxAttempts: [2]int{99, 99}}
	for _, c := range []Command{joinOf("n0", "x"), joinOf("n1", "x"), joinOf("n2", "x"), SubmitJob{spec}, StartJob{job1}} {
		if _, err := s.Apply(Entry{At: 1, Command: c}); err != nil {
			t.Fatal(err)
		}
	}
	for step := range rapid.IntRange(60, 200).Draw(t, "steps") {
		loadSplits(s)
		v.readSome(t, s)
		c := v.fill(t, s, v.draw(t, s), several)
		delta, err := s.Apply(Entry{At: int64(step + 2), Command: c})
		if err != nil {
			continue
		}
		for _, id := range delta.Started {
			v.started(s, id)
			_, _, a, _ := s.View().Attempt(id)
			v.read[id] = make(map[TaskID]uint64)
			for w, records := range v.read[AttemptID{id.Task, a.From - 1}] {
				v.read[id][w] = records
			}
		}
		if problem := s.CheckInvariants(); problem != nil {
			t.Fatalf("after %T %+v:\n%v", c, c, problem)
		}
		v.check(t, s)
	}
	for _, f := range s.jobs[0].Failures {
		if strings.Contains(f.Cause, "not deterministic") {
			restarts++
		}
	}
	return restarts
}

// readSome makes some active attempts read what is published and what they do not have.
func (v versions) readSome(t *rapid.T, s *State) {
	j := s.jobs[0]
	for _, m := range s.Machines {
		for _, a := range m.Attempts {
			if a.Active() && rapid.Bool().Draw(t, "reads") {
				v.readAll(j, a)
			}
		}
	}
}

// readAll makes an attempt read all that is published. It returns false if some is missing.
func (v versions) readAll(j *Job, a *Attempt) (complete bool) {
	_, reader, complete := j, j.stage(a.ID.Task.Stage).Tasks[a.ID.Task.Number], true
	for _, stage := range j.Stages {
		for _, w := range stage.Tasks {
			if !j.Reads(reader, w) {
				continue
			}
			if _, has := v.read[a.ID][w.ID]; has {
				continue
			}
			if !j.Published(w) || w.Winner.Lost() {
				complete = false
				continue
			}
			v.read[a.ID][w.ID] = v.written[w.Winner.ID]
		}
	}
	return complete
}

// fill adds what attempts have written to a command. An attempt that cannot have finished is not
// reported as finished.
func (v versions) fill(t *rapid.T, s *State, c Command, several uint64) Command {
	switch c := c.(type) {
	case FinishAttempt:
		if j, _, a, known := s.View().Attempt(c.Attempt); known && a.Active() && v.readAll(j, a) {
			c.Output = v.output(t, s, c.Attempt, several)
			return c
		}
		return drawFitting(t, s)
	case RestoreOutput:
		c.Output = v.output(t, s, c.Attempt, several)
		return c
	case MoveOutput:
		if _, task, a, known := s.View().Attempt(c.Attempt); known && task.Winner == a {
			c.Segments = task.Output.Segments
		}
		return c
	}
	return c
}

// output returns what an attempt has written: other records than other attempts at its task, but
// the same each time it is reported.
func (v versions) output(t *rapid.T, s *State, id AttemptID, several uint64) (m Manifest) {
	p, err := s.attempt(id)
	if err != nil {
		return m
	}
	if v.written[id] == 0 {
		v.written[id] = rapid.Uint64Range(1, several).Draw(t, "records")
	}
	for i, e := range p.job.Spec.Graph.Edges {
		if e.Channel != dag.ChannelFile || p.job.StageOf(e.From) != p.stage {
			continue
		}
		if p.task.ID.Number >= p.job.Layout.Groups[p.stage.Index].Count { // split from another task
			m.Segments = append(m.Segments, Segments{Edge: i, Node: p.task.ID.Number, Emitted: v.written[id]})
			continue
		}
		for _, span := range p.job.Layout.Nodes(dag.GroupID{Class: p.stage.Index, Index: p.task.ID.Number}) {
			for n := span.First; n < span.End && span.Stage == p.job.Spec.Graph.StageIndex(e.From); n++ {
				m.Segments = append(m.Segments, Segments{Edge: i, Node: n, Emitted: v.written[id]})
			}
		}
	}
	return m
}

// check fails if two readers of a task have read different records of it: readers that have
// finished, that run, or whose checkpoint counts.
func (v versions) check(t *rapid.T, s *State) {
	j := s.jobs[0]
	for _, stage := range j.Stages {
		for _, w := range stage.Tasks {
			var first AttemptID
			for r := range v.readersOf(j, w) {
				if first == (AttemptID{}) {
					first = r
				}
				if v.read[r][w.ID] != v.read[first][w.ID] {
					t.Fatalf("%v has read version %d of %v, and %v version %d", r, v.read[r][w.ID], w.ID, first, v.read[first][w.ID])
				}
			}
		}
	}
}

// readersOf yields the attempts whose work counts and that have read what a task has written.
func (v versions) readersOf(j *Job, w *Task) func(yield func(AttemptID) bool) {
	return func(yield func(AttemptID) bool) {
		for _, stage := range j.Stages {
			for _, r := range stage.Tasks {
				for _, a := range r.Attempts {
					counts := a == r.Winner || a.Active() || r.isWaiting() && r.Checkpoint != nil && r.Checkpoint.Attempt == a.ID
					if _, has := v.read[a.ID][w.ID]; counts && has && !yield(a.ID) {
						return
					}
				}
			}
		}
	}
}
