//go:build accept

package jhist

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hammr/hammr/internal/minihdfs"
)

func TestMain(m *testing.M) { os.Exit(minihdfs.Main(m, minihdfs.Config{DataNodes: 1})) }

// historyServer returns the address of the job of finished in Hadoop's own JobHistoryServer, which
// reads the files of this package.
func historyServer(ctx context.Context, t *testing.T) string {
	t.Helper()
	hdfs, dir := minihdfs.ForTest(t), t.TempDir()
	if _, err := Export(dir, finished()); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-mkdir", "-p", "/ours"}, {"-put", dir, "/ours/ann"}} {
		if out, err := hdfs.RunJava(ctx, "org.apache.hadoop.fs.FsShell", args...); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	yarn, err := minihdfs.StartYarn(ctx, hdfs, minihdfs.YarnConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { yarn.Close() })
	server, err := yarn.StartHistoryServer(ctx, "/ours")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return "http://" + yarn.HistoryAddress() + "/ws/v1/history/mapreduce/jobs/job_1763700000000_0001"
}

// TestOracleReadsTheFiles compares what the JobHistoryServer answers with the job.
func TestOracleReadsTheFiles(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	root := historyServer(ctx, t)
	type counted struct {
		Name                                                   string
		TotalCounterValue, MapCounterValue, ReduceCounterValue int64
	}
	var got struct {
		Job struct {
			State, Name, User, Queue                                                              string
			MapsTotal, MapsCompleted, ReducesTotal, ReducesCompleted                              int
			FailedMapAttempts, KilledMapAttempts, SuccessfulMapAttempts, SuccessfulReduceAttempts int
			SubmitTime, StartTime, FinishTime, AvgShuffleTime                                     int64
		}
	}
	get(ctx, t, root, &got)
	want := got
	want.Job.State, want.Job.Name, want.Job.User, want.Job.Queue = "SUCCEEDED", "word-count é", "ann", "default"
	want.Job.MapsTotal, want.Job.MapsCompleted, want.Job.ReducesTotal, want.Job.ReducesCompleted = 2, 2, 2, 2
	want.Job.FailedMapAttempts, want.Job.KilledMapAttempts, want.Job.SuccessfulMapAttempts, want.Job.SuccessfulReduceAttempts = 1, 1, 2, 2
	want.Job.SubmitTime, want.Job.StartTime, want.Job.FinishTime, want.Job.AvgShuffleTime = 1763700000000, 1763700001000, 1763700010000, 1000
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var counters struct {
		JobCounters struct {
			CounterGroup []struct {
				CounterGroupName string
				Counter          []counted
			}
		}
	}
	get(ctx, t, root+"/counters", &counters)
	values := map[string]counted{}
	for _, g := range counters.JobCounters.CounterGroup {
		for _, c := range g.Counter {
			if c.TotalCounterValue != 0 {
				values[g.CounterGroupName] = c
			}
		}
	}
	if diff := cmp.Diff(map[string]counted{
		"org.apache.hadoop.mapreduce.JobCounter":  {"TOTAL_LAUNCHED_MAPS", 4, 0, 0},
		"org.apache.hadoop.mapreduce.TaskCounter": {"MAP_INPUT_RECORDS", 12, 12, 0},
		"Words": {"long", 5, 2, 3},
	}, values); diff != "" {
		t.Error(diff)
	}
	var tasks struct {
		Tasks struct {
			Task []struct{ ID, State, SuccessfulAttempt string }
		}
	}
	get(ctx, t, root+"/tasks", &tasks)
	if len(tasks.Tasks.Task) != 4 {
		t.Errorf("tasks: %+v", tasks)
	}
	var conf struct {
		Conf struct {
			Property []struct{ Name, Value string }
		}
	}
	get(ctx, t, root+"/conf", &conf)
	for _, p := range conf.Conf.Property {
		if p.Name == "my.password" && p.Value == "hunter2" {
			t.Error("the password is in the file")
		}
	}
}

// get decodes an answer of the server, which reads new files within a few seconds.
func get(ctx context.Context, t *testing.T, url string, into any) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; <-time.After(200 * time.Millisecond) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "application/json")
		r.Close = true
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			if err := json.Unmarshal(text, into); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: status %d: %.500s", url, answer.StatusCode, text)
		}
	}
}
