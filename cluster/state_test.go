package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
)

var job1 = JobID{"1", 1}

func mapTask(n int) TaskID { return TaskID{job1, "m", n} }

func attemptAt(task TaskID, n int) AttemptID { return AttemptID{task, n} }

// apply applies commands, a millisecond apart, and requires that each is accepted.
func apply(t *testing.T, s *State, commands ...Command) (last Delta) {
	t.Helper()
	for i, c := range commands {
		delta, err := s.Apply(Entry{At: int64(i + 1), Command: c})
		if err != nil {
			t.Fatalf("%T %+v: %v", c, c, err)
		}
		if problem := s.CheckInvariants(); problem != nil {
			t.Fatalf("after %T: %v", c, problem)
		}
		last = delta
	}
	return last
}

func submit(maps, reduces int) SubmitJob {
	return SubmitJob{JobSpec{Graph: dag.MapReduce(maps, reduces), OutputDir: outputDir, MaxAttempts: [2]int{2, 2}}}
}

// outputDir is the output directory of jobs.
const outputDir = "hdfs://h/out"

// pieceOf returns a file of the job's output that an attempt may have written.
func pieceOf(s *State, id AttemptID) Manifest {
	p, err := s.attempt(id)
	if err != nil {
		return Manifest{}
	}
	stage, part := p.stage.Nodes[0], p.task.Part
	if p.task.ID.Number < p.job.Layout.Groups[p.stage.Index].Count {
		part *= p.job.Layout.NodesPerGroup(p.stage.Index, stage)
	}
	return Manifest{Pieces: []Piece{{Output: "part", Path: stagedDir(id.Task.Job) + "/" + id.String() + ".part.000", Stage: stage, Part: part}}}
}

// stagedDir returns the directory in which attempts of a job write.
func stagedDir(id JobID) string { return outputDir + "/_temporary/" + id.String() }

// copyOf returns the copy of a checkpoint that an attempt may have written.
func copyOf(id AttemptID) *CheckpointCopy {
	return &CheckpointCopy{Path: stagedDir(id.Task.Job) + "/checkpoints/" + id.String() + "/checkpoint"}
}

