package local

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/logs/profile"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errStopped = errors.New("stopped")

// simulate runs two jobs in competition, of which the second is half as large, up to a time in ms; 0 for
// the end. The first has maps maps. It returns the cluster and its last time.
func simulate(tb testing.TB, machines, maps int, until int64) (docs.Source, func() time.Time, int) {
	tb.Helper()
	follower, err := Follow("sim")
	must.Do(tb, err)
	var running sync.WaitGroup
	ctx, end := context.WithCancel(context.Background())
	running.Go(func() { follower.Run(ctx) })
	tb.Cleanup(func() { end(); running.Wait() })
	w := &workload.Workload{Name: "test"}
	for n, id := range []string{"first", "second"} {
		j := workload.Job{ID: id, Name: id, Pool: "pool-" + id, Submit: int64(n) * 5000}
		for i := range maps / (n + 1) {
			j.Maps = append(j.Maps, workload.Task{Millis: 10_000 + int64(i%7)*1000, Bytes: 64 << 20})
		}
		j.Reduces = []workload.Task{{Millis: 3000, Bytes: 1 << 20}}
		w.Jobs = append(w.Jobs, j)
	}
	policy, err := registry.New("hfsp", nil, sched.Setup{})
	must.Do(tb, err)
	entries := 0
	_, err = sim.Run(ctx, sim.Config{Policy: policy, Machines: machines, MapSlots: 4, ReduceSlots: 2, OnEntries: func(batch []cluster.Entry) error {
		if until > 0 && len(batch) > 0 && batch[0].At > until {
			return errStopped
		}
		entries += len(batch)
		return follower.Apply(ctx, batch)
	}}, w)
	if err != nil && !errors.Is(err, errStopped) {
		tb.Fatal(err)
	}
	return follower.Source("sim", "hfsp"), follower.Now, entries
}

// TestSimulatedClusterHasPages shows a cluster in the middle of a run and at its end.
func TestSimulatedClusterHasPages(t *testing.T) {
	for until, states := range map[int64][2]string{25_000: {"RUNNING", "RUNNING"}, 0: {"SUCCEEDED", "SUCCEEDED"}} {
		source, now, entries := simulate(t, 10, 200, until)
		jobs, err := docs.Jobs.Read(t.Context(), source, docs.JobQuery{Page: docs.Page{Sort: "jobId"}})
		if err != nil || jobs.Value.Total != 2 {
			t.Fatalf("%+v, %v", jobs, err)
		}
		for n, j := range jobs.Value.Jobs {
			tasks, err := docs.Tasks.Read(t.Context(), source, docs.TaskQuery{Job: j.JobID, Type: "MAP"})
			events, err2 := docs.Events.Read(t.Context(), source, docs.TaskID{Job: j.JobID})
			report, err3 := docs.Job.Read(t.Context(), source, docs.JobID{Job: j.JobID})
			must.Do(t, errors.Join(err, err2, err3))
			if j.State != states[n] || string(report.Value.State) != states[n] || j.Name != []string{"first", "second"}[n] || tasks.Value.Total < 200/(n+1) || len(events.Value.Events) == 0 || events.Value.Since != 0 || !tasks.At.Equal(now()) {
				t.Errorf("after %d entries: %+v; %+v; %d events since %d; as of %v, now %v", entries, j, tasks.Value, len(events.Value.Events), events.Value.Since, tasks.At, now())
			}
		}
		nodes, err := docs.Nodes.Read(t.Context(), source, docs.No{})
		pools, err2 := docs.Pools.Read(t.Context(), source, docs.No{})
		if err := errors.Join(err, err2); err != nil || len(nodes.Value) != 10 || nodes.Value[0].MapSlots != 4 || len(pools.Value) != 2 || (pools.Value[0].Running.Map > 0) != (until > 0) {
			t.Errorf("%+v, %+v, %v", nodes, pools, err)
		}
	}
}

// TestPagesAreForReadingOnly asks as an anonymous reader.
func TestPagesAreForReadingOnly(t *testing.T) {
	source, now, _ := simulate(t, 10, 8, 0)
	for _, address := range []string{"0.0.0.0:0", "127.0.0.1", "example.org:80", ":0"} {
		if _, _, err := Serve(source, "test", address, now); err == nil || !strings.Contains(err.Error(), "loopback") {
			t.Errorf("%s: %v", address, err)
		}
	}
	root, stop, err := Serve(source, "test", "127.0.0.1:0", now)
	must.Do(t, err)
	defer stop()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for path, want := range map[string]string{
		"/": "Overview", "/jobs": "first", "/jobs/job_sim_0001": "SUCCEEDED", "/jobs/job_sim_0001/tasks": "p95", "/jobs/job_sim_0001/tasks/task_sim_0001_m_000000": "It started at the beginning of its input.",
		"/nodes": "n0001", "/pools": "pool-first", "/masters": "local", "/scheduler": "hfsp",
	} {
		answer, err := client.Get(root + path)
		must.Do(t, err)
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s: status %d, %v, want %q: %.3000s", path, answer.StatusCode, err, want, body)
		}
	}
	answer, err := client.PostForm(root+"/api/v1/jobs/job_sim_0001/kill", url.Values{})
	must.Do(t, err)
	answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized && answer.StatusCode != http.StatusForbidden {
		t.Errorf("kill: status %d", answer.StatusCode)
	}
	if _, err := source.Change(t.Context(), docs.Change{Do: "job.kill", ID: "job_sim_0001"}); !errors.Is(err, docs.ErrRefused) {
		t.Errorf("kill: %v", err)
	}
}

// TestProfilesOfThisProcess takes profiles on the pages of a jobmaster in this process, and on those of a
// simulation, which has no processes.
func TestProfilesOfThisProcess(t *testing.T) {
	follower, err := Follow("engine")
	must.Do(t, err)
	engine := Engine(follower.master, "engine")
	stacks := docs.ProfileQuery{Object: "node", ID: "n1", Query: profile.Query{Kind: profile.Stacks}}
	got, err := engine.Profile(t.Context(), stacks)
	if err != nil || !strings.Contains(string(got.Bytes), "local.TestProfilesOfThisProcess") || !strings.Contains(got.Note, "all attempts run in it") {
		t.Errorf("%.300q, note %q, %v", got.Bytes, got.Note, err)
	}
	must.Do(t, pprof.StartCPUProfile(io.Discard))
	_, err = engine.Profile(t.Context(), docs.ProfileQuery{Object: "node", ID: "n1", Query: profile.Query{Kind: profile.CPU, Seconds: 1}})
	pprof.StopCPUProfile()
	if !errors.Is(err, docs.ErrRefused) {
		t.Errorf("while the program profiles itself: %v", err)
	}
	attempt := docs.ProfileQuery{Object: "attempt", ID: "attempt_sim_0001_m_000000_0", Query: stacks.Query}
	if _, err := engine.Profile(t.Context(), attempt); !errors.Is(err, docs.ErrUnknown) {
		t.Errorf("an attempt that is not there: %v", err)
	}
	for until, want := range map[int64]string{8000: "no running processes", 0: "is over"} {
		source, _, _ := simulate(t, 10, 8, until)
		if got, err := source.Profile(t.Context(), attempt); !errors.Is(err, docs.ErrRefused) || !strings.Contains(err.Error(), want) || len(got.Bytes) > 0 {
			t.Errorf("simulated until %d: %.300q, %v", until, got.Bytes, err)
		}
	}
}
