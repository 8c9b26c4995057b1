package hadoop

import (
	"regexp"
	"strings"
	"testing"
)

// reading is a request of a client, and the paths of values that it reads in the answer, with their types.
type reading struct{ target, values string }

const (
	hueJob = "job.id string, job.name string, job.user string, job.queue string, job.state string, job.startTime integer, job.finishTime integer, " +
		"job.mapsTotal integer, job.mapsCompleted integer, job.reducesTotal integer, job.reducesCompleted integer, job.diagnostics string"
	hueTask    = "id string, type string, state string, startTime integer, finishTime integer, elapsedTime integer, progress number, successfulAttempt string"
	hueAttempt = "id string, type string, state string, startTime integer, finishTime integer, elapsedTime integer, progress number, rack string, " +
		"nodeHttpAddress string, diagnostics string, assignedContainerId string"
	hueApp = "id string, name string, user string, queue string, state string, finalStatus string, progress number, applicationType string, trackingUrl string, " +
		"startedTime integer, finishedTime integer, preemptedResourceVCores integer, vcoreSeconds integer, memorySeconds integer, diagnostics string, amContainerLogs string"
)

// below puts a path in front of each value.
func below(path, values string) string {
	return path + strings.ReplaceAll(values, ", ", ", "+path)
}

// ofHue are the requests of Hue's clients of application masters and of the history server, which have
// the same paths below a root.
func ofHue(root string) []reading {
	job := root + "/jobs/" + testJob
	return []reading{
		{job, hueJob},
		{job + "/counters", "jobCounters.id string, jobCounters.counterGroup[].counterGroupName string, " + below("jobCounters.counterGroup[].counter[].",
			"name string, totalCounterValue integer, mapCounterValue integer, reduceCounterValue integer")},
		{job + "/conf", "conf.path string, conf.property[].name string, conf.property[].value string"},
		{job + "/jobattempts", below("jobAttempts.jobAttempt[].", "id integer, startTime integer, containerId string, nodeHttpAddress string, nodeId string, logsLink string")},
		{job + "/tasks", below("tasks.task[].", hueTask)},
		{job + "/tasks/" + mapTask, below("task.", hueTask)},
		{job + "/tasks/" + mapTask + "/counters", "jobTaskCounters.id string, " + below("jobTaskCounters.taskCounterGroup[].", "counterGroupName string, counter[].name string, counter[].value integer")},
		{job + "/tasks/" + mapTask + "/attempts", below("taskAttempts.taskAttempt[].", hueAttempt)},
		{job + "/tasks/" + mapTask + "/attempts/" + mapTry, below("taskAttempt.", hueAttempt)},
		{job + "/tasks/" + mapTask + "/attempts/" + mapTry + "/counters", "jobTaskAttemptCounters.id string, " +
			below("jobTaskAttemptCounters.taskAttemptCounterGroup[].", "counterGroupName string, counter[].name string, counter[].value integer")},
	}
}

// ofHueManager are those of its client of the ResourceManager, which names the user that it acts for.
var ofHueManager = []reading{
	{"/ws/v1/cluster/info?doAs=ann&user.name=hue", "clusterInfo.id integer, clusterInfo.state string, clusterInfo.haState string, clusterInfo.hadoopVersion string"},
	{"/ws/v1/cluster/apps?doAs=ann&user.name=hue&user=ann&limit=10", below("apps.app[].", hueApp)},
	{"/ws/v1/cluster/apps/" + testApp + "?doAs=ann&user.name=hue", below("app.", hueApp)},
}

// ofElephant are the requests of Dr. Elephant's fetcher of finished jobs.
var ofElephant = []reading{
	{"/ws/v1/cluster/apps?finalStatus=SUCCEEDED&finishedTimeBegin=1&applicationTypes=MAPREDUCE", below("apps.app[].", "id string, user string, queue string, name string, trackingUrl string, startedTime integer, finishedTime integer")},
	{"/ws/v1/history/mapreduce/jobs/" + testJob + "/conf", "conf.property[].name string, conf.property[].value string"},
	{"/ws/v1/history/mapreduce/jobs/" + testJob, "job.state string, job.startTime integer, job.finishTime integer, job.submitTime integer, job.diagnostics string"},
	{"/ws/v1/history/mapreduce/jobs/" + testJob + "/counters", "jobCounters.counterGroup[].counterGroupName string, jobCounters.counterGroup[].counter[].name string, jobCounters.counterGroup[].counter[].totalCounterValue integer"},
	{"/ws/v1/history/mapreduce/jobs/" + testJob + "/tasks", below("tasks.task[].", "id string, state string, type string, successfulAttempt string")},
	{"/ws/v1/history/mapreduce/jobs/" + testJob + "/tasks/" + redTask + "/counters", below("jobTaskCounters.taskCounterGroup[].", "counterGroupName string, counter[].name string, counter[].value integer")},
	{"/ws/v1/history/mapreduce/jobs/" + testJob + "/tasks/" + redTask + "/attempts", below("taskAttempts.taskAttempt[].", "id string, state string, finishTime integer, diagnostics string")},
	{"/ws/v1/history/mapreduce/jobs/" + testJob + "/tasks/" + redTask + "/attempts/" + redTry, below("taskAttempt.", "startTime integer, finishTime integer, type string, elapsedShuffleTime integer, elapsedMergeTime integer")},
}

// TestRequestsOfHueAndDrElephant replays what they ask about a job that runs and one that is over.
func TestRequestsOfHueAndDrElephant(t *testing.T) {
	running, over := Config{Source: &fixture{}}, Config{Source: &fixture{over: true}}
	const master = "/proxy/" + testApp + "/ws/v1/mapreduce"
	for name, c := range map[string]struct {
		cfg   Config
		reads []reading
	}{
		"Hue, job that runs":       {running, ofHue(master)},
		"Hue, job that is over":    {over, ofHue(master)},
		"Hue, history":             {over, ofHue("/ws/v1/history/mapreduce")},
		"Hue, applications":        {running, ofHueManager},
		"Hue, applications before": {over, ofHueManager},
		"Dr. Elephant":             {over, ofElephant},
	} {
		for _, r := range c.reads {
			w := ask(t, c.cfg, "GET", r.target, "application/json", "")
			got, err := shapeOf(w.Body.Bytes())
			if err != nil || w.Code != 200 {
				t.Errorf("%s: %s: status %d, %v", name, r.target, w.Code, err)
				continue
			}
			for value := range strings.SplitSeq(r.values, ", ") {
				path, kind, _ := strings.Cut(value, " ")
				if got[path] != kind {
					t.Errorf("%s: %s: %s is %q, want %q", name, r.target, path, got[path], kind)
				}
			}
		}
	}
}

// TestDiagnosticsNameTheTask finds the failed task as Dr. Elephant does: between spaces.
func TestDiagnosticsNameTheTask(t *testing.T) {
	for cause, want := range map[string]string{
		mapTask + " failed 4 times: disk": "Task failed " + mapTask + " failed 4 times: disk",
		"killed by ann":                   "killed by ann",
	} {
		if got := diagnosticsOf(cause); got != want || strings.Contains(cause, "task_") != regexp.MustCompile(`\s+task_[0-9]+_[0-9]+_[mr]_[0-9]+\s+`).MatchString(got) {
			t.Errorf("%q: %q", cause, got)
		}
	}
}
