//go:build accept

package hadoop

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/testing/must"
)

var update = flag.Bool("update", false, "record the shapes of Hadoop's answers in "+goldenFile)

func TestMain(m *testing.M) { os.Exit(minihdfs.Main(m, minihdfs.Config{DataNodes: 1})) }

// recorder asks Hadoop's daemons and notes the shapes of their answers.
type recorder struct {
	t       *testing.T
	names   *strings.Replacer // ids in the answers of this run, by placeholder
	shapes  map[string]shape
	rawDir  string // where answers are kept as they are; "" for nowhere
	address map[string]string
}

// ask notes the answer of a daemon: rm, or history. Errors must be answered as JSON too.
func (r *recorder) ask(label, daemon, method, path, accept, body string) []byte {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, "http://"+r.address[daemon]+path, strings.NewReader(body))
	must.Do(r.t, err)
	request.Header.Set("Accept", accept)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Close = true
	answer, err := http.DefaultTransport.RoundTrip(request) // redirections are answers
	must.Do(r.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must.Do(r.t, err)
	if r.rawDir != "" {
		head := fmt.Sprintf("%s %s\n%d %s\n\n", method, path, answer.StatusCode, answer.Header.Get("Content-Type"))
		must.Do(r.t, os.WriteFile(filepath.Join(r.rawDir, strings.ReplaceAll(label, "/", "_")), append([]byte(head), text...), 0o644))
	}
	s, err := shapeOf(text)
	if err != nil {
		r.t.Logf("%s: status %d: %v", label, answer.StatusCode, err)
		s = shape{"body": "no document"}
	}
	r.shapes[fmt.Sprintf("%s %d", label, answer.StatusCode)] = s
	return text
}

func (r *recorder) get(label, daemon, path string) []byte {
	r.t.Helper()
	return r.ask(label, daemon, http.MethodGet, path, "application/json", "")
}

// await asks until a text is in the answer, and then does not note it.
func (r *recorder) await(daemon, path, text string) {
	r.t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; <-time.After(100 * time.Millisecond) {
		request, _ := http.NewRequestWithContext(r.t.Context(), http.MethodGet, "http://"+r.address[daemon]+path, nil)
		request.Header.Set("Accept", "application/json")
		if answer, err := http.DefaultClient.Do(request); err == nil {
			body, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			if strings.Contains(string(body), text) {
				return
			}
		}
		if time.Now().After(end) {
			r.t.Fatalf("%s: no %q", path, text)
		}
	}
}

// jobs asks what the application master and the history server answer about a job.
func (r *recorder) jobs(label, daemon, root, job string) {
	r.t.Helper()
	r.get(label+" jobs", daemon, root+"/jobs")
	of := root + "/jobs/" + job
	r.get(label+" job", daemon, of)
	for _, part := range []string{"jobattempts", "counters", "conf", "tasks"} {
		r.get(label+" "+part, daemon, of+"/"+part)
	}
	number := strings.TrimPrefix(job, "job_")
	for _, kind := range []string{"m", "r"} {
		r.get(label+" tasks "+kind, daemon, of+"/tasks?type="+kind)
		task := of + "/tasks/task_" + number + "_" + kind + "_000000"
		attempt := task + "/attempts/attempt_" + number + "_" + kind + "_000000_0"
		r.get(label+" task "+kind, daemon, task)
		r.get(label+" task counters "+kind, daemon, task+"/counters")
		r.get(label+" attempts "+kind, daemon, task+"/attempts")
		r.get(label+" attempt "+kind, daemon, attempt)
		r.get(label+" attempt counters "+kind, daemon, attempt+"/counters")
	}
	r.get(label+" wrong type", daemon, of+"/tasks?type=x")
	r.get(label+" wrong job", daemon, root+"/jobs/nonsense")
	r.get(label+" no job", daemon, root+"/jobs/job_1_0001")
	r.get(label+" no task", daemon, of+"/tasks/task_"+number+"_m_000099")
	r.get(label+" wrong task", daemon, of+"/tasks/nonsense")
	r.get(label+" no attempt", daemon, of+"/tasks/task_"+number+"_m_000000/attempts/attempt_"+number+"_m_000000_9")
}

// script writes a program that sleeps before it copies its input.
func script(t *testing.T, name, sleep string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(file, []byte("#!/bin/sh\nsleep "+sleep+"\ncat\n"), 0o755))
	must.Do(t, os.Chmod(filepath.Dir(file), 0o755))
	return file
}

