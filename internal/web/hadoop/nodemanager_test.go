package hadoop

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestNodeManagerFiltersApplications asks for the applications of a tasknode by user and state.
func TestNodeManagerFiltersApplications(t *testing.T) {
	type list struct {
		Apps struct{ App []struct{ ID string } }
	}
	for query, want := range map[string]int{"": 1, "?user=bob": 0, "?state=RUNNING": 1, "?state=FINISHED": 0} {
		if got := decode[list](t, Config{Source: &fixture{}}, "/ws/v1/node/apps"+query).Apps.App; len(got) != want {
			t.Errorf("%s: %v, want %d", query, got, want)
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
