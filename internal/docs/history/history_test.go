package history_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
)

const (
	aMap    = "task_1_0001_m_000000"
	aReduce = "task_1_0001_r_000000"
)

func someStatus() *wire.JobStatus {
	return &wire.JobStatus{
		JobId: "job_1_0001", Name: "wörd \x01 <count>", State: wire.JobState_FAILED, Cause: "a\nb", SubmitTime: 7, FinishTime: 99, MapProgress: 0.5,
		Counters: []*taskproc.Counter{{Group: "g", Name: "n", Value: 1 << 60}}, Partitions: []*wire.Partition{{Bytes: 70, Records: 7}},
		Failures: []*wire.FailureRecord{{Task: "t", Cause: "c", Offset: -1}},
		Tasks: []*wire.TaskStatus{
			{Id: aMap, State: wire.TaskState_TASK_SUCCEEDED, Kind: taskproc.Kind_MAP, Attempts: []*wire.TaskStatus_Attempt{
				{Id: "a0", Machine: "n1", State: wire.AttemptState_ATTEMPT_PREEMPTED, StartTime: 10, FinishTime: 20},
				{Id: "a1", Machine: "n2", State: wire.AttemptState_ATTEMPT_SUCCEEDED, StartTime: 30, FinishTime: 60, SuspendedMillis: 5},
			}},
			{Id: aReduce, Kind: taskproc.Kind_REDUCE, State: wire.TaskState_TASK_KILLED},
		},
	}
}

func someJob() *history.Job {
	j := &history.Job{
		Status: someStatus(), CounterNames: []counter.ID{counter.MapInputRecords, counter.SpilledRecords},
		Tasks: []history.Task{
			{Counters: []int64{40, 3}, Input: &history.Input{File: "hdfs:/<in>", Start: 5, Length: 9, Files: 1}, Bytes: 300, Records: 30,
				Attempts: []history.Attempt{{End: "checkpoint", Place: "rack"}, {From: 1, Place: "node", MovedTo: "n3", End: "finish"}}},
			{},
		},
		Actions: []apidoc.UserAction{{Time: 9, User: "ann", Do: "job.kill", ID: "job_1_0001"}},
		Events:  apidoc.Events{Since: 8, Events: []apidoc.Event{{At: 10, Kind: "start", Attempt: "a0", Node: "n1"}, {At: 20, Kind: "checkpoint", Attempt: "a0", Bytes: 1 << 40}}},
	}
	for _, id := range j.CounterNames {
		j.Status.CounterNames = append(j.Status.CounterNames, &wire.CounterName{Group: id.Group, Name: id.Name})
	}
	j.Status.Tasks[0].Counts = j.Tasks[0].Counters
	return j
}

func TestCountersAreWrittenOnce(t *testing.T) {
	if _, text := encoded(t, someJob()); strings.Count(text, "counterNames") != 1 || strings.Contains(text, "counts") {
		t.Errorf("counters are written twice:\n%s", text)
	}
}

// encoded returns the text of a history, decompressed.
func encoded(t *testing.T, j *history.Job) (file, text string) {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, history.Encode(&b, j))
	file = b.String()
	plain, err := history.Decompress(&b)
	must.Do(t, err)
	all, err := io.ReadAll(plain)
	if err != nil || plain.Close() != nil {
		t.Fatal(err)
	}
	return file, string(all)
}

func TestRoundTrip(t *testing.T) {
	want := someJob()
	file, text := encoded(t, want)
	if lines := strings.Count(text, "\n"); lines != 4+len(want.Events.Events) {
		t.Errorf("%d lines:\n%s", lines, text)
	}
	for name, from := range map[string]string{"file": file, "text": text} {
		got, err := history.Decode(strings.NewReader(from))
		if diff := cmp.Diff(want, got, protocmp.Transform()); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
		head, err := history.DecodeHead(strings.NewReader(from))
		if err != nil || head.Status.Name != want.Status.Name || head.Status.Tasks != nil {
			t.Errorf("head of %s: %v, %v", name, head, err)
		}
		for n := range from[:len(from)-1] {
			if _, err := history.Decode(strings.NewReader(from[:n])); !errors.Is(err, storage.ErrCorrupt) && name == "text" {
				t.Fatalf("%d of %d bytes of the %s: %v", n, len(from), name, err)
			}
		}
	}
}

