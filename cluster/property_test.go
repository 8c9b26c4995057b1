package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
	"pgregory.net/rapid"
)

// TestRandomCommandsKeepTheInvariants applies commands of all kinds to a small cluster, most
// of them valid. A refused command may change nothing, and a twin with the same entries ends
// in the same state.
func TestRandomCommandsKeepTheInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, twin := New("1"), New("1")
		for step := range rapid.IntRange(1, 120).Draw(t, "steps") {
			e := Entry{At: int64(step + 1), Command: drawCommand(t, s)}
			before := dump(s)
			_, err := s.Apply(e)
			if _, twinErr := twin.Apply(e); fmt.Sprint(err) != fmt.Sprint(twinErr) {
				t.Fatalf("%+v: %v here, %v there", e.Command, err, twinErr)
			}
			if err != nil && dump(s) != before {
				t.Fatalf("refused %T %+v changed the state: %v", e.Command, e.Command, err)
			}
			if problem := s.CheckInvariants(); problem != nil {
				t.Fatalf("after %T %+v:\n%v", e.Command, e.Command, problem)
			}
			checkReadyAt(t, s, e.At)
			loadSplits(s, twin)
		}
		if dump(s) != dump(twin) {
			t.Fatal("the same entries give another state")
		}
	})
}

// checkReadyAt checks that a stage has a time since which it is ready if and only if it is
// ready.
func checkReadyAt(t *rapid.T, s *State, now int64) {
	for j := range s.View().Jobs() {
		for _, stage := range j.Stages {
			since := j.ReadyAt(stage)
			if j.State == JobRunning && !j.Suspended && j.Ready(stage) != (since > 0) || since > now {
				t.Fatalf("at %d %v %s is ready: %v, since %d", now, j.ID, stage.Name, j.Ready(stage), since)
			}
		}
	}
}

// dump returns everything visible of a state, as text.
func dump(s *State) string {
	var b strings.Builder
	fmt.Fprintln(&b, s.Submitted, "jobs, also retired ones")
	for j := range s.View().Jobs() {
		fmt.Fprintln(&b, j.ID, j.State, j.Outcome, j.Cause, j.MachineFailures, j.Spec.Priority, j.Spec.Pool, j.SubmittedAt, j.StartedAt, j.CommitAt, j.FinishedAt, j.Suspended, j.Counters(j.Stages...), j.Archived, string(j.Summary))
		for _, f := range j.Failures {
			fmt.Fprintln(&b, f.Attempt, f.Machine, f.At, f.Cause, f.Skipped)
		}
		for _, bundle := range j.Bundles {
			fmt.Fprintln(&b, bundle.Index, bundle.Starts)
		}
		for _, st := range j.Stages {
			fmt.Fprintln(&b, st.CombineSets, st.WritesFiles)
			fmt.Fprintln(&b, st.Name, st.Finished, st.Running, st.Waiting(), st.Launched, st.Failed, st.Killed, st.SlotMillis, st.StartedAt, st.FinishedAt)
			for _, t := range st.Tasks {
				fmt.Fprintln(&b, t.ID, t.State, t.Split, t.Part, t.Range, t.Ranged, t.Skip, t.Charged, t.Counts, t.Checkpoint != nil, t.Output != nil)
				for _, a := range t.Attempts {
					fmt.Fprintf(&b, "%+v\n", *a)
				}
			}
		}
	}
	for _, m := range s.Machines {
		fmt.Fprintln(&b, m.Name, m.Instance, m.Lost, m.LostAt, m.Excluded, m.Draining, m.UntilRestart, m.Offered, m.Slots, m.Used, m.Epoch, len(m.Attempts))
	}
	return b.String() + s.Policy + fmt.Sprint(s.PolicyConf, s.Pools)
}

// loadSplits gives every job its splits: [0,100) of each file, on host n<i mod 3>. The hosts
// of every other one become known at the second call.
func loadSplits(states ...*State) {
	for _, s := range states {
		for j := range s.View().Jobs() {
			splits := make([]Split, sourceNodes(j.Spec.Graph))
			var late []Location
			for i := range splits {
				splits[i] = Split{Range: whole, Bytes: 100, Ordinal: i}
				if hosts := []string{fmt.Sprintf("n%d", i%3)}; i%2 == 0 {
					splits[i].Hosts = hosts
				} else if j.Loaded() {
					late = append(late, Location{Split: i, Hosts: hosts})
				}
			}
			if err := errors.Join(s.Load(j.ID, splits), s.Locate(j.ID, late)); err != nil {
				panic(err)
			}
		}
	}
}

