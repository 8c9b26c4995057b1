package cluster

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"pgregory.net/rapid"
)

// goldenSnapshot was written by an earlier version of this program.
const goldenSnapshot = "testdata/codec/snapshot.v3"

func encoded(t rapid.TB, s *State) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, s.Snapshot().Encode(&b))
	return b.Bytes()
}

func restored(t rapid.TB, data []byte) *State {
	t.Helper()
	s, err := DecodeSnapshot(bytes.NewReader(data))
	must.Do(t, err)
	return s
}

// TestRestoredStateBehavesLikeTheOriginal takes a snapshot in the middle of a random history,
// and applies the rest of it to both states.
func TestRestoredStateBehavesLikeTheOriginal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := New("a_b")
		middle := rapid.IntRange(0, 80).Draw(t, "steps before")
		for step := range middle {
			s.Apply(drawEntry(t, s, step))
			loadSplits(s)
		}
		data := encoded(t, s)
		twin := restored(t, data)
		for j := range twin.View().Jobs() {
			if j.Loaded() {
				t.Fatalf("%v has splits", j.ID)
			}
		}
		loadSplits(twin)
		if again := encoded(t, twin); !bytes.Equal(again, data) || dump(twin) != dump(s) {
			t.Fatalf("the copy is\n%s, want\n%s", dump(twin), dump(s))
		}
		for step := range rapid.IntRange(0, 40).Draw(t, "steps after") {
			applyToBoth(t, s, twin, drawEntry(t, s, middle+step))
			loadSplits(s, twin)
		}
		if !bytes.Equal(encoded(t, twin), encoded(t, s)) || dump(twin) != dump(s) {
			t.Fatal("the copy has come to another state")
		}
	})
}

// drawEntry returns a random command as an entry of the log.
func drawEntry(t *rapid.T, s *State, step int) Entry {
	e := Entry{At: int64(step + 1), Command: drawCommand(t, s)}
	if rapid.Bool().Draw(t, "with a client") {
		e.Client, e.Sequence = "c", rapid.Uint64Range(0, 200).Draw(t, "sequence")
	}
	return e
}

func applyToBoth(t *rapid.T, s, twin *State, e Entry) {
	delta, err := s.Apply(e)
	twinDelta, twinErr := twin.Apply(e)
	if fmt.Sprint(err) != fmt.Sprint(twinErr) || !reflect.DeepEqual(delta, twinDelta) {
		t.Fatalf("%+v: %v %+v, in the copy: %v %+v", e, err, delta, twinErr, twinDelta)
	}
	if problem := twin.CheckInvariants(); problem != nil {
		t.Fatalf("after %+v: %v", e, problem)
	}
}

// TestASnapshotStaysAsItWasTaken encodes a snapshot while the state changes. The race
// detector finds memory that they share.
func TestASnapshotStaysAsItWasTaken(t *testing.T) {
	s := livedState(t, 500)
	want := encoded(t, s)
	snap := s.Snapshot()
	done := make(chan []byte)
	go func() {
		var b bytes.Buffer
		if err := snap.Encode(&b); err != nil {
			t.Error(err)
		}
		if _, err := snap.Restore(); err != nil {
			t.Error(err)
		}
		done <- b.Bytes()
	}()
	liveOn(t, s)
	if got := <-done; !bytes.Equal(got, want) {
		t.Error("the snapshot changed with the state")
	}
	first, second := restored(t, want), restored(t, want)
	liveOn(t, first)
	if !bytes.Equal(encoded(t, second), want) || !bytes.Equal(encoded(t, first), encoded(t, s)) {
		t.Error("states from one snapshot share something, or differ")
	}
}

