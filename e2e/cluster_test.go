package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

// slowly makes a job last long enough for the test to act on it.
var slowly = []string{"-D", "hammr.debug.record.sleep=1", "-D", "mapreduce.job.reduces=2",
	"-D", "mapreduce.input.fileinputformat.split.maxsize=40k"}

// slowJob is a running wordcount on a cluster, with some maps finished.
type slowJob struct {
	*engine
	in, out string
	id      string
}

func startSlowJob(t *testing.T, e *engine) *slowJob {
	t.Helper()
	j := &slowJob{engine: e, in: proseFile(t, "prose", 400<<10), out: filepath.Join(t.TempDir(), "out")}
	j.id = e.submit(slices.Concat([]string{"wordcount"}, slowly, []string{j.in, j.out})...)
	waitUntil(t, "some maps are done and some run", func() bool {
		s := e.look(j.id)
		return s != nil && s.MapsDone > 0 && s.MapsRunning > 0
	})
	return j
}

// succeeds waits for the job and checks its output. It returns the number of attempts beyond
// the first of each task.
func (j *slowJob) succeeds(t *testing.T) (again int) {
	t.Helper()
	j.awaitSuccess(j.id)
	want := filepath.Join(t.TempDir(), "want")
	done(t, "run", "wordcount", "-D", "mapreduce.job.reduces=2", "--quiet", j.in, want)
	wantSame(t, parts(t, j.out, 2), parts(t, want, 2))
	return j.repeated(j.id)
}

// TestTasknodeKilled kills a tasknode during a job. Its work runs again elsewhere, and its
// tasks end with it.
func TestTasknodeKilled(t *testing.T) {
	t.Parallel()
	e := newEngine(t, "--tasknodes", "3", "--expiry", "50s", "--heartbeat", "200ms") // a dead one is found before
	j := startSlowJob(t, e)
	victim := e.state.Tasknodes[0]
	must.Do(t, syscall.Kill(victim.PID, syscall.SIGKILL))
	waitUntil(t, "the tasks of the tasknode are gone", func() bool {
		return !slices.ContainsFunc(e.cluster.Processes(), func(line string) bool { return strings.Contains(line, victim.Dir+"/") })
	})
	if again := j.succeeds(t); again == 0 {
		t.Error("nothing was run again")
	}
	var nodes []struct{ Name, State string }
	e.json(&nodes, "node", "list", "--all")
	if len(nodes) != 3 || nodes[0].State != "LOST" || nodes[1].State != "RUNNING" {
		t.Errorf("nodes %v", nodes)
	}
}

// TestClusterContinuesAfterDown restarts a cluster with its jobs, and adds a tasknode.
func TestClusterContinuesAfterDown(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cluster")
	t.Cleanup(func() { run(t, "down", "--dir", dir) })
	up := func(args ...string) result {
		t.Helper()
		began := time.Now()
		r := start(t, command{args: slices.Concat([]string{"up", "--dir", dir}, args)}).wait(t)
		r.want(t, 0, "are ready after")
		t.Logf("up took %v", time.Since(began).Round(time.Millisecond))
		return r
	}
	masters := strings.TrimSpace(up("--detach", "--masters", "1", "--tasknodes", "1").stdout)
	env := []string{"HAMMR_MASTER=" + masters, "HAMMR_TOKEN_FILE=" + dir + "/token"}
	ask := func(args ...string) string {
		t.Helper()
		r := start(t, command{args: args, env: env}).wait(t)
		r.want(t, 0)
		return r.stdout
	}
	in, out := newFile(t, "in", []byte("a b a\n")), filepath.Join(t.TempDir(), "out")
	ask("run", "wordcount", "--quiet", in, out)
	if policy := ask("scheduler", "show"); !strings.Contains(policy, "Scheduling policy hfsp\n  hammr.hfsp.user.share.timeout=") {
		t.Errorf("policy of a new cluster:\n%s", policy)
	}
	ask("scheduler", "set", "fifo")
	done(t, "down", "--dir", dir)
	if _, err := os.Stat(filepath.Join(dir, "cluster.json")); err == nil {
		t.Error("cluster.json says that something runs")
	}
	if again := strings.TrimSpace(up("--detach").stdout); again != masters {
		t.Errorf("masters are at %s, were at %s", again, masters)
	}
	up("--add", "1")
	if jobs := ask("job", "list", "--all"); !strings.Contains(jobs, "Total jobs:1\n") || !strings.Contains(jobs, "SUCCEEDED") {
		t.Errorf("jobs:\n%s", jobs)
	}
	if policy := ask("scheduler", "show"); policy != "Scheduling policy fifo\n" {
		t.Errorf("the cluster has not kept the policy:\n%s", policy)
	}
	if nodes := ask("node", "list"); !strings.Contains(nodes, "Total Nodes:2\n") {
		t.Errorf("nodes:\n%s", nodes)
	}
	ask("run", "wordcount", "--quiet", in, out+"2")
	wantSame(t, parts(t, out+"2", 1), parts(t, out, 1))
}
