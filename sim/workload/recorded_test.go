package workload

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage/local"
)

// recorded has two jobs, the younger one first. A reduce of the older one is suspended for 2 s; its
// second attempt is suspended when the job is killed.
const recorded = `{"type":"job","version":2,"job":{"jobId":"job_1_0002","queue":"b","submitTime":"3000","finishTime":"9000"}}
{"type":"task","task":{"id":"task_1_0002_m_000000","kind":"MAP","attempts":[{"state":"ATTEMPT_FAILED","startTime":"4000","finishTime":"5000"},{"state":"ATTEMPT_SUCCEEDED","startTime":"6000","finishTime":"8000"}]}}
{"type":"end","tasks":1}
{"type":"job","version":2,"job":{"jobId":"job_1_0001","queue":"a","state":"KILLED","submitTime":"1000","finishTime":"20000"}}
{"type":"task","task":{"id":"task_1_0001_m_000000","kind":"MAP","attempts":[{"state":"ATTEMPT_SUCCEEDED","startTime":"1000","finishTime":"2000"}]}}
{"type":"task","task":{"id":"task_1_0001_r_000000","kind":"REDUCE","attempts":[{"id":"x","state":"ATTEMPT_KILLED","startTime":"2000","finishTime":"12000"},{"id":"y","startTime":"12000"},{"id":"never"}]}}
{"type":"event","event":{"at":5000,"kind":"suspend","attempt":"x"}}
{"type":"event","event":{"at":7000,"kind":"resume","attempt":"x"}}
{"type":"event","event":{"at":15000,"kind":"suspend","attempt":"y"}}
{"type":"end","tasks":2,"events":3}
`

func TestReadRecorded(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(dir, "2026-01-01"), 0o777))
	must.Do(t, os.WriteFile(filepath.Join(dir, "2026-01-01", "jobs.jsonl"), []byte(recorded), 0o666))
	read := func(o Options) ([]RecordedJob, error) {
		return ReadRecorded(context.Background(), local.New(local.Options{}), dir, o)
	}
	jobs, err := read(Options{})
	must.Do(t, err)
	want := "[{job_1_0001 a 0 19000 [{map 0 1000} {reduce 1000 4000} {reduce 6000 11000} {reduce 11000 14000}]} " +
		"{job_1_0002 b 2000 8000 [{map 3000 4000} {map 5000 7000}]}]"
	if got := fmt.Sprint(jobs); got != want {
		t.Errorf("read\n%s, want\n%s", got, want)
	}
	if jobs, err := read(Options{Select: Selection{Pool: "b"}}); err != nil || len(jobs) != 1 || jobs[0].Submit != 0 || jobs[0].Finish != 6000 {
		t.Errorf("of pool b: %v, %v", jobs, err)
	}
	if _, err := read(Options{Select: Selection{Jobs: []string{"job_1_0003"}}}); err == nil || !strings.Contains(err.Error(), "no selected job") {
		t.Errorf("of no job: %v", err)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "bad.jsonl"), []byte(strings.Replace(recorded, `"startTime":"4000"`, `"startTime":"7000"`, 1)), 0o666))
	if _, err := read(Options{}); err == nil || !strings.Contains(err.Error(), "an end after the start") {
		t.Errorf("an attempt that ends before it starts: %v", err)
	}
}
