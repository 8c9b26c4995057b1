package live

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// event returns an event as the history of a Hadoop job has it.
func event(kind, name, fields string) string {
	return `{"type":"` + kind + `","event":{"org.apache.hadoop.mapreduce.jobhistory.` + name + `":{` + fields + "}}}\n"
}

const historyHead = "Avro-Json\n{\"type\":\"record\",\"name\":\"Event\"}\n"

// someHistory is a job of two maps and a reduce, one map of which is local.
var someHistory = historyHead + event("JOB_SUBMITTED", "JobSubmitted", `"jobid":"job_1_1","submitTime":1000,"acls":{}`) +
	event("MAP_ATTEMPT_STARTED", "TaskAttemptStarted", `"startTime":3000,"locality":{"string":"NODE_LOCAL"}`) +
	event("MAP_ATTEMPT_STARTED", "TaskAttemptStarted", `"startTime":2500,"locality":{"string":"RACK_LOCAL"}`) + "\n" +
	event("MAP_ATTEMPT_FINISHED", "MapAttemptFinished", `"finishTime":5000`) +
	event("MAP_ATTEMPT_FINISHED", "MapAttemptFinished", `"finishTime":4000`) +
	event("REDUCE_ATTEMPT_STARTED", "TaskAttemptStarted", `"startTime":4500`) +
	event("REDUCE_ATTEMPT_FINISHED", "ReduceAttemptFinished", `"finishTime":6000`) +
	event("JOB_FINISHED", "JobFinished", `"finishTime":6500,"finishedMaps":2,"finishedReduces":1,"totalCounters":{"name":"TOTAL_COUNTERS",`+
		`"groups":[{"name":"x","counts":[{"name":"TOTAL_LAUNCHED_MAPS","displayName":"","value":2},{"name":"DATA_LOCAL_MAPS","displayName":"","value":1}]}]}`)

func TestHadoopHistory(t *testing.T) {
	past, err := readHadoop(strings.NewReader(someHistory))
	must.Do(t, err)
	o := past.outcome(blockReadingJob{&workload.Job{ID: "j", Pool: "p", Submit: 500}, 10, blockBytes})
	want := sim.JobResult{
		ID: "j", Pool: "p", State: cluster.JobSucceeded, Submit: 500, Start: 15_500, Finish: 55_500, Maps: 2, Reduces: 1, LocalMaps: 1,
		MapStart: 15_500, MapFinish: 40_500, ReduceStart: 35_500, ReduceFinish: 50_500,
	}
	if len(o.Jobs) != 1 || o.Jobs[0] != want || o.End != want.Finish {
		t.Errorf("outcome %+v\nwant %+v", o, want)
	}
}

func TestInvalidHadoopHistories(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":    {"", "no JOB_FINISHED"},
		"unfinished": {historyHead + event("JOB_SUBMITTED", "JobSubmitted", `"submitTime":1000`), "no JOB_FINISHED"},
		"damaged":    {historyHead + "{\n", "line 3"},
		"binary":     {"Avro-Binary\n{}\n\x00\x01", "line 3"},
	} {
		if _, err := readHadoop(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected %s", name, err, c.want)
		}
	}
}

// FuzzHadoopHistory checks that no input makes the reader panic.
func FuzzHadoopHistory(f *testing.F) {
	f.Add(someHistory)
	f.Add(historyHead + `{"type":"JOB_FINISHED","event":{"x":null}}`)
	f.Fuzz(func(t *testing.T, text string) {
		past, err := readHadoop(strings.NewReader(text))
		if (past == nil) == (err == nil) {
			t.Errorf("history %v, error %v", past, err)
		}
	})
}
