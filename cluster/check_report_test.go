package cluster

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
)

// TestReportThatDoesNotFitFailsItsAttempt reports files and counters that the attempt cannot
// have. Each report costs a try of the task, and names what is wrong.
func TestReportThatDoesNotFitFailsItsAttempt(t *testing.T) {
	id := attemptAt(mapTask(1), 0)
	staged := stagedDir(job1) + "/" + id.String() + ".part.000"
	piece := func(change func(p *Piece)) Manifest {
		p := Piece{Output: "part", Path: staged, Part: 1}
		change(&p)
		return Manifest{Pieces: []Piece{p}}
	}
	segments := func(s ...Segments) Manifest { return Manifest{Segments: s} }
	for want, bad := range map[string]Manifest{
		"edge 99: the job's graph has 1 edges":         segments(Segments{Edge: 99}),
		"edge -1: the job's graph has 1 edges":         segments(Segments{Edge: -1}),
		"task_1_0001_m_000001 does not have that node": segments(Segments{Node: 0}),
		"of node -1":                                        segments(Segments{Node: -1}),
		"of node 1: named twice":                            segments(Segments{Node: 1}, Segments{Node: 1}),
		"no control characters":                             segments(Segments{Node: 1, Path: "a\nb"}),
		"at most 4096 bytes":                                segments(Segments{Node: 1, Path: strings.Repeat("a", 5000)}),
		`output "../victim/x"`:                              piece(func(p *Piece) { p.Output = "../victim/x" }),
		`output ""`:                                         piece(func(p *Piece) { p.Output = "" }),
		`output "."`:                                        piece(func(p *Piece) { p.Output = "." }),
		`output "_SUCCESS\x1b[2J"`:                          piece(func(p *Piece) { p.Output = "_SUCCESS\x1b[2J" }),
		`suffix "/../../x"`:                                 piece(func(p *Piece) { p.Suffix = "/../../x" }),
		"of node 0 of stage 0":                              piece(func(p *Piece) { p.Part = 0 }),
		"of node 1 of stage 1":                              piece(func(p *Piece) { p.Stage = 1 }),
		"of node 1 of stage -1":                             piece(func(p *Piece) { p.Stage = -1 }),
		"negative number of bytes or records: -1":           piece(func(p *Piece) { p.Length = -1 }),
		"negative number of bytes or records: -2":           piece(func(p *Piece) { p.Records = -2 }),
		"negative number of bytes or records: -3":           {Bytes: -3},
		`"/tmp/precious": it is not in /out/_temporary/job`: piece(func(p *Piece) { p.Path = "/tmp/precious" }),
		"/out/_temporary/job_1_0002/":                       piece(func(p *Piece) { p.Path = strings.Replace(staged, "job_1_0001", "job_1_0002", 1) }),
		"/../":                                              piece(func(p *Piece) { p.Path = stagedDir(job1) + "/../../" + id.String() }),
		"attempt_1_0001_m_000000_0.part.000":                piece(func(p *Piece) { p.Path = stagedDir(job1) + "/attempt_1_0001_m_000000_0.part.000" }),
		"does not begin with the id of an attempt":          piece(func(p *Piece) { p.Path = stagedDir(job1) + "/other" }),
		"attempt_1_0001_m_000001_1.part.000":                piece(func(p *Piece) { p.Path = stagedDir(job1) + "/attempt_1_0001_m_000001_1.part.000" }),
		"named twice":                                       {Pieces: []Piece{{Output: "part", Path: staged, Part: 1}, {Output: "part", Path: staged, Part: 1}}},
		"10001 files written by an attempt exceed the limit of 10000; raise hammr.limits.pieces": {Pieces: make([]Piece, 10_001)},
	} {
		t.Run(want, func(t *testing.T) {
			s := New("1")
			apply(t, s, JoinMachine{Name: "n", Slots: Slots{2, 1}}, submit(2, 1), StartJob{job1}, StartAttempt{Task: id.Task, Machine: "n"}, FinishAttempt{Attempt: id, Output: bad})
			wantFailed(t, s, id, want)
			twin := restored(t, encoded(t, s))
			if string(encoded(t, twin)) != string(encoded(t, s)) {
				t.Error("the restored state differs")
			}
		})
	}
}

// wantFailed checks that an attempt has failed for a cause, and that its task is charged.
func wantFailed(t *testing.T, s *State, id AttemptID, want string) {
	t.Helper()
	j := s.View().Job(id.Task.Job)
	_, task, a, _ := s.View().Attempt(id)
	if a.Status() != StatusFailed || !strings.Contains(a.Cause, want) || task.Charged != 1 || len(j.Failures) != 1 {
		t.Errorf("it is %v for %q, its task is charged %d times; want %q", a.State, a.Cause, task.Charged, want)
	}
}