// livedState returns a cluster with a job that has finished half of its maps and runs some,
// after failures, checkpoints and splits.
func livedState(t testing.TB, maps int) *State {
	t.Helper()
	s := New("1")
	mustApply(t, s, JoinMachine{Name: "n", Instance: "i", Address: "n:1", HTTP: "n:2", Rack: "/r", Hosts: []string{"n", "10.0.0.1"}, Slots: Slots{maps, 2}})
	job := submit(maps, 2)
	job.Spec.SkipRecords, job.Spec.Document = 2, []byte("document")
	mustApply(t, s, job, StartJob{job1})
	for n := range maps {
		a := attemptAt(mapTask(n), 0)
		mustApply(t, s, StartAttempt{Task: mapTask(n), Machine: "n", Range: whole, Local: n%2 == 0})
		switch {
		case n%2 == 0:
			mustApply(t, s, finished(a))
		case n%8 == 1:
			mustApply(t, s, FailAttempt{Attempt: a, Failure: Failure{Cause: "bad \xff", Record: &dag.Position{Offset: int64(n % 50)}}})
		case n%8 == 3:
			mustApply(t, s, CheckpointAttempt{Attempt: a, Checkpoint: Checkpoint{Path: "c", Bytes: 7, Checksum: 1 << 63}})
		case n%8 == 5:
			mustApply(t, s, SplitTask{Attempt: a, At: dag.Position{Offset: 60, Skip: 2}})
		}
	}
	return s
}

func finished(a AttemptID) Command {
	return FinishAttempt{
		Attempt: a, Range: whole,
		Output: Manifest{Segments: []Segments{{Node: a.Task.Number, Path: "/local/dir/job_1_0001/" + a.String() + "/segments", IndexChecksum: 1 << 60}}, Bytes: 1 << 27, Records: 1 << 20},
		Counters: []Counter{
			{CounterName{"FileSystemCounter", "BYTES_READ"}, 1 << 27}, {CounterName{"TaskCounter", "MAP_INPUT_RECORDS"}, 1 << 20},
			{CounterName{"TaskCounter", "MAP_OUTPUT_RECORDS"}, 1 << 22}, {CounterName{"TaskCounter", "SPILLED_RECORDS"}, 1 << 21},
		},
	}
}

// liveOn changes everything in a livedState that can change.
func liveOn(t testing.TB, s *State) {
	t.Helper()
	for id, m := 1, s.View().Machine("n"); len(m.Attempts) > id; id++ {
		a := m.Attempts[0].ID
		s.Apply(Entry{At: 5, Client: "c", Sequence: uint64(id), Command: FailAttempt{Attempt: a, Failure: Failure{Record: &dag.Position{Offset: 3}}}})
		s.Apply(Entry{At: 6, Command: StartAttempt{Task: a.Task, Machine: "n", Range: whole}})
	}
	mustApply(t, s,
		SetPriority{job1, 3}, SetPolicy{"other", []Setting{{"size", "3"}}}, SetPools{[]string{"urgent"}}, SetPool{job1, "urgent"}, LoseOutput{attemptAt(mapTask(0), 0), "gone"},
		JoinMachine{Name: "n2", Slots: Slots{1, 1}}, AdmitMachine{"n2", true}, ExpireMachine{Name: "n", Epoch: 1}, submit(3, 1), KillJob{job1, "x"})
}

func mustApply(t testing.TB, s *State, commands ...Command) {
	t.Helper()
	for _, c := range commands {
		if _, err := s.Apply(Entry{At: 4, Command: c}); err != nil {
			t.Fatalf("%T %+v: %v", c, c, err)
		}
	}
}

// TestSnapshotsOfEarlierVersionsAreRead fails when a field of what a snapshot
// holds is renamed or removed. Run with -update to add new ones.
func TestSnapshotsOfEarlierVersionsAreRead(t *testing.T) {
	if *update {
		s := livedState(t, 16)
		liveOn(t, s)
		writeGolden(t, goldenSnapshot, encoded(t, s))
	}
	data, err := os.ReadFile(goldenSnapshot)
	must.Do(t, err)
	s := restored(t, data)
	if j := s.View().Job(job1); j == nil || j.State != JobAborting || s.View().Policy() != "other" || j.Spec.Pool != "urgent" || len(s.View().Pools()) != 2 {
		t.Errorf("the first job is %+v", j)
	}
}

// TestRecordsAreWrittenWhole fills the structures that snapshots share with the state.
func TestRecordsAreWrittenWhole(t *testing.T) {
	for _, v := range []any{new(JobSpec), new(Failure), new(Manifest), new(Checkpoint), new(CounterName), new(combineSet), new(unread), new(machineFailures), new(Outage), new(Limits)} {
		n := 0
		fill(t, reflect.ValueOf(v).Elem(), &n)
		data, err := encoding.Marshal(v)
		must.Do(t, err)
		got := reflect.New(reflect.TypeOf(v).Elem())
		if err := decoding.Unmarshal(data, got.Interface()); err != nil || !reflect.DeepEqual(got.Interface(), v) {
			t.Errorf("%T came back as %+v, %v", v, got.Elem(), err)
		}
	}
}

