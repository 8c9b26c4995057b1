package hadoop

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// different are paths of Hadoop's answers that ours lack, and why.
var different = []struct{ path, reason string }{
	{"resourceSecondsMap", "Hadoop writes two keys of the same name, entry; we write one"},
	{"queueCapacityVectorInfo", "capacities are shares here, not vectors of resources"},
	{"scheduler.schedulerInfo.capacities", "there are no partitions of nodes"},
	{"schedulerInfo.queues.queue[].capacities", "there are no partitions of nodes"},
	{"queue[].resources.", "there are no partitions of nodes"},
	{"schedulerInfo.health", "the scheduler keeps no record of its last operations by kind"},
	{"queueAcls", "pools have no access lists"},
	{"Template", "pools are not created by templates"},
	{"/queueCapacityVectorInfo", "capacities are shares here, not vectors of resources"},
	{"schedulerInfo/capacities", "there are no partitions of nodes"},
	{"queue/capacities", "there are no partitions of nodes"},
	{"queue/resources/", "there are no partitions of nodes"},
	{"schedulerInfo/health", "the scheduler keeps no record of its last operations by kind"},
}

// accepted reports whether a path may be missing.
func accepted(path string) bool {
	return slices.ContainsFunc(different, func(d struct{ path, reason string }) bool {
		return strings.Contains(path+".", d.path) || strings.Contains(path+"/", d.path)
	})
}

// question is a request whose answer Hadoop's is known for.
type question struct {
	cfg    Config
	method string
	target string
	body   string
}

// questions returns a request for each section of the golden file.
func questions() map[string]question {
	running, over, idle := Config{Source: &fixture{}}, Config{Source: &fixture{over: true}}, Config{Source: &fixture{empty: true}}
	const cluster, app = "/ws/v1/cluster", "/ws/v1/cluster/apps/" + testApp
	q := map[string]question{}
	get := func(label string, cfg Config, target string) {
		q[label] = question{cfg: cfg, method: "GET", target: target}
	}
	for _, shape := range Schedulers {
		cfg := running
		cfg.Scheduler = shape
		get("scheduler "+shape, cfg, cluster+"/scheduler")
	}
	for _, path := range []string{"", "/info", "/metrics", "/apps", "/nodes", "/appstatistics"} {
		get("cluster"+path+" idle", idle, cluster+path)
	}
	get("history", over, "/ws/v1/history")
	get("history jobs idle", idle, "/ws/v1/history/mapreduce/jobs")
	for _, query := range []string{"limit=0", "limit=x", "startedTimeBegin=-1", "startedTimeBegin=9&startedTimeEnd=1", "state=NONE"} {
		get("history jobs "+query, idle, "/ws/v1/history/mapreduce/jobs?"+query)
	}
	for _, query := range []string{"limit=0", "limit=x", "states=NONE", "finalStatus=NONE", "startedTimeBegin=9&startedTimeEnd=1", "queue=none"} {
		get("apps "+query, idle, cluster+"/apps?"+query)
	}
	get("wrong app", running, cluster+"/apps/nonsense")
	get("no app", running, cluster+"/apps/application_1_0001")
	get("no node", running, cluster+"/nodes/nonsense:1")
	get("apps RUNNING", running, cluster+"/apps?states=RUNNING")
	for label, cfg := range map[string]Config{"running": running, "over": over} {
		for _, path := range []string{"", "/appattempts", "/state", "/queue", "/priority"} {
			get("app"+path+" "+label, cfg, app+path)
		}
		for _, path := range []string{"apps", "metrics", "nodes", "scheduler"} {
			get(path+" "+label, cfg, cluster+"/"+path)
		}
		get("appstatistics "+label, cfg, cluster+"/appstatistics?states=FINISHED&applicationTypes=MAPREDUCE")
	}
	get("mapreduce", running, "/proxy/"+testApp+"/ws/v1/mapreduce")
	get("mapreduce/info", running, "/proxy/"+testApp+"/ws/v1/mapreduce/info")
	const am, history = "/proxy/" + testApp + "/ws/v1/mapreduce", "/ws/v1/history/mapreduce"
	get("attempt state", running, am+"/jobs/"+testJob+"/tasks/"+mapTask+"/attempts/"+mapTry+"/state")
	for label, of := range map[string]struct {
		cfg  Config
		root string
	}{"am": {running, am}, "history": {over, history}} {
		job := of.root + "/jobs/" + testJob
		get(label+" jobs", of.cfg, of.root+"/jobs")
		get(label+" job", of.cfg, job)
		for _, part := range []string{"jobattempts", "counters", "conf", "tasks"} {
			get(label+" "+part, of.cfg, job+"/"+part)
		}
		for kind, ids := range map[string][2]string{"m": {mapTask, mapTry}, "r": {redTask, redTry}} {
			task := job + "/tasks/" + ids[0]
			get(label+" tasks "+kind, of.cfg, job+"/tasks?type="+kind)
			get(label+" task "+kind, of.cfg, task)
			get(label+" task counters "+kind, of.cfg, task+"/counters")
			get(label+" attempts "+kind, of.cfg, task+"/attempts")
			get(label+" attempt "+kind, of.cfg, task+"/attempts/"+ids[1])
			get(label+" attempt counters "+kind, of.cfg, task+"/attempts/"+ids[1]+"/counters")
		}
		get(label+" wrong type", of.cfg, job+"/tasks?type=x")
		get(label+" wrong job", of.cfg, of.root+"/jobs/nonsense")
		get(label+" no job", of.cfg, of.root+"/jobs/job_1_0001")
		get(label+" no task", of.cfg, job+"/tasks/task_1763700000000_0001_m_000099")
		get(label+" wrong task", of.cfg, job+"/tasks/nonsense")
		get(label+" no attempt", of.cfg, job+"/tasks/"+mapTask+"/attempts/attempt_1763700000000_0001_m_000000_9")
	}
	askNode(get, running, idle)
	for label, put := range map[string][2]string{
		"state put nonsense": {"/state", `{"state":"NONSENSE"}`}, "state put accepted": {"/state", `{"state":"ACCEPTED"}`},
		"state put kill": {"/state", `{"state":"KILLED"}`},
	} {
		q[label] = question{running, "PUT", app + put[0], put[1]}
	}
	q["state put over"] = question{over, "PUT", app + "/state", `{"state":"KILLED"}`}
	return q
}