func TestReportsThatFitAreTaken(t *testing.T) {
	for out, dir := range map[string]string{
		"hdfs://h/out": "hdfs://h/out", "hdfs:///out": "hdfs://nn:8020/out", "file:///out/": "file:/out", "/a//out": "/a/out", "out": "hdfs://h/user/me/out",
	} {
		s := New("1")
		spec := submit(1, 0)
		spec.Spec.OutputDir = out
		id := attemptAt(mapTask(0), 0)
		apply(t, s, JoinMachine{Name: "n", Slots: Slots{2, 1}}, spec, StartJob{job1}, StartAttempt{Task: id.Task, Machine: "n"},
			FinishAttempt{Attempt: id, Output: Manifest{Pieces: []Piece{{Output: "part", Suffix: ".gz", Path: dir + "/_temporary/" + job1.String() + "/" + id.String() + ".part.000.gz"}}}})
		if _, _, a, _ := s.View().Attempt(id); a.State != AttemptSucceeded {
			t.Errorf("output %s: %v %s", out, a.State, a.Cause)
		}
	}
}

// TestStoredOutputLiesWithTheJobsOutput gives stored segments the name of another job's file.
func TestStoredOutputLiesWithTheJobsOutput(t *testing.T) {
	g := dag.MapReduce(1, 1)
	g.Edges[0].Stored = true
	id := attemptAt(mapTask(0), 0)
	for path, want := range map[string]AttemptState{"/etc/passwd": AttemptFailed, stagedDir(job1) + "/" + id.String() + ".m": AttemptSucceeded} {
		s, j := running(t, g)
		apply(t, s, StartAttempt{Task: id.Task, Machine: "n0", Range: whole}, FinishAttempt{Attempt: id, Range: whole, Output: Manifest{Segments: []Segments{{Path: path}}}})
		if a := j.Stages[0].Tasks[0].Attempts[0]; a.State != want {
			t.Errorf("%s: %v %s", path, a.State, a.Cause)
		}
	}
}

// TestCheckpointWithABadCopyFailsItsAttempt names a file as copy that the attempt cannot have
// written.
func TestCheckpointWithABadCopyFailsItsAttempt(t *testing.T) {
	id := attemptAt(mapTask(0), 0)
	for want, bad := range map[string]Checkpoint{
		`"/etc/passwd": it is not in /out/_temporary/job_1_0001/checkpoints/attempt_1_0001_m_000000_0`: {Copy: &CheckpointCopy{Path: "/etc/passwd"}},
		"negative number": {Bytes: math.MinInt64}, "no control characters": {Path: "\x00"},
	} {
		s := New("1")
		apply(t, s, JoinMachine{Name: "n", Slots: Slots{2, 1}}, submit(2, 1), StartJob{job1}, StartAttempt{Task: id.Task, Machine: "n"}, CheckpointAttempt{Attempt: id, Checkpoint: bad})
		wantFailed(t, s, id, want)
	}
}

// TestCountersOfAJobAreBounded finishes tasks that count under names of their own.
func TestCountersOfAJobAreBounded(t *testing.T) {
	s := New("1")
	spec := submit(2, 0)
	spec.Spec.MaxCounters = 10
	counters := make([]Counter, engineCounters+10)
	for i := range counters {
		counters[i] = Counter{CounterName{"words", fmt.Sprint(i)}, 1}
	}
	id := attemptAt(mapTask(1), 0)
	apply(t, s, JoinMachine{Name: "n", Slots: Slots{2, 1}}, spec, StartJob{job1}, StartAttempt{Task: mapTask(0), Machine: "n"}, StartAttempt{Task: mapTask(1), Machine: "n"},
		FinishAttempt{Attempt: attemptAt(mapTask(0), 0), Counters: counters},
		FinishAttempt{Attempt: id, Counters: []Counter{{CounterName{"words", "another"}, 1}}})
	wantFailed(t, s, id, "mapreduce.job.counters.limit is 10")
	long := attemptAt(mapTask(1), 1)
	apply(t, s, StartAttempt{Task: mapTask(1), Machine: "n"}, FinishAttempt{Attempt: long, Counters: []Counter{{CounterName{"g", strings.Repeat("x", 2000)}, 1}}})
	if _, _, a, _ := s.View().Attempt(long); !strings.Contains(a.Cause, "counter.name.max is at most 1024") {
		t.Errorf("%v %q", a.State, a.Cause)
	}
}