func TestDamagedHistories(t *testing.T) {
	_, text := encoded(t, someJob())
	lines := strings.SplitAfter(text, "\n")
	for want, damaged := range map[string]string{
		"version 3 of the format; this program reads version 2": strings.Replace(text, `"version":2`, `"version":3`, 1),
		"version 1 of the format; this program reads version 2": strings.Replace(text, `"version":2`, `"version":1`, 1),
		"1 tasks, but the end line counts 2":                    lines[0] + lines[1] + lines[3] + lines[4] + lines[5],
		"1 events, but the end line counts 2":                   lines[0] + lines[1] + lines[2] + lines[3] + lines[5],
		"unexpected line of type":                               lines[0] + lines[0],
		"line 1":                                                lines[1],
		`unknown type "other"`:                                  lines[0] + `{"type":"other"}`,
		`unknown type "event"`:                                  lines[0] + `{"type":"event"}`,
		"corrupt":                                               "\x28\xb5\x2f\xfd no zstd",
	} {
		if _, err := history.Decode(strings.NewReader(damaged)); !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, j := range []*history.Job{{Status: someStatus()}, someJob()} {
		var file bytes.Buffer
		must.Do(f, history.Encode(&file, j))
		f.Add(file.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		j, err := history.Decode(bytes.NewReader(data))
		if err != nil {
			return
		}
		j.Columns()
		j.EventLog()
		j.CountersByType()
		var again bytes.Buffer
		if err := history.Encode(&again, j); err != nil {
			t.Skip("text that is not UTF-8")
		}
		if back, err := history.Decode(&again); err != nil || !proto.Equal(j.Status, back.Status) || len(j.Events.Events) != len(back.Events.Events) {
			t.Errorf("%v, %v; want %v", back, err, j)
		}
	})
}

func TestColumns(t *testing.T) {
	got := someJob().Columns()
	want := new(apidoc.TaskColumns)
	want.Add(&apidoc.TaskRow{Type: "MAP", Stage: "m", State: "SUCCEEDED", Attempts: 2, Node: "n2", Place: "node", StartTime: 10, FinishTime: 60, Duration: 25, Bytes: 300, Records: 30, In: 40, Spilled: 3})
	want.Add(&apidoc.TaskRow{Type: "REDUCE", Stage: "r", State: "KILLED"})
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(apidoc.TaskColumns{})); diff != "" {
		t.Error(diff)
	}
}

func TestEventLog(t *testing.T) {
	if got := someJob().EventLog(); !reflect.DeepEqual(got, someJob().Events) {
		t.Errorf("%+v", got)
	}
	if got := (&history.Job{Events: apidoc.Events{Since: 9}}).EventLog(); got.Events == nil || got.Since != 9 {
		t.Errorf("without events: %+v", got)
	}
}

func TestCounters(t *testing.T) {
	j := someJob()
	if got := j.CountersByType(); got["MAP"].Get(counter.MapInputRecords) != 40 || got["REDUCE"].Get(counter.MapInputRecords) != 0 || len(got) != 2 {
		t.Errorf("by type %v", got)
	}
	if got := j.CountersOf(0); got.Get(counter.SpilledRecords) != 3 || j.CountersOf(1) != nil || j.CountersOf(9) != nil {
		t.Errorf("of a task %v", got)
	}
	if i, err := j.Index(aReduce); i != 1 || err != nil {
		t.Errorf("%d, %v", i, err)
	}
	if _, err := j.Index("task_1_0001_r_000001"); !errors.Is(err, cluster.ErrUnknown) {
		t.Error(err)
	}
}

// TestPeaksByType takes the highest peak of the tasks of a type.
func TestPeaksByType(t *testing.T) {
	j := someJob()
	j.CounterNames = []counter.ID{counter.PeakMapPhysicalBytes, counter.SpilledRecords}
	j.Status.Tasks[1].Kind = taskproc.Kind_MAP
	j.Tasks[0].Counters, j.Tasks[1].Counters = []int64{40, 3}, []int64{50, 4}
	if got := j.CountersByType()["MAP"]; got.Get(counter.PeakMapPhysicalBytes) != 50 || got.Get(counter.SpilledRecords) != 7 {
		t.Errorf("%v", got)
	}
}

// TestSummaryOfAFirstLine compares what lists show with what the status has.
func TestSummaryOfAFirstLine(t *testing.T) {
	s := someStatus()
	s.Name, s.Maps, s.MapsDone = strings.Repeat("x", 600), 4, 1
	s.Counters = append(s.Counters, &taskproc.Counter{Group: counter.BytesWritten.Group, Name: counter.BytesWritten.Name, Value: 12})
	line := history.SummaryOf(s)
	if line.State != "FAILED" || line.OutputBytes != 12 || len(line.Name) != 512+len("…") || line.FinishTime != 99 {
		t.Errorf("%+v", line)
	}
	if back := line.Status(); back.State != wire.JobState_FAILED || back.MapProgress != .25 || back.ReduceProgress != 1 || back.JobId != s.JobId {
		t.Errorf("%+v", back)
	}
}