// askNode adds the requests to a NodeManager.
func askNode(get func(label string, cfg Config, target string), running, idle Config) {
	for _, path := range []string{"", "/info", "/apps", "/containers", "/apps/application_1_0001", "/apps/nonsense", "/containers/container_1_0001_01_000001", "/containers/nonsense"} {
		get("node"+path+" idle", idle, "/ws/v1/node"+path)
	}
	for label, path := range map[string]string{"apps": "/apps", "app": "/apps/" + testApp, "containers": "/containers", "container": "/containers/" + testContainer} {
		get("node "+label+" running", running, "/ws/v1/node"+path)
	}
}

// notAsked are the sections that need no answer of the same shape, and why.
var notAsked = map[string]string{
	"no path":             "a page of HTML",
	"state put empty":     "an error of another status",
	"state put malformed": "an error of another status",
	"queue put":           "Hadoop has failed, as the application had just been killed",
	"priority put":        "Hadoop has failed, as the application had just been killed",
	"queue put wrong":     "Hadoop has failed, as the application had just been killed",
	"app killed":          "as an application that is over",
}

// TestShapesAreHadoops holds each answer against Hadoop's own: the same status, each path of a
// value, and the same type.
func TestShapesAreHadoops(t *testing.T) {
	asked := questions()
	for section, want := range readGolden(t) {
		at := strings.LastIndexByte(section, ' ')
		label, status := section[:at], section[at+1:]
		if notAsked[label] != "" {
			continue
		}
		q, known := asked[label]
		if !known {
			t.Errorf("section %q: nothing is asked", section)
			continue
		}
		t.Run(section, func(t *testing.T) {
			w := ask(t, q.cfg, q.method, q.target, "application/json", q.body)
			if got := fmt.Sprint(w.Code); got != status {
				t.Fatalf("%s: status %s, want %s: %.400s", q.target, got, status, w.Body)
			}
			got, err := shapeOf(w.Body.Bytes())
			must.Do(t, err)
			for path, kind := range want {
				if !accepted(path) && !matches(got[path], kind) && !(strings.HasPrefix(kind, "empty") && hasBelow(got, path)) {
					t.Errorf("%s is %q, want %q", path, got[path], kind)
				}
			}
		})
	}
}

// matches reports whether a type is Hadoop's, which has several where its answers differ.
func matches(got, want string) bool {
	return got != "" && slices.Contains(strings.Split(want, "|"), got) || got == want
}

// hasBelow reports whether a shape has paths below a path.
func hasBelow(s shape, path string) bool {
	for p := range s {
		if strings.HasPrefix(p, strings.TrimSuffix(path, "[]")) {
			return true
		}
	}
	return false
}