func TestEntriesOfAClientAreAppliedOnce(t *testing.T) {
	s := New("1")
	first, err := s.Apply(Entry{Client: "c", Sequence: 7, Command: submit(1, 0)})
	if err != nil || first.Submitted != job1 {
		t.Fatalf("submitted %v, %v", first.Submitted, err)
	}
	again, err := s.Apply(Entry{Client: "c", Sequence: 7, Command: submit(1, 0)})
	if err != nil || again.Submitted != job1 || len(again.Jobs) != 0 || len(s.jobs) != 1 {
		t.Errorf("the second time: %+v, %v, %d jobs", again, err, len(s.jobs))
	}
	if other, err := s.Apply(Entry{Client: "d", Sequence: 7, Command: submit(1, 0)}); err != nil || other.Submitted.Number != 2 {
		t.Errorf("another client: %+v, %v", other, err)
	}
	if _, err := s.Apply(Entry{Client: "c", Sequence: 1000, Command: submit(1, 0)}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(Entry{Client: "c", Sequence: 8, Command: submit(1, 0)}); !errors.Is(err, ErrTooLate) {
		t.Errorf("a number long past: %v", err)
	}
	for n := range uint64(1000) {
		if _, err := s.Apply(Entry{Client: "c", Sequence: 1001 + n, Command: SetPolicy{Name: "fifo"}}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.Sessions["c"].Results); n > 2*sessionWindow {
		t.Errorf("%d results are remembered", n)
	}
}

func TestRefusedEntryMayBeRepeated(t *testing.T) {
	s := New("1")
	kill := Entry{Client: "c", Sequence: 1, Command: KillJob{job1, "x"}}
	if _, err := s.Apply(kill); !errors.Is(err, ErrUnknown) {
		t.Fatalf("kill of no job: %v", err)
	}
	apply(t, s, submit(1, 0))
	if _, err := s.Apply(kill); err != nil || s.jobs[0].State != JobAborting {
		t.Errorf("kill of a job: %v, %v", err, s.jobs[0].State)
	}
}

func TestCommandsThatDoNotFitAreRefused(t *testing.T) {
	s := New("1")
	whole := dag.Range{End: dag.Position{Offset: 100}}
	start := func(n int, r dag.Range) Command { return StartAttempt{Task: mapTask(n), Machine: "n", Range: r} }
	refuse := func(c Command, want string) {
		t.Helper()
		if _, err := s.Apply(Entry{Command: c}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T %+v: %v, want %q", c, c, err, want)
		}
	}
	refuse(submit(-1, 0), "-1 nodes")
	refuse(SubmitJob{JobSpec{Graph: dag.MapReduce(1, 1), SlowStartPPM: -1}}, "0 attempts allowed for a map task")
	refuse(StartJob{job1}, "not found")
	refuse(JoinMachine{}, "machine")
	apply(t, s, submit(3, 1), JoinMachine{Name: "n", Slots: Slots{2, 1}})
	refuse(start(0, whole), "not at that point")
	apply(t, s, StartJob{job1}, start(0, whole))
	refuse(StartJob{job1}, "refused")
	refuse(start(0, whole), "is RUNNING")
	refuse(start(9, whole), "not found")
	refuse(StartAttempt{Task: mapTask(1), Machine: "other"}, `machine "other"`)
	apply(t, s, FailAttempt{Attempt: attemptAt(mapTask(0), 0)})
	refuse(start(0, dag.Range{End: dag.Position{Offset: 99}}), "owns [0,100), not [0,99)")
	apply(t, s, start(0, whole), start(1, whole))
	refuse(start(2, whole), "no free map slot on n")
	refuse(SplitTask{attemptAt(mapTask(0), 1), dag.Position{Offset: 100}}, "is not inside")
	refuse(SplitTask{attemptAt(mapTask(0), 0), dag.Position{Offset: 50}}, "does not read a range now")
	refuse(LoseOutput{attemptAt(mapTask(0), 1), "x"}, "no task needs")
	refuse(ExpireMachine{Name: "n", Epoch: 2}, "epoch 2")
	refuse(CommitJob{job1}, "refused")
	refuse(CloseJob{job1}, "refused")
	apply(t, s, KillJob{job1, "x"})
	refuse(CloseJob{job1}, "not at that point")
	refuse(FailJob{job1, "y"}, "refused")
}

func TestCountersAreThoseOfTheWinners(t *testing.T) {
	s := New("1")
	count := func(name string, n int64) []Counter { return []Counter{{CounterName{"g", name}, n}} }
	finish := func(task, attempt int, counters []Counter) Command {
		return FinishAttempt{Attempt: attemptAt(mapTask(task), attempt), Counters: counters}
	}
	apply(t, s, submit(2, 1), JoinMachine{Name: "n", Slots: Slots{2, 1}}, StartJob{job1},
		StartAttempt{Task: mapTask(0), Machine: "n"}, StartAttempt{Task: mapTask(1), Machine: "n"},
		finish(0, 0, count("a", 3)), finish(1, 0, count("b", 5)),
		LoseOutput{attemptAt(mapTask(0), 0), "x"},
		StartAttempt{Task: mapTask(0), Machine: "n"}, finish(0, 1, append(count("b", 1), count("a", 4)...)))
	j := s.View().Job(job1)
	got := j.Counters(j.Stages...)
	if len(got) != 2 || got[0] != count("a", 4)[0] || got[1] != count("b", 6)[0] {
		t.Errorf("counters are %v", got)
	}
	if of := j.CountersOf(j.Stages[0].Tasks[1]); of[1] != count("b", 5)[0] {
		t.Errorf("counters of map 1 are %v", of)
	}
}

func TestSplitsMakePendingTasksFoundByHost(t *testing.T) {
	s := New("1")
	apply(t, s, submit(3, 0), JoinMachine{Name: "n", Hosts: []string{"a", "10.0.0.1"}, Slots: Slots{1, 0}})
	if err := s.Load(job1, make([]Split, 2)); err == nil {
		t.Error("too few splits are taken")
	}
	splits := []Split{{Hosts: []string{"a", "b"}}, {Hosts: []string{"b"}}, {}}
	must.Do(t, s.Load(job1, splits))
	on := func(host string) (numbers []int) {
		for task := range s.View().Job(job1).Stages[0].PendingOn(host) {
			numbers = append(numbers, task.ID.Number)
		}
		return numbers
	}
	if got := on("b"); len(got) != 2 || len(on("a")) != 1 || len(on("c")) != 0 {
		t.Errorf("on b: %v", got)
	}
	apply(t, s, StartJob{job1}, StartAttempt{Task: mapTask(0), Machine: "n", Local: true})
	if got := on("b"); len(got) != 1 || got[0] != 1 || len(on("a")) != 0 {
		t.Errorf("on b after the start of task 0: %v", got)
	}
	j := s.View().Job(job1)
	m := s.View().Machine("n")
	if !j.IsLocal(j.Stages[0].Tasks[0], m) || j.IsLocal(j.Stages[0].Tasks[1], m) || j.Stages[0].LocalStarts != 1 {
		t.Error("locality is not counted")
	}
	apply(t, s, FinishAttempt{Attempt: AttemptID{mapTask(0), 0}}, StartAttempt{Task: mapTask(1), Machine: "n", RackLocal: true})
	if st := j.Stages[0]; st.LocalStarts != 1 || st.RackStarts != 1 || st.Launched != 2 {
		t.Errorf("%d starts, %d local, %d in the rack", st.Launched, st.LocalStarts, st.RackStarts)
	}
}

func TestFreeSince(t *testing.T) {
	s := New("1")
	at := func(now int64, commands ...Command) int64 {
		t.Helper()
		for _, c := range commands {
			if _, err := s.Apply(Entry{At: now, Command: c}); err != nil {
				t.Fatal(err)
			}
		}
		return s.View().Machine("n").FreeSince[MapSlot]
	}
	at(1, JoinMachine{Name: "n", Slots: Slots{2, 1}}, submit(3, 0))
	must.Do(t, s.Load(job1, make([]Split, 3)))
	if got := at(5, StartJob{job1}, StartAttempt{Task: mapTask(0), Machine: "n"}); got != 1 {
		t.Errorf("with one slot taken, one is free since %d, want 1", got)
	}
	at(6, StartAttempt{Task: mapTask(1), Machine: "n"})
	if got := at(9, FinishAttempt{Attempt: AttemptID{mapTask(0), 0}}); got != 9 {
		t.Errorf("after both were taken, one is free since %d, want 9", got)
	}
}

func TestRecordsToSkipGoWithTheirPartOfASplitTask(t *testing.T) {
	s := New("1")
	spec := submit(1, 0)
	spec.Spec.SkipRecords = 3
	whole := dag.Range{End: dag.Position{Offset: 100}}
	at := func(offset int64) *dag.Position { return &dag.Position{Offset: offset} }
	fail := func(n int, record *dag.Position) Command {
		return FailAttempt{Attempt: attemptAt(mapTask(0), n), Failure: Failure{Cause: "bad", Record: record}}
	}
	again := StartAttempt{Task: mapTask(0), Machine: "n", Range: whole}
	apply(t, s, spec, JoinMachine{Name: "n", Slots: Slots{1, 0}}, StartJob{job1},
		again, fail(0, at(70)), again, fail(1, at(20)), again, fail(2, at(60)), again,
		SplitTask{attemptAt(mapTask(0), 3), dag.Position{Offset: 60}})
	tasks := s.View().Job(job1).Stages[0].Tasks
	if len(tasks[0].Skip) != 1 || tasks[0].Skip[0] != *at(20) || tasks[0].Charged != 0 {
		t.Errorf("the first part skips %v and is charged %d tries", tasks[0].Skip, tasks[0].Charged)
	}
	if len(tasks[1].Skip) != 2 || tasks[1].Skip[0] != *at(60) || tasks[1].Part != 0 {
		t.Errorf("the rest skips %v as part %d", tasks[1].Skip, tasks[1].Part)
	}
}

// TestFilesOfStagesThatOthersReadBelongToTheOutput loses a map that wrote an output file in
// addition to what the reduce reads. The job must not end without that file.
func TestFilesOfStagesThatOthersReadBelongToTheOutput(t *testing.T) {
	s := New("1")
	whole := dag.Range{End: dag.Position{Offset: 1}}
	reduce := TaskID{Job: job1, Stage: "r", Number: 0}
	apply(t, s, JoinMachine{Name: "n", Slots: Slots{1, 1}}, submit(1, 1))
	must.Do(t, s.Load(job1, []Split{{Range: whole}}))
	apply(t, s, StartJob{job1},
		StartAttempt{Task: mapTask(0), Machine: "n", Range: whole},
		FinishAttempt{Attempt: attemptAt(mapTask(0), 0), Range: whole, Output: Manifest{Pieces: []Piece{{Output: "other", Path: stagedDir(job1) + "/attempt_1_0001_m_000000_0.other.000"}}}},
		StartAttempt{Task: reduce, Machine: "n"},
		LoseOutput{attemptAt(mapTask(0), 0), "unreadable"},
		FinishAttempt{Attempt: AttemptID{reduce, 0}})
	if state := s.jobs[0].State; state != JobRunning {
		t.Fatalf("without the map's file the job is %v", state)
	}
	apply(t, s, StartAttempt{Task: mapTask(0), Machine: "n", Range: whole},
		FinishAttempt{Attempt: attemptAt(mapTask(0), 1), Range: whole, Output: pieceOf(s, attemptAt(mapTask(0), 0))})
	if state := s.jobs[0].State; state != JobCommitting {
		t.Errorf("with all of its files the job is %v", state)
	}
}

func TestMachinesAreAvoided(t *testing.T) {
	s := New("1")
	spec := submit(9, 0)
	spec.Spec.MaxMachineFailures, spec.Spec.FailureDecayMillis = 2, 1000
	spec.Spec.MaxAttempts = [2]int{9, 9}
	apply(t, s, spec, StartJob{job1})
	for _, name := range []string{"a", "b", "c", "d"} {
		apply(t, s, JoinMachine{Name: name, Slots: Slots{9, 0}})
	}
	fail := func(at int64, task int, machine string) {
		t.Helper()
		for _, c := range []Command{
			StartAttempt{Task: mapTask(task), Machine: machine},
			FailAttempt{Attempt: attemptAt(mapTask(task), len(s.jobs[0].Stages[0].Tasks[task].Attempts)), Failure: Failure{Cause: "bad"}},
		} {
			if _, err := s.Apply(Entry{At: at, Command: c}); err != nil {
				t.Fatal(err)
			}
		}
	}
	avoided := func(now int64) string { return strings.Join(s.View().Avoided(s.jobs[0], now), " ") }
	failedOn := func(task int) string {
		return strings.Join(s.View().FailedOn(s.jobs[0].Stages[0].Tasks[task]), " ")
	}
	fail(100, 0, "a")
	if got := avoided(100) + "|" + failedOn(0) + "|" + failedOn(1); got != "|a|" {
		t.Errorf("after one failure: %s", got)
	}
	fail(200, 1, "a")
	if got := avoided(200); got != "a" {
		t.Errorf("after two failures the job avoids %q", got)
	}
	if got := avoided(1200); got != "" {
		t.Errorf("one is forgotten after a second, and the job avoids %q", got)
	}
	fail(1200, 2, "a")
	fail(1200, 3, "b")
	fail(1200, 4, "b")
	if got := avoided(1200); got != "" {
		t.Errorf("two of four are too many, and the job avoids %q", got)
	}
	for _, machine := range []string{"b", "c"} {
		fail(1200, 0, machine)
	}
	if got := failedOn(0); got != "a b c" {
		t.Errorf("map 0 has failed on %q", got)
	}
	fail(1200, 0, "d")
	if got := failedOn(0); got != "" {
		t.Errorf("map 0 has failed everywhere, and avoids %q", got)
	}
}

func TestRetiredJobs(t *testing.T) {
	s := New("1")
	apply(t, s, submit(1, 0), submit(1, 0))
	if _, err := s.Apply(Entry{Command: RetireJob{job1}}); !errors.Is(err, ErrRefused) {
		t.Errorf("a job that is not over: %v", err)
	}
	apply(t, s, KillJob{job1, "x"}, CloseJob{job1}, RetireJob{job1})
	v := s.View()
	if v.Job(job1) != nil || !v.Retired(job1) || v.Retired(JobID{"1", 3}) {
		t.Error("the job is not retired")
	}
	if _, err := s.Apply(Entry{Command: KillJob{job1, "x"}}); !errors.Is(err, ErrRetired) {
		t.Errorf("kill of a retired job: %v", err)
	}
	delta, err := s.Apply(Entry{Command: submit(1, 0)})
	if err != nil || delta.Submitted.Number != 3 {
		t.Errorf("the next job is %v, %v", delta.Submitted, err)
	}
	left := 0
	for range v.Jobs() {
		left++
	}
	if left != 2 {
		t.Errorf("%d jobs are left", left)
	}
}

func TestSilentClientsAreForgottenWhenThereAreTooMany(t *testing.T) {
	s := New("1")
	apply(t, s, submit(0, 0))
	ask := func(at int64, client string) {
		t.Helper()
		if _, err := s.Apply(Entry{At: at, Client: client, Sequence: 1, Command: SetPriority{job1, int(at)}}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range int64(maxSessions + 1) {
		ask(n+1, fmt.Sprint("c", n))
	}
	if n := len(s.Sessions); n != maxSessions/2+1 {
		t.Errorf("%d clients are remembered", n)
	}
	ask(-1, fmt.Sprint("c", maxSessions/2)) // remembered: it does nothing
	if p := s.jobs[0].Spec.Priority; p != maxSessions+1 {
		t.Errorf("an entry that came before was applied again: %d", p)
	}
}

func TestLateLocationsAreThoseOfLoadedSplits(t *testing.T) {
	s := New("1")
	apply(t, s, SubmitJob{JobSpec{Graph: dag.MapReduce(3, 0), MaxAttempts: [2]int{1, 1}}})
	if err := s.Locate(job1, []Location{{Split: 0, Hosts: []string{"a"}}}); err == nil {
		t.Error("splits are located that are not loaded")
	}
	must.Do(t, s.Load(job1, []Split{{Range: whole, Hosts: []string{"a"}}, {Range: whole}, {Range: whole}}))
	must.Do(t, s.Locate(job1, []Location{{Split: 0, Hosts: []string{"b"}}, {Split: 2, Hosts: []string{"b", "a"}}}))
	stage := s.View().Job(job1).Stages[0]
	for host, want := range map[string][]int{"a": {0, 2}, "b": {2}, "c": nil} {
		var got []int
		for task := range stage.PendingOn(host) {
			got = append(got, task.ID.Number)
		}
		if !slices.Equal(got, want) {
			t.Errorf("on %s wait %v, want %v", host, got, want)
		}
	}
	if err := s.CheckInvariants(); err != nil {
		t.Error(err)
	}
}
