package report

import (
	"flag"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/testing/must"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// example returns a report with a value in every field.
func example() Report {
	r := Report{
		JobID: "job_local1763723662123_0001",
		Name:  "wordcount",
		State: Failed,
		User:  "ann", Queue: "default", Priority: "HIGH", SubmitHost: "gateway",
		Phases: []Phase{
			{PhaseSetup, 0.25}, {PhaseMap, 1.5}, {PhaseReduce, 0.75}, {PhaseCommit, 0},
		},
		Tasks: []Task{
			{ID: "task_local1763723662123_0001_m_000000", Type: Map, State: Succeeded, Attempts: []Attempt{
				{"attempt_local1763723662123_0001_m_000000_0", "localhost", Preempted, 1763723662200, 1763723663000},
				{"attempt_local1763723662123_0001_m_000000_1", "localhost", Succeeded, 1763723663000, 1763723663500},
			}},
			{ID: "task_local1763723662123_0001_r_000000", Type: Reduce, State: Killed},
		},
		Counters:      counter.Values{counter.GroupFramework: {counter.MapInputRecords.Name: 3}},
		Partitions:    []Partition{{0, 1024, 17}},
		Configuration: map[string]string{"mapreduce.job.reduces": "2"},
		Failures: []Failure{{
			Task:     "task_local1763723662123_0001_m_000001",
			Attempt:  "attempt_local1763723662123_0001_m_000001_0",
			Tasknode: "localhost",
			Cause:    "panic: bad <line> & more",
			Input:    "file:///data/in.txt",
			Offset:   48213,
			Log:      "before\nlast line\n",
			Stack:    "main.parse(...)\n\t/src/main.go:31",
		}},
	}
	r.StartTime, r.FinishTime, r.ElapsedSeconds = 1763723662123, 1763723664623, 2.5
	return r
}

func TestDocumentsAreWrittenAsDescribed(t *testing.T) {
	for name, r := range map[string]Report{"full": example(), "empty": {State: Killed}} {
		got, err := r.Marshal()
		must.Do(t, err)
		golden := "testdata/" + name + ".json"
		if *update {
			must.Do(t, os.WriteFile(golden, got, 0o644))
		}
		want, err := os.ReadFile(golden)
		must.Do(t, err)
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", golden, diff)
		}
	}
}

func TestMarshalDoesNotChangeTheReport(t *testing.T) {
	r := example()
	r.Tasks[1].Attempts = nil
	r.Phases[0].Seconds = math.NaN()
	if _, err := r.Marshal(); err != nil {
		t.Fatal(err)
	}
	if r.Version != 0 || r.Tasks[1].Attempts != nil || !math.IsNaN(r.Phases[0].Seconds) {
		t.Error("Marshal changed the caller's report")
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawReport(t)
		data, err := want.Marshal()
		must.Do(t, err)
		got, err := Parse(data)
		must.Do(t, err)
		want.Version = Version
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func drawReport(t *rapid.T) Report {
	text := rapid.String()
	states := rapid.SampledFrom([]State{Running, Succeeded, Failed, Killed})
	r := example()
	r.Name, r.State = text.Draw(t, "name"), states.Draw(t, "state")
	r.ElapsedSeconds = rapid.Float64().Draw(t, "elapsed")
	r.Counters = rapid.MapOf(text, rapid.MapOfN(text, rapid.Int64(), 1, 3)).Draw(t, "counters")
	r.Configuration = rapid.MapOf(text, text).Draw(t, "configuration")
	r.Failures[0].Log, r.Failures[0].Offset = text.Draw(t, "log"), rapid.Int64().Draw(t, "offset")
	if rapid.Bool().Draw(t, "bare") {
		r.Phases, r.Tasks, r.Partitions, r.Failures = nil, nil, nil, nil
	}
	return r
}

func TestParseRefuses(t *testing.T) {
	for document, want := range map[string]string{
		``:                                   "malformed job report",
		`{"version": "1"}`:                   "malformed job report",
		`{"state": "SUCCEEDED"}`:             "version 0, this program reads version 1",
		`{"version": 2}`:                     "version 2, this program reads version 1",
		`{"version": 1, "jobId": "job_1_1"}`: `unknown state "" of job "job_1_1"`,
		`{"version": 1, "state": "PREEMPTED", "jobId": "j"}`:                       `unknown state "PREEMPTED" of job`,
		`{"version": 1, "state": "FAILED", "tasks": [{"id": "t", "state": "ok"}]}`: `unknown state "ok" of task "t"`,
	} {
		if _, err := Parse([]byte(document)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%s): %v, want %q", document, err, want)
		}
	}
}

func TestParseIgnoresUnknownFields(t *testing.T) {
	r, err := Parse([]byte(`{"version": 1, "state": "SUCCEEDED", "weather": "fine"}`))
	if err != nil || r.Tasks == nil || r.Counters == nil {
		t.Errorf("Parse = %+v, %v", r, err)
	}
}

func FuzzParse(f *testing.F) {
	data, err := example().Marshal()
	must.Do(f, err)
	f.Add(data)
	f.Add([]byte(`{"version":1,"state":"KILLED"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse(data)
		if err != nil {
			return
		}
		again, err := r.Marshal()
		must.Do(t, err)
		if back, err := Parse(again); err != nil || !cmp.Equal(r, back) {
			t.Fatalf("%+v became %+v, %v", r, back, err)
		}
	})
}
