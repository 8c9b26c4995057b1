package workload

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

const history1 = `{"type":"job","version":2,"job":{"jobId":"job_1_0001","name":"wordcount","user":"ann","queue":"prod","priority":"HIGH","submitTime":"1763723662000","inputBytes":"5","partitions":[{"bytes":"30"},{"partition":1,"bytes":"40"}],"properties":{"mapreduce.job.reduce.slowstart.completedmaps":"0.8"}}}
{"type":"task","task":{"id":"task_1_0001_m_000000","kind":"MAP","state":"TASK_SUCCEEDED","attempts":[{"id":"a0","state":"ATTEMPT_FAILED","startTime":"1763723663000","finishTime":"1763723663900"},{"id":"a1","state":"ATTEMPT_SUCCEEDED","startTime":"1763723664000","finishTime":"1763723665500"}]}}
{"type":"task","task":{"id":"task_1_0001_m_000001","kind":"MAP","attempts":[{"state":"ATTEMPT_PREEMPTED","startTime":"1763723663000","finishTime":"1763723663700"},{"state":"ATTEMPT_SUCCEEDED","startTime":"1763723664000","finishTime":"1763723664100"},{"state":"ATTEMPT_KILLED","startTime":"1763723664000","finishTime":"1763723669100"}]}}
{"type":"task","task":{"id":"task_1_0001_r_000000","kind":"REDUCE","attempts":[{"state":"ATTEMPT_SUCCEEDED","startTime":"1763723663000","finishTime":"1763723668000"}]}}
{"type":"task","task":{"id":"task_1_0001_r_000001","kind":"REDUCE","attempts":[{"state":"ATTEMPT_KILLED","startTime":"1763723663000","finishTime":"1763723664000"}]}}
{"type":"end","tasks":4}
`

const report1 = `{"version": 1, "jobId": "job_1_0002", "name": "grep", "state": "SUCCEEDED", "user": "bob", "queue": "default", "priority": "NORMAL",
 "startTime": 1763723666000, "finishTime": 1763723667500, "tasks": [
  {"id": "task_1_0002_m_000000", "type": "MAP", "state": "SUCCEEDED", "attempts": [{"id": "x", "state": "SUCCEEDED", "startTime": 1763723666500, "finishTime": 1763723667000}]},
  {"id": "task_1_0002_r_000000", "type": "REDUCE", "state": "SUCCEEDED", "attempts": [{"id": "y", "state": "SUCCEEDED", "startTime": 1763723667100, "finishTime": 1763723667300}]}],
 "counters": {"File Input Format Counters ": {"Bytes Read": 99}}, "partitions": [{"partition": 0, "bytes": 12, "records": 1}]}
`

func TestHistory(t *testing.T) {
	w, err := ReadHistory(strings.NewReader(report1+history1), "h", Options{})
	must.Do(t, err)
	a, b := w.Jobs[0], w.Jobs[1]
	if a.ID != "job_1_0001" || a.Name != "wordcount" || a.User != "ann" || a.Pool != "prod" || a.Priority != 1 || a.Submit != 0 || a.SlowStart != 0.8 {
		t.Errorf("job %+v", a)
	}
	// The second map resumed from where it was preempted; the killed attempt does not count.
	if !slices.Equal(a.Maps, []Task{{1500, 3}, {800, 2}}) {
		t.Errorf("maps %v, want 1500 ms and 700 + 100 ms", a.Maps)
	}
	// The last map finished 2.5 s before the first reduce. The second reduce never finished
	// and takes the same time.
	if !slices.Equal(a.Reduces, []Task{{2500, 30}, {2500, 40}}) {
		t.Errorf("reduces %v, want 2500 ms each", a.Reduces)
	}
	if b.Submit != 4000 || !slices.Equal(b.Maps, []Task{{500, 99}}) || !slices.Equal(b.Reduces, []Task{{200, 12}}) {
		t.Errorf("job %+v", b)
	}
	if a.Recorded != 0 || b.Recorded != 1500 {
		t.Errorf("recorded %d and %d ms, want none and 1500 ms", a.Recorded, b.Recorded)
	}
	if len(w.Notes) != 1 || !strings.Contains(w.Notes[0], "jobs with unfinished tasks, which take the mean of the others: 1") {
		t.Errorf("notes %q", w.Notes)
	}
}