// TestOracle runs a job on Hadoop's own YARN and MapReduce. What they answer must have the shapes
// of the golden file, so that the file is true; -update records it.
func TestOracle(t *testing.T) {
	hdfs := minihdfs.ForTest(t)
	r := &recorder{t: t, shapes: make(map[string]shape), rawDir: os.Getenv("HAMMR_ORACLE_ANSWERS")}
	for _, kind := range []string{"fair.FairScheduler", "capacity.CapacityScheduler", "fifo.FifoScheduler"} {
		r.scheduler(hdfs, kind)
	}
	if *update {
		head := "# Shapes of the answers of Hadoop 3.4.3. Recorded by: make accept-hadoop UPDATE=-update\n\n"
		must.Do(t, os.WriteFile(goldenFile, []byte(head+formatGolden(r.shapes)), 0o644))
		return
	}
	// Which counters and lists are empty while a job runs depends on the moment. So a path may be in
	// one of them only, but never with another type.
	for section, want := range readGolden(t) {
		got, answered := r.shapes[section]
		if !answered {
			t.Errorf("section %q: Hadoop has answered nothing, or with another status", section)
		}
		for path, kind := range want {
			if has := got[path]; has != "" && !matches(has, kind) && !matches(kind, has) {
				t.Errorf("%s: %s is %q in the golden file, and %q", section, path, kind, has)
			}
		}
	}
}

// scheduler runs YARN with a scheduler, and jobs with the first one.
func (r *recorder) scheduler(hdfs *minihdfs.Cluster, class string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 6*time.Minute)
	defer cancel()
	name, _, _ := strings.Cut(class, ".")
	yarn, err := minihdfs.StartYarn(ctx, hdfs, minihdfs.YarnConfig{Maps: 2, Properties: map[string]string{
		"yarn.resourcemanager.scheduler.class":          "org.apache.hadoop.yarn.server.resourcemanager.scheduler." + class,
		"yarn.scheduler.capacity.root.queues":           "default,nightly",
		"yarn.scheduler.capacity.root.default.capacity": "60",
		"yarn.scheduler.capacity.root.nightly.capacity": "40",
	}})
	must.Do(r.t, err)
	defer func() {
		if err := yarn.Close(); err != nil {
			r.t.Error(err)
		}
	}()
	r.address = map[string]string{"rm": yarn.WebAddress(), "history": yarn.HistoryAddress(), "node": hdfs.Host(0) + ":8042"}
	r.get("scheduler "+name, "rm", "/ws/v1/cluster/scheduler")
	if name == "fair" {
		r.cluster(ctx, hdfs, yarn)
	}
}

// cluster asks before, during and after a job.
func (r *recorder) cluster(ctx context.Context, hdfs *minihdfs.Cluster, yarn *minihdfs.Yarn) {
	r.t.Helper()
	history, err := yarn.StartHistoryServer(ctx, "")
	must.Do(r.t, err)
	defer history.Close()
	for _, path := range []string{"", "/info", "/metrics", "/apps", "/nodes", "/appstatistics"} {
		r.get("cluster"+path+" idle", "rm", "/ws/v1/cluster"+path)
	}
	for _, path := range []string{"", "/info", "/apps", "/containers", "/apps/application_1_0001", "/apps/nonsense", "/containers/container_1_0001_01_000001", "/containers/nonsense"} {
		r.get("node"+path+" idle", "node", "/ws/v1/node"+path)
	}
	r.get("history", "history", "/ws/v1/history")
	r.get("history jobs idle", "history", "/ws/v1/history/mapreduce/jobs")
	for _, query := range []string{"limit=0", "limit=x", "startedTimeBegin=-1", "startedTimeBegin=9&startedTimeEnd=1", "state=NONE"} {
		r.get("history jobs "+query, "history", "/ws/v1/history/mapreduce/jobs?"+query)
	}
	for _, query := range []string{"limit=0", "limit=x", "states=NONE", "finalStatus=NONE", "startedTimeBegin=9&startedTimeEnd=1", "queue=none"} {
		r.get("apps "+query, "rm", "/ws/v1/cluster/apps?"+query)
	}
	r.get("wrong app", "rm", "/ws/v1/cluster/apps/nonsense")
	r.get("no app", "rm", "/ws/v1/cluster/apps/application_1_0001")
	r.get("no path", "rm", "/ws/v1/cluster/nonsense")
	r.get("no node", "rm", "/ws/v1/cluster/nodes/nonsense:1")
	input := filepath.Join(r.t.TempDir(), "input")
	must.Do(r.t, os.WriteFile(input, []byte(strings.Repeat("one two three\n", 100)), 0o644))
	if out, err := hdfs.RunJava(ctx, "org.apache.hadoop.fs.FsShell", "-put", input, "/input"); err != nil {
		r.t.Fatalf("%v: %s", err, out)
	}
	job := r.run(ctx, yarn, "/out", true)
	r.await("history", "/ws/v1/history/mapreduce/jobs", job)
	r.jobs("history", "history", "/ws/v1/history/mapreduce", job)
	app := "application" + strings.TrimPrefix(job, "job")
	r.await("rm", "/ws/v1/cluster/apps/"+app, `"state":"FINISHED"`)
	r.apps("over", app)
	r.ask("state put over", "rm", http.MethodPut, "/ws/v1/cluster/apps/"+app+"/state?user.name=root", "application/json", `{"state":"KILLED"}`)
	r.run(ctx, yarn, "/killed", false)
}