func TestMalformedSnapshotsAreExplained(t *testing.T) {
	good := encoded(t, livedState(t, 8))
	for want, data := range map[string]string{
		"not a snapshot":                                 "",
		"not a snapshot of hammr's state":                strings.Repeat("x", 1<<17),
		"format 4: this version of hammr reads format 3": "hammr-snapshot 4\n",
		"format 2: this version of hammr reads format 3": "hammr-snapshot 2\n",
		"the cluster: unexpected EOF":                    "hammr-snapshot 3\n",
		"unexpected EOF":                                 string(good[:len(good)-1]),
		"more data follows the end of the snapshot":      string(good) + "\x00",
	} {
		if _, err := DecodeSnapshot(strings.NewReader(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", data, err, want)
		}
	}
	for n := 0; n < len(good); n += 5 {
		if _, err := DecodeSnapshot(bytes.NewReader(good[:n])); err == nil {
			t.Errorf("%d of %d bytes are taken for a snapshot", n, len(good))
		}
	}
	if err := livedState(t, 8).Snapshot().Encode(brokenWriter{}); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("to a full disk: %v", err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, fmt.Errorf("disk full") }

// TestSnapshotsOfNoPossibleStateAreRefused damages the form of the records.
func TestSnapshotsOfNoPossibleStateAreRefused(t *testing.T) {
	for want, damage := range map[string]func(*Snapshot){
		"is in it twice":         func(s *Snapshot) { s.state.Machines = append(s.state.Machines, s.state.Machines[0]) },
		"graph without stages":   func(s *Snapshot) { s.state.jobs[0].Spec.Graph = dag.Graph{} },
		"1 stages and 2":         func(s *Snapshot) { s.state.jobs[0].Stages = s.state.jobs[0].Stages[:1] },
		"4 counters of 0":        func(s *Snapshot) { s.state.jobs[0].CounterNames = nil },
		"part 7":                 func(s *Snapshot) { s.state.jobs[0].Stages[0].Tasks[0].Part = 7 },
		"out of order":           func(s *Snapshot) { s.state.Submitted = 0 },
		"attempt 0 has no state": func(s *Snapshot) { s.state.jobs[0].Stages[0].Tasks[0].Attempts[0].State = 99 },
		"a machine or a job":     func(s *Snapshot) { s.state.jobs = append(s.state.jobs, nil) },
		"starts of 3 bundles":    func(s *Snapshot) { s.state.jobs[0].Bundles[0].Starts = make([]int, 3) },
		"combine sets of":        func(s *Snapshot) { s.state.jobs[0].Stages[1].CombineSets = make([]combineSet, 1) },
	} {
		snap := livedState(t, 8).Snapshot()
		damage(snap)
		if _, err := snap.Restore(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestSnapshotsThatContradictThemselvesAreRestored damages values. A master restarts with them, since the others run
// with them too. A job that they stop can be killed, and no panic leaves ApplyContained.
func TestSnapshotsThatContradictThemselvesAreRestored(t *testing.T) {
	for want, damage := range map[string]func(*Snapshot){
		"holds 2 slots":                func(s *Snapshot) { s.state.Machines[0].Name = "other" }, // that of the attempts is unknown
		"":                             func(s *Snapshot) { s.state.Machines[0].Attempts = nil },
		"stands at":                    func(s *Snapshot) { s.state.jobs[0].Stages[0].Tasks[1].Attempts[0].Number = -1 },
		"without success":              func(s *Snapshot) { s.state.jobs[0].Stages[0].Tasks[0].Output = nil },
		"RUNNING with 0 running":       func(s *Snapshot) { s.state.jobs[0].Stages[0].Tasks[0].State = TaskRunning },
		"RUNNING with 0 stages":        func(s *Snapshot) { s.state.jobs[0].Archived, s.state.Machines[0].Attempts = true, nil },
		"COMMITTING with 2 tasks":      func(s *Snapshot) { s.state.jobs[0].State = JobCommitting },
		"lies elsewhere than what the": func(s *Snapshot) { s.state.jobs[0].Stages[0].Tasks[3].Checkpoint.Machine = "nowhere" },
	} {
		snap := livedState(t, 8).Snapshot()
		damage(snap)
		s, err := snap.Restore()
		if err != nil {
			t.Errorf("%q: %v", want, err)
			continue
		}
		problem := s.CheckInvariants()
		if want = strings.TrimSpace(want); (want == "") != (problem == nil) {
			t.Errorf("%v, want %q", problem, want)
		}
		commands := []Command{ExpireMachine{Name: "n", Epoch: 1}, JoinMachine{Name: "n", Instance: "j", Slots: Slots{1, 1}}, KillJob{job1, "it does not end"}}
		for _, a := range s.View().Job(job1).Attempts() {
			commands = append(commands, ExitAttempt{Attempt: a.ID})
		}
		for _, c := range append(commands, CloseJob{job1}) {
			_, _ = s.ApplyContained(Entry{At: 9, Command: c}, nil)
		}
		if j := s.View().Job(job1); !j.State.Final() && want != "RUNNING with 0 stages" && want != "COMMITTING with 2 tasks" {
			t.Errorf("%q: the job is %v with %d attempts on machines", want, j.State, j.Occupied)
		}
	}
}

// itemsOfTheirOwn are the fields that snapshots have as items after the object.
var itemsOfTheirOwn = map[string]bool{"State.jobs": true, "Stage.Tasks": true}

// derivedFields returns the names of the fields that index computes.
func derivedFields(typ reflect.Type) (names []string) {
	for i, name := range fieldsOf(typ) {
		f := typ.Field(i)
		inSnapshots := f.IsExported() && f.Tag.Get("cbor") != derived
		if !inSnapshots && !itemsOfTheirOwn[name] && notCompared[name] == "" {
			names = append(names, f.Name)
		}
	}
	return names
}

// TestDerivedValuesAreComputedByRestore makes each derived value wrong in the middle of random lives: what a master
// restores from a snapshot of that state is as if it had been right.
func TestDerivedValuesAreComputedByRestore(t *testing.T) {
	types := []reflect.Type{reflect.TypeFor[State](), reflect.TypeFor[Machine](), reflect.TypeFor[Job](), reflect.TypeFor[Bundle](), reflect.TypeFor[Stage](), reflect.TypeFor[Task](), reflect.TypeFor[Attempt]()}
	for seed := range testlevel.Seeds(10, 60) {
		l := newLifetime(t, seed, make(map[string]bool))
		for range 40 {
			if l.j.State == JobRunning {
				l.step()
			}
		}
		want := restored(t, encoded(t, l.s.State))
		for _, typ := range types {
			for _, name := range derivedFields(typ) {
				snap := l.s.State.Snapshot()
				for _, v := range objectsOf(&snap.state, typ) {
					makeWrong(v.FieldByName(name))
				}
				got, err := snap.Restore()
				must.Do(t, err)
				if found := differences(want, got, make(map[string]bool)); found != "" {
					t.Errorf("seed %d: a snapshot with a wrong %v.%s restores\n%s", seed, typ, name, found)
				}
			}
		}
	}
}

// objectsOf returns all objects of a type in a state.
func objectsOf(s *State, typ reflect.Type) (found []reflect.Value) {
	add := func(object any) {
		if v := reflect.ValueOf(object).Elem(); v.Type() == typ {
			found = append(found, v)
		}
	}
	add(s)
	for _, m := range s.Machines {
		add(m)
	}
	for _, j := range s.jobs {
		add(j)
		for _, b := range j.Bundles {
			add(b)
		}
		for _, stage := range j.Stages {
			add(stage)
			for _, task := range stage.Tasks {
				add(task)
				for _, a := range task.Attempts {
					add(a)
				}
			}
		}
	}
	return found
}

// makeWrong changes a field, exported or not.
func makeWrong(field reflect.Value) {
	v := reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem()
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 7)
	case reflect.String:
		v.SetString("wrong")
	default:
		v.SetZero()
	}
}

func FuzzDecodeSnapshot(f *testing.F) {
	f.Add(encoded(f, New("1")))
	f.Add(encoded(f, livedState(f, 8)))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := DecodeSnapshot(bytes.NewReader(data))
		if err != nil {
			return
		}
		first := encoded(t, s)
		if !bytes.Equal(encoded(t, restored(t, first)), first) {
			t.Error("a state changes when it is restored")
		}
	})
}