var whole = dag.Range{End: dag.Position{Offset: 100}}

func drawCommand(t *rapid.T, s *State) Command {
	verb := rapid.SampledFrom([]string{
		"submit", "startjob", "start", "start", "start", "start", "bundle", "bundle", "bundle", "finish", "finish", "finish", "fail", "end", "lose", "move", "move", "movecheckpoint", "movecheckpoint", "split",
		"preempt", "decline", "suspend", "suspend", "resume", "send away", "checkpoint", "kill", "suspendjob", "resumejob", "failjob", "commit", "close", "join", "join", "expire", "restore", "priority", "pool", "pools", "admit", "drain", "drain", "forget", "policy", "retire", "archive", "archive", "killattempt", "speculate",
	}).Draw(t, "verb")
	switch verb {
	case "submit":
		return SubmitJob{JobSpec{
			Graph: drawGraph(t), OutputDir: outputDir,
			Pool:               rapid.SampledFrom([]string{"", "", "default", "a"}).Draw(t, "pool"),
			MaxAttempts:        [2]int{rapid.IntRange(0, 2).Draw(t, "maps' tries"), 2},
			MaxMachineFailures: rapid.IntRange(0, 2).Draw(t, "faults"), FailureDecayMillis: 10,
			SkipRecords: rapid.IntRange(0, 2).Draw(t, "skip"), SlowStartPPM: rapid.SampledFrom([]int{0, 500_000, 1_000_000}).Draw(t, "slow start"),
		}}
	case "startjob":
		return StartJob{drawJob(t, s)}
	case "start":
		return drawStart(t, s)
	case "bundle":
		return drawBundleStart(t, s)
	case "finish":
		a := drawAttempt(t, s)
		var out Manifest
		if rapid.Bool().Draw(t, "files") {
			out = pieceOf(s, a)
		}
		return FinishAttempt{Attempt: a, Range: drawRange(t, s, a), Output: out, Counters: []Counter{{CounterName{"g", rapid.SampledFrom([]string{"a", "b"}).Draw(t, "counter")}, 3}}}
	case "fail":
		return FailAttempt{
			Attempt: drawAttempt(t, s), Failure: Failure{Cause: "bad", Record: drawRecord(t), Fatal: rapid.IntRange(0, 9).Draw(t, "fatal") == 0},
			Uncharged: rapid.Bool().Draw(t, "uncharged"), OnMachine: rapid.Bool().Draw(t, "stays"),
			BadCheckpoint: rapid.Bool().Draw(t, "bad checkpoint"),
		}
	case "end":
		c := ExitAttempt{Attempt: drawAttempt(t, s), Cause: "by request"}
		if rapid.IntRange(0, 9).Draw(t, "stuck") == 0 {
			c.Stuck = &Failure{Cause: "it does not end"}
		}
		return c
	case "lose":
		return LoseOutput{drawAttempt(t, s), "unreadable"}
	case "move":
		c := MoveOutput{Attempt: drawAttempt(t, s), Machine: drawMachine(t)}
		if p, err := s.attempt(c.Attempt); err == nil && p.task.Output != nil {
			c.Segments = p.task.Output.Segments
		}
		return c
	case "movecheckpoint":
		c := MoveCheckpoint{Attempt: drawAttempt(t, s), Machine: drawMachine(t), Path: "m"}
		if p, err := s.attempt(c.Attempt); err == nil && p.task.Checkpoint != nil && rapid.Bool().Draw(t, "the latest") {
			c.Attempt = p.task.Checkpoint.Attempt
		}
		return c
	case "split":
		return SplitTask{drawAttempt(t, s), dag.Position{Offset: rapid.Int64Range(0, 100).Draw(t, "at")}}
	case "preempt", "decline", "suspend", "resume", "send away", "checkpoint":
		return drawPreemption(t, verb, drawAttempt(t, s))
	case "kill":
		return KillJob{drawJob(t, s), "because"}
	case "suspendjob":
		return SuspendJob{Job: drawJob(t, s), Cause: "later", Split: rapid.Bool().Draw(t, "split"), PreferSuspend: rapid.Bool().Draw(t, "still")}
	case "resumejob":
		return ResumeJob{drawJob(t, s)}
	case "failjob":
		return FailJob{drawJob(t, s), "broken"}
	case "commit":
		return CommitJob{drawJob(t, s)}
	case "close":
		return CloseJob{drawJob(t, s)}
	}
	return drawOperation(t, s, verb)
}

