package hadoop

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// nodeInfoKeys are the fields of NodeManager's answer in Hadoop 3.4.3.
const nodeInfoKeys = "hadoopBuildVersion string, hadoopVersion string, hadoopVersionBuiltOn string, healthReport string, id string, lastNodeUpdateTime integer, nmStartupTime integer, " +
	"nodeHealthy boolean, nodeHostName string, nodeManagerBuildVersion string, nodeManagerVersion string, nodeManagerVersionBuiltOn string, pmemCheckEnabled boolean, " +
	"resourceTypes string, totalPmemAllocatedContainersMB integer, totalVCoresAllocatedContainers integer, totalVmemAllocatedContainersMB integer, vmemCheckEnabled boolean"

const containerKeys = "containerLogFiles[] string, containerLogsLink string, diagnostics string, executionType string, exitCode integer, id string, nodeId string, state string, " +
	"totalMemoryNeededMB integer, totalVCoresNeeded integer, user string"

// TestNodeManagersAnswers holds the answers of a tasknode against the fields of Hadoop's classes.
func TestNodeManagersAnswers(t *testing.T) {
	idle, busy := Config{Source: &fixture{empty: true}}, Config{Source: &fixture{}}
	for target, c := range map[string]struct {
		cfg    Config
		status int
		below  string // path of the fields
		keys   string
	}{
		"":                             {idle, 200, "nodeInfo.", nodeInfoKeys},
		"/info":                        {busy, 200, "nodeInfo.", nodeInfoKeys},
		"/apps":                        {busy, 200, "apps.app[].", "containerids[] string, id string, state string, user string"},
		"/apps?user=bob":               {busy, 200, "", "apps empty object"},
		"/apps?state=RUNNING":          {busy, 200, "apps.app[].", "containerids[] string, id string, state string, user string"},
		"/apps?state=FINISHED":         {busy, 200, "", "apps empty object"},
		"/apps/" + testApp:             {busy, 200, "app.", "containerids[] string, id string, state string, user string"},
		"/containers":                  {busy, 200, "containers.container[].", containerKeys},
		"/containers/" + testContainer: {busy, 200, "container.", containerKeys},
		"/apps/application_1_0001":     {idle, 404, "RemoteException.", "exception string, javaClassName string, message string"},
		"/apps/nonsense":               {idle, 400, "RemoteException.", "exception string, javaClassName string, message string"},
		"/containers/container_1_1":    {idle, 404, "RemoteException.", "exception string, javaClassName string, message string"},
		"/containers/nonsense":         {idle, 400, "RemoteException.", "exception string, javaClassName string, message string"},
	} {
		w := ask(t, c.cfg, "GET", "/ws/v1/node"+target, "application/json", "")
		s, err := shapeOf(w.Body.Bytes(), false)
		if err != nil || w.Code != c.status {
			t.Errorf("%s: status %d, %v", target, w.Code, err)
			continue
		}
		var got []string
		for path, kind := range s {
			got = append(got, strings.TrimPrefix(path, c.below)+" "+kind)
		}
		slices.Sort(got)
		if text := strings.Join(got, ", "); text != c.keys {
			t.Errorf("%s: %s, want %s", target, text, c.keys)
		}
	}
}

// TestContainersHaveTheIDsOfTheMaster asks a master for the containers that a tasknode lists.
func TestContainersHaveTheIDsOfTheMaster(t *testing.T) {
	type list struct {
		Containers struct{ Container []struct{ ID string } }
	}
	type attempts struct {
		TaskAttempts struct {
			TaskAttempt []struct{ AssignedContainerId, State string }
		}
	}
	cfg, running := Config{Source: &fixture{}}, 0
	for _, task := range []string{"task_1763700000000_0001_m_000001", redTask} {
		for _, a := range decode[attempts](t, cfg, "/ws/v1/mapreduce/jobs/"+testJob+"/tasks/"+task+"/attempts").TaskAttempts.TaskAttempt {
			known := false
			for _, c := range decode[list](t, cfg, "/ws/v1/node/containers").Containers.Container {
				known = known || c.ID == a.AssignedContainerId
			}
			if known != (a.State == "RUNNING") {
				t.Errorf("container %s of an attempt that is %s: on the tasknode %v", a.AssignedContainerId, a.State, known)
			}
			if known {
				running++
			}
		}
	}
	if running != 2 {
		t.Errorf("%d containers, want 2", running)
	}
}

func TestNodeManagerNeedsTheToken(t *testing.T) {
	r := httptest.NewRequest("GET", "/ws/v1/node/info", nil)
	w := httptest.NewRecorder()
	NodeManager((&fixture{}).describe, func(*http.Request) bool { return false }).ServeHTTP(w, r)
	if w.Code != http.StatusUnauthorized || !strings.Contains(w.Header().Get("WWW-Authenticate"), "Basic") || !strings.Contains(w.Body.String(), "AccessControlException") {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}
