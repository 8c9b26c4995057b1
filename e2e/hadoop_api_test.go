package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// hadoopClient is a client of Hadoop, which sends the token as a password.
type hadoopClient struct {
	t     *testing.T
	token string
}

func (c *hadoopClient) send(method, url, body string) (status int, text []byte) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, "http://"+url, strings.NewReader(body))
	must.Do(c.t, err)
	r.SetBasicAuth("any", c.token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	must.Do(c.t, err)
	defer answer.Body.Close()
	text, err = io.ReadAll(answer.Body)
	must.Do(c.t, err)
	return answer.StatusCode, text
}

// hadoopApp is an application, which is a job.
type hadoopApp struct{ ID, State, FinalStatus, User, Name string }

// hadoopAnswer has the fields of all answers that the test reads.
type hadoopAnswer struct {
	Apps struct {
		App []hadoopApp
	}
	Job struct {
		State, User                     string
		MapsCompleted, ReducesCompleted int
	}
	JobCounters struct {
		CounterGroup []struct {
			CounterGroupName string
			Counter          []struct {
				Name                                                   string
				TotalCounterValue, MapCounterValue, ReduceCounterValue int64
			}
		}
	}
	Tasks struct {
		Task []struct{ ID, State, Type, SuccessfulAttempt string }
	}
	TaskAttempts struct {
		TaskAttempt []struct{ ID, State, AssignedContainerId, NodeHttpAddress string }
	}
	Containers struct{ Container []struct{ ID, User string } }
	NodeInfo   struct {
		NodeHealthy                    bool
		TotalVCoresAllocatedContainers int
	}
	State string
}

func (c *hadoopClient) get(url string) (a hadoopAnswer) {
	c.t.Helper()
	status, text := c.send(http.MethodGet, url, "")
	if status != http.StatusOK {
		c.t.Fatalf("%s: status %d: %.500s", url, status, text)
	}
	must.Do(c.t, json.Unmarshal(text, &a))
	return a
}

// TestFollowersServeHadoopsAPI asks a master that does not lead about a job that is over and one that
// runs, compares the figures with those of the command, and kills the job that runs.
func TestFollowersServeHadoopsAPI(t *testing.T) {
	t.Parallel()
	e := sharedEngine(t, threeMasters)
	token, err := os.ReadFile(filepath.Join(e.dir, localcluster.TokenFile))
	must.Do(t, err)
	c := &hadoopClient{t, strings.TrimSpace(string(token))}
	leader, _ := e.masters()
	i := slices.IndexFunc(e.state.Masters, func(m localcluster.Master) bool { return m.ID != leader })
	follower := e.state.Masters[i].HTTP

	over := e.submit("wordcount", "-D", "mapreduce.job.reduces=2", proseFile(t, "prose", 100<<10), filepath.Join(t.TempDir(), "out"))
	e.awaitSuccess(over)
	c.checkFinished(follower, e.shown(over))

	d := newDoors(t, 1)
	running := d.submit(e, proseFile(t, "held", 10<<10), filepath.Join(t.TempDir(), "out"))
	d.wait(0)
	c.checkRunning(follower, running, e)
	state := follower + "/ws/v1/cluster/apps/" + strings.Replace(running, "job", "application", 1) + "/state"
	if status, text := c.send(http.MethodPut, state, `{"state":"KILLED"}`); status != http.StatusAccepted {
		t.Errorf("kill: status %d: %s", status, text)
	}
	waitUntil(t, "the job is killed", func() bool { return c.get(state).State == "KILLED" })
	if s := e.shown(running).State; s != report.Killed {
		t.Errorf("the command shows %s", s)
	}
	if status, text := c.send(http.MethodPut, state, `{"state":"KILLED"}`); status != http.StatusOK {
		t.Errorf("another kill: status %d: %s", status, text)
	}
}

// checkFinished compares a job that is over with the document of the command.
func (c *hadoopClient) checkFinished(master string, want report.Report) {
	c.t.Helper()
	app := strings.Replace(want.JobID, "job", "application", 1)
	apps := c.get(master + "/ws/v1/cluster/apps").Apps.App
	apps = slices.DeleteFunc(apps, func(a hadoopApp) bool { return a.ID != app })
	if len(apps) != 1 || apps[0].State != "FINISHED" || apps[0].FinalStatus != string(want.State) || apps[0].Name != want.Name || apps[0].User != want.User {
		c.t.Errorf("applications %+v, want %s", apps, app)
	}
	for _, root := range []string{"/ws/v1/history/mapreduce/jobs/", "/proxy/" + app + "/ws/v1/mapreduce/jobs/"} {
		of := master + root + want.JobID
		job, tasks := c.get(of).Job, c.get(of+"/tasks").Tasks.Task
		if job.State != string(want.State) || job.User != want.User || job.MapsCompleted+job.ReducesCompleted != len(want.Tasks) || len(tasks) != len(want.Tasks) {
			c.t.Errorf("%s: %+v, %d tasks of %d", root, job, len(tasks), len(want.Tasks))
		}
		shown := 0
		for _, g := range c.get(of + "/counters").JobCounters.CounterGroup {
			for _, k := range g.Counter {
				shown++
				if kinds := k.MapCounterValue + k.ReduceCounterValue; kinds != k.TotalCounterValue && !strings.HasSuffix(g.CounterGroupName, "JobCounter") {
					c.t.Errorf("%s: %+v", root, k)
				}
				if k.Name == "MAP_INPUT_RECORDS" && k.MapCounterValue != want.Counters.Get(counter.MapInputRecords) {
					c.t.Errorf("%s: %+v, the command shows %d", root, k, want.Counters.Get(counter.MapInputRecords))
				}
			}
		}
		if shown == 0 {
			c.t.Errorf("%s: no counters", root)
		}
	}
}

// checkRunning looks at a job with a map that runs until the test lets it continue, and at the container of
// the map on its tasknode.
func (c *hadoopClient) checkRunning(master, id string, e *engine) {
	c.t.Helper()
	of := master + "/ws/v1/mapreduce/jobs/" + id
	for _, path := range []string{of, of + "/tasks"} { // its list of tasks is a little older
		waitUntil(c.t, "the follower knows that the job runs", func() bool {
			status, text := c.send(http.MethodGet, path, "")
			return status == http.StatusOK && strings.Contains(string(text), `"RUNNING"`)
		})
	}
	containers := make(map[string]bool)
	waitUntil(c.t, "a container that a master names is on its tasknode", func() bool {
		for _, n := range e.state.Tasknodes {
			info := c.get(n.HTTP + "/ws/v1/node/info").NodeInfo
			running := c.get(n.HTTP + "/ws/v1/node/containers").Containers.Container
			if !info.NodeHealthy || len(running) > 0 && info.TotalVCoresAllocatedContainers == 0 {
				c.t.Logf("%s: %+v, %d containers", n.Name, info, len(running)) // from two moments
				return false
			}
			for _, k := range running {
				containers[k.ID] = true
			}
		}
		for _, task := range c.get(of + "/tasks?type=m").Tasks.Task {
			for _, a := range c.get(of + "/tasks/" + task.ID + "/attempts").TaskAttempts.TaskAttempt {
				if a.State == "RUNNING" && containers[a.AssignedContainerId] {
					return true
				}
			}
		}
		return false
	})
	if status, _ := (&hadoopClient{c.t, "wrong"}).send(http.MethodGet, e.state.Tasknodes[0].HTTP+"/ws/v1/node", ""); status != http.StatusUnauthorized {
		c.t.Errorf("with another token: status %d", status)
	}
}