// drawOperation returns a command of an operator, or an event of a machine.
func drawOperation(t *rapid.T, s *State, verb string) Command {
	switch verb {
	case "expire":
		return drawExpiry(t, s)
	case "priority":
		return SetPriority{drawJob(t, s), rapid.IntRange(-1, 1).Draw(t, "priority")}
	case "pool":
		return SetPool{drawJob(t, s), rapid.SampledFrom([]string{"default", "a", "b"}).Draw(t, "pool")}
	case "pools":
		return SetPools{rapid.SliceOfN(rapid.SampledFrom([]string{"", "default", "a", "b"}), 0, 3).Draw(t, "pools")}
	case "admit":
		return AdmitMachine{drawMachine(t), rapid.Bool().Draw(t, "excluded")}
	case "drain":
		return DrainMachine{drawMachine(t), "it is to be stopped", rapid.Bool().Draw(t, "until restart"), rapid.SampledFrom([]int64{0, 99}).Draw(t, "deadline")}
	case "forget":
		return ForgetMachine{drawMachine(t), rapid.IntRange(1, 2).Draw(t, "epoch")}
	case "speculate":
		return SpeculateTask{drawTask(t, s), drawMachine(t)}
	case "restore":
		a := drawAttempt(t, s)
		return RestoreOutput{Attempt: a, Range: drawRange(t, s, a)}
	case "archive":
		return ArchiveJob{drawJob(t, s), []byte("summary")}
	case "retire":
		return RetireJob{drawJob(t, s)}
	case "killattempt":
		if rapid.Bool().Draw(t, "preempt") {
			return PreemptAttempt{Attempt: drawAttempt(t, s), Mode: preempt.Kill, Cause: "others"}
		}
		return KillAttempt{Attempt: drawAttempt(t, s), Cause: "enough"}
	case "policy":
		return drawPolicy(t)
	}
	return JoinMachine{Name: drawMachine(t), Instance: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "instance"), Fetched: drawFetched(t, s),
		Retained: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) AttemptID { return drawAttempt(t, s) }), 0, 2).Draw(t, "held"), Slots: Slots{rapid.IntRange(0, 4).Draw(t, "maps"), rapid.IntRange(0, 3).Draw(t, "reduces")}}
}

func drawPreemption(t *rapid.T, verb string, a AttemptID) Command {
	switch verb {
	case "preempt":
		return PreemptAttempt{Attempt: a, Mode: rapid.SampledFrom([]preempt.Mode{preempt.Checkpoint, preempt.Split}).Draw(t, "mode")}
	case "decline":
		return DeclinePreemption{Attempt: a}
	case "suspend":
		return PreemptAttempt{Attempt: a, Mode: preempt.Suspend}
	case "resume":
		return ResumeAttempt{a}
	case "send away":
		return MoveAttempt{Attempt: a}
	}
	c := CheckpointAttempt{Attempt: a, Checkpoint: Checkpoint{Path: "c"}}
	if rapid.Bool().Draw(t, "copied") {
		c.Checkpoint.Copy = copyOf(a)
	}
	return c
}

func drawGraph(t *rapid.T) dag.Graph {
	n := rapid.IntRange(1, 3).Draw(t, "nodes")
	switch rapid.SampledFrom([]string{"mapreduce", "mapreduce", "gangs", "gang", "groups", "combined"}).Draw(t, "graph") {
	case "gangs":
		return gangGraph(n)
	case "gang":
		g := gangGraph(n)
		g.Edges[0].Connection = dag.AllToAll
		return g
	case "groups":
		g := gangGraph(n)
		g.Edges[0].Channel = dag.ChannelSHM
		return g
	case "combined":
		return combined(n, 2)
	}
	g := dag.MapReduce(rapid.IntRange(0, 3).Draw(t, "maps"), rapid.IntRange(0, 2).Draw(t, "reduces"))
	if len(g.Stages) == 2 && rapid.Bool().Draw(t, "third stage") {
		g.Stages = append(g.Stages, dag.Stage{Name: "top", Nodes: 1})
		g.Edges = append(g.Edges, dag.Edge{From: "reduce", To: "top", Connection: dag.Gather})
	}
	return g
}

func drawMachine(t *rapid.T) string {
	return rapid.SampledFrom([]string{"n0", "n1"}).Draw(t, "machine")
}

