package jhist

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// finished returns a job with three stages. Its second map was preempted once, and failed once.
func finished() *wire.JobStatus {
	const id = "1763700000000_0001"
	attempt := func(task string, n int, state wire.AttemptState, start, end int64) *wire.TaskStatus_Attempt {
		return &wire.TaskStatus_Attempt{Id: fmt.Sprintf("attempt_%s_%s_%d", id, task, n), Machine: "n1", State: state, StartTime: start, FinishTime: end, Cause: "why"}
	}
	names := []*wire.CounterName{{Group: counter.GroupFramework, Name: "Map input records"}, {Group: counter.GroupFileSystem, Name: "HDFS: Number of bytes read"}, {Group: "Words", Name: "long"}}
	reduce := attempt("r_000000", 0, wire.AttemptState_ATTEMPT_SUCCEEDED, 1763700004000, 1763700009000)
	reduce.ShuffleFinishTime = 1763700006000
	return &wire.JobStatus{
		JobId: "job_" + id, Name: "word-count é", User: "ann", State: wire.JobState_SUCCEEDED, Queue: "default", Priority: "HIGH", SubmitHost: "host",
		Maps: 2, MapsDone: 2, Reduces: 2, ReducesDone: 2, SubmitTime: 1763700000000, StartTime: 1763700001000, FinishTime: 1763700010000,
		Properties: map[string]string{"mapreduce.job.reduces": "1", "my.password": "hunter2"}, CounterNames: names,
		Counters: []*taskproc.Counter{{Group: counter.GroupJob, Name: "Launched map tasks", Value: 4}, {Group: counter.GroupFramework, Name: "Map input records", Value: 12}, {Group: "Words", Name: "long", Value: 5}},
		Tasks: []*wire.TaskStatus{
			{Id: "task_" + id + "_m_000000", Kind: taskproc.Kind_MAP, State: wire.TaskState_TASK_SUCCEEDED, Counts: []int64{5, 100}, Attempts: []*wire.TaskStatus_Attempt{
				attempt("m_000000", 0, wire.AttemptState_ATTEMPT_SUCCEEDED, 1763700001000, 1763700003000)}},
			{Id: "task_" + id + "_m_000001", Kind: taskproc.Kind_MAP, State: wire.TaskState_TASK_SUCCEEDED, Counts: []int64{7, 50, 2}, Attempts: []*wire.TaskStatus_Attempt{
				attempt("m_000001", 0, wire.AttemptState_ATTEMPT_PREEMPTED, 1763700001000, 1763700001500),
				attempt("m_000001", 1, wire.AttemptState_ATTEMPT_FAILED, 1763700001500, 1763700002000),
				attempt("m_000001", 2, wire.AttemptState_ATTEMPT_SUCCEEDED, 1763700002000, 1763700004000)}},
			{Id: "task_" + id + "_r_000000", Kind: taskproc.Kind_REDUCE, State: wire.TaskState_TASK_SUCCEEDED, Counts: []int64{0, 0, 3}, Attempts: []*wire.TaskStatus_Attempt{reduce}},
			{Id: "task_" + id + "_s2_000000", Kind: taskproc.Kind_REDUCE, State: wire.TaskState_TASK_SUCCEEDED, Attempts: []*wire.TaskStatus_Attempt{
				attempt("s2_000000", 0, wire.AttemptState_ATTEMPT_SUCCEEDED, 1763700009000, 1763700010000)}},
		},
	}
}

// write returns the lines of a job's events.
func write(t *testing.T, s *wire.JobStatus) []string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, s); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

// avro checks JSON values against an Avro schema.
type avro map[string]map[string]any // records and enumerations by name

func (a avro) check(path string, schema, value any) error {
	switch s := schema.(type) {
	case string:
		if a[s] != nil {
			return a.check(path, a[s], value)
		}
		_, isText := value.(string)
		_, isNumber := value.(json.Number)
		_, isBool := value.(bool)
		if s == "string" && !isText || (s == "int" || s == "long") && !isNumber || s == "boolean" && !isBool || s == "null" && value != nil {
			return fmt.Errorf("%s: %v is no %s", path, value, s)
		}
		return nil
	case []any:
		if value == nil && slices.Contains(s, any("null")) {
			return nil
		}
		branch, _ := value.(map[string]any)
		for _, of := range s {
			name, _ := of.(string)
			if record, is := of.(map[string]any); is {
				name = namespace + "." + record["name"].(string)
				a[record["name"].(string)] = record
			}
			if inside, has := branch[name]; has && len(branch) == 1 {
				return a.check(path+"/"+name, of, inside)
			}
		}
		return fmt.Errorf("%s: %v is of no branch", path, value)
	case map[string]any:
		return a.checkNamed(path, s, value)
	}
	return fmt.Errorf("%s: schema %v", path, schema)
}

func (a avro) checkNamed(path string, s map[string]any, value any) error {
	if name, named := s["name"].(string); named {
		a[name] = s
	}
	switch s["type"] {
	case "record":
		fields := s["fields"].([]any)
		record, _ := value.(map[string]any)
		if len(record) != len(fields) {
			return fmt.Errorf("%s: %d fields, want %d", path, len(record), len(fields))
		}
		for _, f := range fields {
			name := f.(map[string]any)["name"].(string)
			in, has := record[name]
			if !has {
				return fmt.Errorf("%s: no field %s", path, name)
			}
			if err := a.check(path+"/"+name, f.(map[string]any)["type"], in); err != nil {
				return err
			}
		}
	case "enum":
		if !slices.Contains(s["symbols"].([]any), value) {
			return fmt.Errorf("%s: no symbol %v", path, value)
		}
	case "array":
		elements, is := value.([]any)
		if !is {
			return fmt.Errorf("%s: %v is no array", path, value)
		}
		for _, e := range elements {
			if err := a.check(path+"[]", s["items"], e); err != nil {
				return err
			}
		}
	case "map":
		if _, is := value.(map[string]any); !is {
			return fmt.Errorf("%s: %v is no map", path, value)
		}
	}
	return nil
}