func TestHistoryErrorsNameTheLine(t *testing.T) {
	lines := strings.SplitAfter(history1, "\n")
	for text, want := range map[string]string{
		"":                             "h:1: the input ends",
		lines[0]:                       `h:1: a history without its end line`,
		lines[0] + lines[1] + lines[5]: `h:1: storage: corrupt data: line 3: 1 tasks, but the end line counts 4`,
		lines[1]:                       `h:1: a line of type "task", expected a job's first line or a report`,
		lines[0] + history1:            `h:1: storage: corrupt data: line 2: unexpected line of type "job"`,
		history1 + history1:            `h:7: job id "job_1_0001" is repeated, first at h:1`,
		history1 + "{\"type\"\n:1}":    `h:7: field "type": a JSON number, expected string`,
		history1 + "\n\n{\"type\"\n,}": "h:10: malformed JSON",
		history1 + "{\"type\":\n":      "h:7: the input ends inside a value",
		strings.Replace(history1, ":2,", ":3,", 1):                  "line 1: version 3 of the format; this program reads version 2",
		strings.Replace(history1, `"HIGH"`, `"URGENT"`, 1):          `h:1: priority "URGENT", expected VERY_HIGH`,
		strings.Replace(history1, `"0.8"`, `"NaN"`, 1):              `completedmaps: "NaN", expected a number from 0 to 1`,
		strings.Replace(history1, `"REDUCE"`, `"OTHER"`, 1):         `h:1: task "task_1_0001_r_000000" is of no kind`,
		strings.Replace(history1, `3665500`, `3663999`, 1):          `h:1: job "job_1_0001": an attempt at task "task_1_0001_m_000000" from 1763723664000 to 1763723663999`,
		strings.Replace(history1, `"1763723662000"`, `"-1"`, 1):     `h:1: job "job_1_0001": submitted at -1`,
		strings.Replace(history1, `"1763723662000"`, `"x"`, 1):      "h:1: ",
		strings.Replace(report1, `"version": 1`, `"version": 9`, 1): "h:1: job report of version 9",
		"[" + report1 + "] 7":                                       "h:6: data after the array",
		"[" + report1:                                               "h:5: the input ends",
	} {
		_, err := ReadHistory(strings.NewReader(text), "h", Options{})
		wantError(t, err, want)
	}
}

func TestReportOfTheEngine(t *testing.T) {
	name := filepath.Join("..", "..", "internal", "docs", "report", "testdata", "full.json")
	w := mustRead(t, name, Options{})
	j := w.Jobs[0]
	if len(w.Jobs) != 1 || !slices.Equal(j.Maps, []Task{{Millis: 1300}}) || !slices.Equal(j.Reduces, []Task{{Millis: 1300, Bytes: 1024}}) {
		t.Errorf("job %+v, want 800 ms kept and 500 ms after the preemption", j)
	}
	if len(w.Notes) != 1 {
		t.Errorf("notes %q, want one about the reduce that never ran", w.Notes)
	}
	if _, err := os.Stat(name); err != nil {
		t.Error(err)
	}
}

const rumen1 = `
{ "jobID" : "job_2_0002", "jobName" : {"value": "second"}, "user" : {"value": "ann"}, "queue" : "q", "priority" : "VERY_LOW",
  "submitTime" : 9000, "heapMegabytes" : -1, "mapTasks" : [
    { "taskID" : "task_2_0002_m_0", "inputBytes" : 70, "attempts" : [
      { "result" : "KILLED", "startTime" : 9100, "finishTime" : 9900 },
      { "result" : "SUCCESS", "startTime" : 10000, "finishTime" : 12000, "hdfsBytesRead" : 71 } ] } ],
  "reduceTasks" : [
    { "taskID" : "task_2_0002_r_0", "inputBytes" : -1, "attempts" : [
      { "result" : "SUCCESS", "startTime" : 10000, "shuffleFinished" : 12500, "sortFinished" : 12600, "finishTime" : 13000, "reduceShuffleBytes" : 33 } ] } ] }
{ "jobID" : "job_2_0003", "priority" : null, "submitTime" : 9500, "mapTasks" : [], "reduceTasks" : [] }
{ "jobID" : "job_2_0001", "submitTime" : 8000, "mapTasks" : [ { "inputBytes" : 5, "attempts" : [
   { "result" : "SUCCESS", "startTime" : 8100, "finishTime" : 8200, "hdfsBytesRead" : -1 } ] }, { "attempts" : [] } ] }
`

func TestRumen(t *testing.T) {
	array := "[" + strings.ReplaceAll(rumen1, "\n{", ",\n{")[1:] + "]"
	for _, text := range []string{rumen1, array} {
		w, err := ReadRumen(strings.NewReader(text), "r", Options{})
		must.Do(t, err)
		a, b := w.Jobs[0], w.Jobs[1]
		if a.ID != "job_2_0001" || a.Submit != 0 || !slices.Equal(a.Maps, []Task{{100, 5}, {100, 0}}) {
			t.Errorf("job %+v, want its second map as long as the first", a)
		}
		if b.Submit != 1000 || b.Name != "second" || b.User != "ann" || b.Pool != "q" || b.Priority != -2 ||
			!slices.Equal(b.Maps, []Task{{2000, 71}}) || !slices.Equal(b.Reduces, []Task{{500, 33}}) {
			t.Errorf("job %+v", b)
		}
		if len(w.Jobs) != 2 || len(w.Notes) != 2 || !strings.Contains(w.Notes[0], "jobs left out") {
			t.Errorf("%d jobs, notes %q", len(w.Jobs), w.Notes)
		}
	}
}

func TestRumenErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"x":                              "r:1: malformed JSON",
		"\n\n{\"submitTime\": \"soon\"}": `r:3: field "submitTime": a JSON string, expected int64, in a job of a Rumen trace`,
		rumen1 + "{\"jobID\": 7}":        "r:13: ",
		rumen1 + "{\"jobID\": \"j\",\n\"priority\": \"x\"}":                   `r:13: job "j": priority "x"`,
		rumen1 + rumen1[:strings.Index(rumen1, "{ \"jobID\" : \"job_2_0003")]: `r:14: job id "job_2_0002" is repeated, first at r:2`,
		"[": "r:1: the input ends",
		`{"jobID": "j", "submitTime": 1, "mapTasks": []}`:                                                          "r: no jobs, expected at least one; jobs left out",
		`{"jobID": "j", "submitTime": 9007199254740993, "mapTasks": []}`:                                           `r:1: job "j": submitted at 9007199254740993`,
		`{"jobID": "j", "mapTasks": [{"attempts": [{"startTime": 9, "finishTime": 5}]}]}`:                          `r:1: job "j": an attempt at task "" from 9 to 5`,
		`{"submitTime": 1, "mapTasks": [{"attempts": [{"result": "SUCCESS", "startTime": 9, "finishTime": 10}]}]}`: `r:1: job 1 (""): no id`,
	} {
		_, err := ReadRumen(strings.NewReader(text), "r", Options{})
		wantError(t, err, want)
	}
}

func TestPrioritiesByName(t *testing.T) {
	for name, want := range map[string]int{"VERY_HIGH": 2, "high": 1, "": 0, "DEFAULT": 0, "LOW": -1, "VERY_LOW": -2} {
		if got, err := priorityOf(name); got != want || err != nil {
			t.Errorf("priority %q is %d (%v), want %d", name, got, err, want)
		}
	}
}

func TestUnfinishedReducesTakeMeanMapTime(t *testing.T) {
	lines := strings.SplitAfter(history1, "\n")
	end := strings.Replace(lines[5], "4", "3", 1)
	w, err := ReadHistory(strings.NewReader(lines[0]+lines[1]+lines[2]+lines[4]+end), "h", Options{})
	must.Do(t, err)
	if got := w.Jobs[0].Reduces; !slices.Equal(got, []Task{{1150, 30}}) {
		t.Errorf("reduces %v, want the maps' mean of 1150 ms", got)
	}
}

const twoMachines = `{"type":"job","version":2,"job":{"jobId":"job_1_0001","submitTime":"1000","finishTime":"9000"}}
{"type":"task","task":{"id":"task_1_0001_m_000000","kind":"MAP","attempts":[{"node":"a","state":"ATTEMPT_SUCCEEDED","startTime":"2000","finishTime":"3000"}]}}
{"type":"task","task":{"id":"task_1_0001_m_000001","kind":"MAP","attempts":[{"node":"a","state":"ATTEMPT_SUCCEEDED","startTime":"3000","finishTime":"5000"}]}}
{"type":"task","task":{"id":"task_1_0001_m_000002","kind":"MAP","attempts":[{"node":"a","state":"ATTEMPT_KILLED","startTime":"4000","finishTime":"4500"},{"node":"b","state":"ATTEMPT_SUCCEEDED","startTime":"4500","finishTime":"5000"}]}}
{"type":"task","task":{"id":"task_1_0001_r_000000","kind":"REDUCE","attempts":[{"node":"b","state":"ATTEMPT_SUCCEEDED","startTime":"4000","finishTime":"8000"}]}}
{"type":"end","tasks":4}
`

func TestObservedCluster(t *testing.T) {
	w, err := ReadHistory(strings.NewReader(twoMachines), "h", Options{})
	must.Do(t, err)
	// A slot is free at the moment in which an attempt ends.
	if want := (ObservedCluster{Machines: 2, MapSlots: 2, ReduceSlots: 1}); w.Observed != want {
		t.Errorf("%+v, want %+v", w.Observed, want)
	}
	if w.Jobs[0].Recorded != 8000 {
		t.Errorf("recorded %d ms, want 8000", w.Jobs[0].Recorded)
	}
	if w, err := ReadHistory(strings.NewReader(history1), "h", Options{}); err != nil || w.Observed != (ObservedCluster{}) {
		t.Errorf("without names of machines: %+v, %v", w.Observed, err)
	}
}