func drawJob(t *rapid.T, s *State) JobID {
	return JobID{"1", rapid.IntRange(1, max(1, s.Submitted)).Draw(t, "job")}
}

func drawTask(t *rapid.T, s *State) TaskID {
	j := s.View().Job(drawJob(t, s))
	if j == nil || j.Archived {
		return TaskID{}
	}
	st := j.Stages[rapid.IntRange(0, len(j.Stages)-1).Draw(t, "stage")]
	return TaskID{j.ID, st.Code, rapid.IntRange(0, max(0, len(st.Tasks)-1)).Draw(t, "task")}
}

func drawStart(t *rapid.T, s *State) Command {
	c := StartAttempt{Task: drawTask(t, s), Machine: drawMachine(t)}
	if j, _, task, ok := s.View().Task(c.Task); ok {
		c.Range = j.RangeOf(task)
	}
	return c
}

// drawBundleStart starts a bundle of any class on any machines.
func drawBundleStart(t *rapid.T, s *State) Command {
	j := s.View().Job(drawJob(t, s))
	if j == nil || j.Archived {
		return StartBundle{}
	}
	b := j.Bundles[rapid.IntRange(0, len(j.Bundles)-1).Draw(t, "class")]
	machines := rapid.SliceOfN(rapid.Custom(drawMachine), 1, 3).Draw(t, "machines")
	return bundleStart(j, b.Index, rapid.IntRange(0, max(0, b.Count-1)).Draw(t, "bundle"), machines...)
}

func drawAttempt(t *rapid.T, s *State) AttemptID {
	id := AttemptID{Task: drawTask(t, s)}
	if _, _, task, ok := s.View().Task(id.Task); ok && len(task.Attempts) > 0 {
		id.Number = rapid.IntRange(0, len(task.Attempts)-1).Draw(t, "attempt")
	}
	return id
}

func drawRange(t *rapid.T, s *State, id AttemptID) dag.Range {
	_, task, a, ok := s.View().Attempt(id)
	switch {
	case !ok:
		return dag.Range{}
	case rapid.IntRange(0, 9).Draw(t, "stale range") == 0:
		return a.Range
	}
	return task.Range
}

func drawRecord(t *rapid.T) *dag.Position {
	if rapid.Bool().Draw(t, "unknown record") {
		return nil
	}
	return &dag.Position{Offset: rapid.Int64Range(0, 110).Draw(t, "record")}
}

func TestNumberSetIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s numberSet
		twin := make(map[int]bool)
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			n := rapid.IntRange(0, 300).Draw(t, "n")
			if rapid.Bool().Draw(t, "add") {
				s.add(n)
				twin[n] = true
			} else {
				s.remove(n)
				delete(twin, n)
			}
			last, seen := -1, 0
			for m := range s.all() {
				if m <= last || !twin[m] {
					t.Fatalf("yields %d after %d; in the set: %v", m, last, twin[m])
				}
				last, seen = m, seen+1
			}
			if seen > 0 && s.words[s.low] == 0 {
				t.Fatalf("%d words before the first member are searched", slices.IndexFunc(s.words, func(w uint64) bool { return w != 0 })-s.low)
			}
			if seen != len(twin) || s.count != len(twin) {
				t.Fatalf("yields %d, counts %d, want %d", seen, s.count, len(twin))
			}
		}
	})
}

func drawPolicy(t *rapid.T) SetPolicy {
	return SetPolicy{rapid.SampledFrom([]string{"", "fifo"}).Draw(t, "policy"), []Setting{
		{"a", rapid.SampledFrom([]string{"1", "2"}).Draw(t, "setting")}, {rapid.SampledFrom([]string{"a", "b"}).Draw(t, "setting's name"), ""},
	}}
}

func drawExpiry(t *rapid.T, s *State) Command {
	return ExpireMachine{Name: drawMachine(t), Epoch: rapid.IntRange(1, 2).Draw(t, "epoch"), Fetched: drawFetched(t, s)}
}

// drawFetched reports any attempts as readers or as fetched.
func drawFetched(t *rapid.T, s *State) Fetched {
	draw := func(label string) []AttemptID {
		ids := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) AttemptID { return drawAttempt(t, s) }), 0, 4).Draw(t, label)
		slices.SortFunc(ids, AttemptID.Compare)
		return ids
	}
	return Fetched{Outputs: draw("outputs"), Readers: draw("readers")}
}