// TestEventsHaveTheSchema checks each event against the second line.
func TestEventsHaveTheSchema(t *testing.T) {
	killed := finished()
	killed.State, killed.Cause, killed.Tasks[3].State = wire.JobState_KILLED, "by ann", wire.TaskState_TASK_PENDING
	killed.Tasks[3].Attempts = nil
	for _, s := range []*wire.JobStatus{finished(), killed} {
		lines := write(t, s)
		var schema any
		if err := json.Unmarshal([]byte(lines[1]), &schema); err != nil || lines[0] != "Avro-Json" {
			t.Fatalf("%v: %s", err, lines[0])
		}
		known := make(avro)
		for _, f := range schema.(map[string]any)["fields"].([]any) { // a record is defined where it occurs first
			if branches, is := f.(map[string]any)["type"].([]any); is {
				for _, b := range branches {
					known.define(b)
				}
			}
		}
		for _, line := range lines[2:] {
			d := json.NewDecoder(strings.NewReader(line))
			d.UseNumber()
			var event any
			if err := d.Decode(&event); err != nil {
				t.Fatal(err)
			}
			if err := known.check("", schema, event); err != nil {
				t.Errorf("%v: %s", err, line)
			}
		}
	}
}

// define notes the records in a schema.
func (a avro) define(schema any) {
	switch s := schema.(type) {
	case []any:
		for _, of := range s {
			a.define(of)
		}
	case map[string]any:
		if name, named := s["name"].(string); named && s["type"] == "record" {
			a[name] = s
		}
		for _, key := range []string{"type", "items", "fields"} {
			a.define(s[key])
		}
	}
}

func TestEventsOfAJob(t *testing.T) {
	var got []string
	for _, line := range write(t, finished())[2:] {
		var e struct {
			Type  string
			Event map[string]struct{ Taskid, AttemptId, ContainerId, Error string }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		for _, in := range e.Event {
			id := in.AttemptId
			if id == "" {
				id = in.Taskid
			}
			got = append(got, strings.TrimSpace(e.Type+" "+strings.Replace(id, "1763700000000_0001_", "", 1)))
		}
	}
	want := `AM_STARTED
JOB_SUBMITTED
JOB_PRIORITY_CHANGED
JOB_INITED
JOB_INFO_CHANGED
TASK_STARTED task_m_000000
MAP_ATTEMPT_STARTED attempt_m_000000_0
MAP_ATTEMPT_FINISHED attempt_m_000000_0
TASK_FINISHED task_m_000000
TASK_STARTED task_m_000001
MAP_ATTEMPT_STARTED attempt_m_000001_0
MAP_ATTEMPT_KILLED attempt_m_000001_0
MAP_ATTEMPT_STARTED attempt_m_000001_1
MAP_ATTEMPT_FAILED attempt_m_000001_1
MAP_ATTEMPT_STARTED attempt_m_000001_2
MAP_ATTEMPT_FINISHED attempt_m_000001_2
TASK_FINISHED task_m_000001
TASK_STARTED task_r_000000
REDUCE_ATTEMPT_STARTED attempt_r_000000_0
REDUCE_ATTEMPT_FINISHED attempt_r_000000_0
TASK_FINISHED task_r_000000
TASK_STARTED task_r_000001
REDUCE_ATTEMPT_STARTED attempt_r_000001_0
REDUCE_ATTEMPT_FINISHED attempt_r_000001_0
TASK_FINISHED task_r_000001
JOB_FINISHED`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("events:\n%s\nwant:\n%s", text, want)
	}
}

// TestExport writes the files. Secrets are not in them.
func TestExport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	file, err := Export(dir, finished())
	if err != nil {
		t.Fatal(err)
	}
	if want := "job_1763700000000_0001-1763700000000-ann-word%2Dcount+%C3%A9-1763700010000-2-2-SUCCEEDED-default-1763700001000.jhist"; filepath.Base(file) != want {
		t.Errorf("%s, want %s", filepath.Base(file), want)
	}
	conf, err := os.ReadFile(filepath.Join(dir, "job_1763700000000_0001_conf.xml"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Property []struct {
			Name  string `xml:"name"`
			Value string `xml:"value"`
		} `xml:"property"`
	}
	if err := xml.Unmarshal(conf, &doc); err != nil || len(doc.Property) != 5 || bytes.Contains(conf, []byte("hunter2")) {
		t.Errorf("%v: %s", err, conf)
	}
	running := finished()
	running.State = wire.JobState_RUNNING
	if _, err := Export(dir, running); err == nil || !strings.Contains(err.Error(), "is not over") {
		t.Errorf("a job that runs: %v", err)
	}
}

func TestLongNamesAreCutOff(t *testing.T) {
	s := finished()
	s.Name = strings.Repeat("é", 100)
	name := strings.Split(FileName(s), "-")[3]
	if len(name) > maxName || len(name)%6 != 0 {
		t.Errorf("%s: %d bytes", name, len(name))
	}
}
