package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs/report"
)

// Fields that docs/formats/report.md guarantees to be present.
var reportFields = map[string][]string{
	"": {"version", "jobId", "name", "state", "startTime", "finishTime", "elapsedSeconds", "phases",
		"tasks", "counters", "partitions", "configuration", "failures"},
	"phases":     {"name", "seconds"},
	"tasks":      {"id", "type", "state", "attempts"},
	"attempts":   {"id", "node", "state", "startTime", "finishTime"},
	"partitions": {"partition", "bytes", "records"},
	"failures":   {"task", "attempt", "node", "cause", "input", "offset", "log"},
}

// checkFields checks the fields of a part of the document, recursively.
func checkFields(t *testing.T, part string, object map[string]any) {
	t.Helper()
	for _, field := range reportFields[part] {
		if value, ok := object[field]; !ok || value == nil {
			t.Errorf("%s%q is %v", part, field, value)
		}
	}
	for field, value := range object {
		list, ok := value.([]any)
		if !ok {
			continue
		}
		for _, element := range list {
			checkFields(t, field, element.(map[string]any))
		}
	}
}

// document reads a report, and checks the fields and values that all reports have in common.
func document(t *testing.T, name string) report.Report {
	t.Helper()
	var object map[string]any
	must(t, json.Unmarshal(readFile(t, name), &object))
	checkFields(t, "", object)
	r, err := report.ReadFile(name)
	must(t, err)
	ids := regexp.MustCompile(`^job_(local\d+_0001)$`).FindStringSubmatch(r.JobID)
	if ids == nil {
		t.Fatalf("id %q", r.JobID)
	}
	if seconds := float64(r.FinishTime-r.StartTime) / 1000; seconds < 0 || r.ElapsedSeconds < seconds-1 || r.ElapsedSeconds > seconds+1 {
		t.Errorf("from %d to %d in %f s", r.StartTime, r.FinishTime, r.ElapsedSeconds)
	}
	for _, task := range r.Tasks {
		letter := strings.ToLower(string(task.Type[:1]))
		if !regexp.MustCompile(`^task_` + ids[1] + `_` + letter + `_\d{6}$`).MatchString(task.ID) {
			t.Errorf("%s task %q", task.Type, task.ID)
		}
		for i, a := range task.Attempts {
			if a.ID != fmt.Sprintf("attempt%s_%d", strings.TrimPrefix(task.ID, "task"), i) || a.Tasknode == "" || a.StartTime < r.StartTime || a.FinishTime > r.FinishTime {
				t.Errorf("attempt %+v", a)
			}
		}
	}
	return r
}

// phases returns the names of a report's phases.
func phases(r report.Report) (names []string) {
	for _, p := range r.Phases {
		names = append(names, p.Name)
	}
	return names
}

func TestReportOfSuccess(t *testing.T) {
	w := newWorkspace(t)
	doc := w.dir + "/report"
	r := done(t, "run", "wordcount", "--report", doc, "--quiet", "-D", "mapreduce.job.reduces=2", "-D", "mapreduce.job.name=words", w.in, w.out)
	if r.stdout+r.stderr != "" {
		t.Errorf("a quiet job says %q", r.stdout+r.stderr)
	}
	d := document(t, doc)
	if d.State != report.Succeeded || d.Name != "words" || len(d.Tasks) != 3 || len(d.Failures) != 0 {
		t.Errorf("report %+v", d)
	}
	if want := []string{"setup", "map", "reduce", "commit"}; !slices.Equal(phases(d), want) {
		t.Errorf("phases %v, want %v", phases(d), want)
	}
	if n := d.Counters["Map-Reduce Framework"]["Reduce output records"]; n != 2 {
		t.Errorf("%d records of output: %v", n, d.Counters)
	}
	if d.Configuration["mapreduce.job.reduces"] != "2" {
		t.Errorf("configuration %v", d.Configuration)
	}
	records := int64(0)
	for i, p := range d.Partitions {
		if p.Partition != i || p.Bytes <= 0 {
			t.Errorf("partition %d is %+v", i, p)
		}
		records += p.Records
	}
	if len(d.Partitions) != 2 || records != 2 {
		t.Errorf("partitions %+v", d.Partitions)
	}
}
