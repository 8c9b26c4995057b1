package calibrate

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/bench/live"
	"github.com/hammr/hammr/internal/wire"
)

func TestSojournsAreReadFromHistories(t *testing.T) {
	job := func(id, name string, state wire.JobState, submitted, finished int64) *wire.JobStatus {
		return &wire.JobStatus{JobId: id, Name: name, State: state, SubmitTime: submitted, FinishTime: finished}
	}
	r := &live.Run{Jobs: []*wire.JobStatus{
		job("job_1_0001", "long", wire.JobState_SUCCEEDED, 1000, 9500), job("job_1_0002", "short", wire.JobState_SUCCEEDED, 2000, 3000),
	}}
	got, err := sojourns(r, "fair")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Job != "long" || got[0].Real != 8500*time.Millisecond || got[1].Real != time.Second || got[1].Policy != "fair" {
		t.Errorf("got %+v", got)
	}
	r.Jobs = append(r.Jobs, job("job_1_0003", "broken", wire.JobState_FAILED, 2000, 3000))
	if _, err := sojourns(r, "fair"); err == nil || !strings.Contains(err.Error(), "job broken (job_1_0003) is FAILED") {
		t.Errorf("a job that failed: %v", err)
	}
}

func TestErrorsOfPredictions(t *testing.T) {
	outcomes := []Outcome{
		{Policy: "fifo", Job: "a", Real: 10 * time.Second, Replay: 11 * time.Second, Forecast: 10 * time.Second},
		{Policy: "fifo", Job: "b", Real: 20 * time.Second, Replay: 15 * time.Second, Forecast: 20 * time.Second},
	}
	e := ErrorOf(outcomes, ReplayOf)
	if math.Abs(e.Mean-0.175) > 1e-12 || e.Worst != .25 || math.Abs(e.Bias+4./30) > 1e-12 {
		t.Errorf("replay: %+v", e)
	}
	if e := ErrorOf(outcomes, ForecastOf); e != (Error{}) {
		t.Errorf("forecast without error: %+v", e)
	}
	var table, lines strings.Builder
	if err := WriteTable(&table, live.Plan{Name: "p", About: "two jobs"}, outcomes); err != nil {
		t.Fatal(err)
	}
	const want = `p: two jobs
  POLICY  JOBS  REAL MEAN  REPLAY MEAN   ERROR   WORST  FORECAST MEAN  ERROR  WORST
    fifo     2    15.00 s      13.00 s  17.5 %  25.0 %        15.00 s  0.0 %  0.0 %
`
	if table.String() != want {
		t.Errorf("table:\n%s", table.String())
	}
	if err := WriteCSV(&lines, "p", outcomes); err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(lines.String(), "\n"); got[2] != "p,fifo,b,20.000,15.000,20.000,-0.2500,0.0000" {
		t.Errorf("line %q", got[2])
	}
}

// TestSleepingPlan checks that what is predicted is a queue: more work than the
// slots can do at once, by jobs that differ.
func TestSleepingPlan(t *testing.T) {
	last := time.Duration(0)
	for _, j := range SleepingPlan().Jobs {
		if j.At < last || j.Args[0] != "sleep" {
			t.Errorf("job %+v behind one at %v", j, last)
		}
		last = j.At
	}
}