// node asks the NodeManager about an application that runs.
func (r *recorder) node(app string) {
	r.t.Helper()
	r.get("node apps running", "node", "/ws/v1/node/apps")
	r.get("node app running", "node", "/ws/v1/node/apps/"+app)
	var list struct {
		Containers struct{ Container []struct{ ID string } }
	}
	if err := json.Unmarshal(r.get("node containers running", "node", "/ws/v1/node/containers"), &list); err != nil || len(list.Containers.Container) == 0 {
		r.t.Fatalf("%v: %+v", err, list)
	}
	r.get("node container running", "node", "/ws/v1/node/containers/"+list.Containers.Container[0].ID)
}

// apps asks about an application.
func (r *recorder) apps(label, app string) {
	r.t.Helper()
	of := "/ws/v1/cluster/apps/" + app
	for _, path := range []string{"", "/appattempts", "/state", "/queue", "/priority"} {
		r.get("app"+path+" "+label, "rm", of+path)
	}
	r.get("apps "+label, "rm", "/ws/v1/cluster/apps")
	r.get("metrics "+label, "rm", "/ws/v1/cluster/metrics")
	r.get("nodes "+label, "rm", "/ws/v1/cluster/nodes")
	r.get("scheduler "+label, "rm", "/ws/v1/cluster/scheduler")
	r.get("appstatistics "+label, "rm", "/ws/v1/cluster/appstatistics?states=FINISHED&applicationTypes=MAPREDUCE")
}

// run runs a job and asks while it runs: everything, or only how it is changed and killed.
func (r *recorder) run(ctx context.Context, yarn *minihdfs.Yarn, output string, toItsEnd bool) (job string) {
	r.t.Helper()
	ended := make(chan error, 1)
	go func() {
		var err error
		job, _, err = yarn.Stream(ctx, "-D", "mapreduce.job.reduces=1", "-D", "mapreduce.job.maps=2", "-D", "mapreduce.job.reduce.slowstart.completedmaps=0",
			"-mapper", script(r.t, "mapper", "8"), "-reducer", script(r.t, "reducer", "8"), "-input", "/input", "-output", output)
		ended <- err
	}()
	r.await("rm", "/ws/v1/cluster/apps?states=RUNNING", "application_")
	var list struct {
		Apps struct{ App []struct{ ID string } }
	}
	if err := json.Unmarshal(r.get("apps RUNNING", "rm", "/ws/v1/cluster/apps?states=RUNNING"), &list); err != nil || len(list.Apps.App) != 1 {
		r.t.Fatalf("%v: %+v", err, list)
	}
	account, err := user.Current()
	must.Do(r.t, err)
	app := list.Apps.App[0].ID
	of := "/ws/v1/cluster/apps/" + app
	number := strings.TrimPrefix(app, "application_")
	if toItsEnd {
		r.await("rm", "/proxy/"+app+"/ws/v1/mapreduce/jobs/job_"+number+"/tasks/task_"+number+"_r_000000/attempts", "RUNNING")
		r.apps("running", app)
		r.node(app)
		root := "/proxy/" + app + "/ws/v1/mapreduce"
		r.get("mapreduce", "rm", root)
		r.get("mapreduce/info", "rm", root+"/info")
		r.jobs("am", "rm", root, "job_"+number)
		r.get("attempt state", "rm", root+"/jobs/job_"+number+"/tasks/task_"+number+"_m_000000/attempts/attempt_"+number+"_m_000000_0/state")
	} else {
		for _, put := range [][3]string{
			{"state", "nonsense", `{"state":"NONSENSE"}`}, {"state", "accepted", `{"state":"ACCEPTED"}`}, {"state", "empty", `{}`}, {"state", "malformed", `{`},
			{"queue", "", `{"queue":"root.other"}`}, {"queue", "wrong", `{"queue":"none.of.these"}`}, {"priority", "", `{"priority":8}`}, {"state", "kill", `{"state":"KILLED"}`},
		} {
			r.ask(strings.TrimSpace(put[0]+" put "+put[1]), "rm", http.MethodPut, of+"/"+put[0]+"?user.name="+account.Username, "application/json", put[2])
		}
	}
	if err := <-ended; err != nil && toItsEnd {
		r.t.Fatal(err)
	}
	if !toItsEnd {
		r.await("rm", of, "finalStatus")
		r.get("app killed", "rm", of)
	}
	return job
}

// lines returns a line for each path, sorted.
func (s shape) lines() (lines []string) {
	for path, kind := range s {
		lines = append(lines, path+" "+kind)
	}
	slices.Sort(lines)
	return lines
}

// formatGolden returns the content of the golden file.
func formatGolden(all map[string]shape) string {
	var out strings.Builder
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&out, "== %s\n%s\n\n", name, strings.Join(all[name].lines(), "\n"))
	}
	return out.String()
}
