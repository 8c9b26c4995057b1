package server_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
)

func TestJobRunsThroughTheWire(t *testing.T) {
	r := newRig(t, 1)
	r.node("n1", &launcher{})
	r.node("n2", &launcher{})
	c := r.client()
	id := submit(t, c, 5, 2)
	status := succeeds(t, c, id)
	if status.MapsDone != 5 || status.ReducesDone != 2 || len(status.Tasks) != 7 {
		t.Errorf("status is %v", status)
	}
	for _, k := range status.Counters {
		if k.Name == "tasks" && k.Value != 7 {
			t.Errorf("%d tasks are counted", k.Value)
		}
	}
}

func TestStagedFiles(t *testing.T) {
	r := newRig(t, 1)
	c := r.client()
	submit(t, c, 1, 0)
	submit(t, c, 1, 0)
	programs, err := r.fs.List(t.Context(), "/staging/artifacts")
	if err != nil || len(programs) != 1 {
		t.Fatalf("%d programs are staged, %v", len(programs), err)
	}
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // sha256 of nothing
	if !strings.HasSuffix(programs[0].Path, "/"+empty) {
		t.Errorf("the program is staged as %s", programs[0].Path)
	}
}

// TestExistingOutputFailsTheJob submits a job without the checks of package mr.
func TestExistingOutputFailsTheJob(t *testing.T) {
	r := newRig(t, 1)
	must.Do(t, r.fs.MkdirAll(t.Context(), "/out"))
	c := r.client()
	spec, splits := job(1, 0)
	spec.OutputDir = "mem:/out"
	id, err := c.Submit(t.Context(), spec, splits)
	must.Do(t, err)
	status, err := c.Watch(t.Context(), id, nil)
	if err != nil || status.State != wire.JobState_FAILED || !strings.Contains(status.Cause, "already exists") {
		t.Errorf("status is %v, %v", status, err)
	}
}

func TestRefusedJobLeavesNoSplits(t *testing.T) {
	r := newRig(t, 1)
	spec, splits := job(2, 0)
	spec.Fingerprint = "another"
	_, err := r.client().Submit(t.Context(), spec, splits)
	if err == nil || !strings.Contains(err.Error(), "fingerprint another") {
		t.Errorf("error is %v", err)
	}
	for info, err := range storage.Walk(t.Context(), r.fs, "/staging/jobs") {
		if err != nil || !info.IsDir {
			t.Errorf("%v is left, %v", info, err)
		}
	}
}

func TestOversizedJob(t *testing.T) {
	r := newRig(t, 1)
	spec, splits := job(1, 0)
	spec.Config = make([]byte, 64<<20)
	_, err := r.client().Submit(t.Context(), spec, splits)
	if err == nil || !strings.Contains(err.Error(), "64.0 MiB, more than the 8 MiB") {
		t.Errorf("error is %v", err)
	}
}

func TestKilledJob(t *testing.T) {
	r := newRig(t, 1)
	l := &launcher{release: make(chan struct{}), started: make(chan string, 10)}
	r.node("n1", l)
	c := r.client()
	id := submit(t, c, 1, 0)
	<-l.started
	must.Do(t, c.Kill(t.Context(), id, "because"))
	status, err := c.Watch(t.Context(), id, nil)
	if err != nil || status.State != wire.JobState_KILLED || status.Cause != "because" {
		t.Errorf("status is %v, %v", status, err)
	}
}

func TestAdministration(t *testing.T) {
	r := newRig(t, 2)
	l := &launcher{release: make(chan struct{}), started: make(chan string, 10)}
	r.node("n1", l)
	c, ctx := r.client(), t.Context()
	id := submit(t, c, 1, 0)
	attempt := <-l.started

	check := func(what string, ok bool, err error) {
		t.Helper()
		if !ok || err != nil {
			t.Errorf("%s: %v, error %v", what, ok, err)
		}
	}
	refused := func(what string, err, mark error) {
		t.Helper()
		if !errors.Is(err, mark) {
			t.Errorf("%s: error %v is not %v", what, err, mark)
		}
	}
	info, err := c.Info(ctx)
	check("info", info.GetClusterId() == clusterID && len(info.GetMasters()) == 2, err)
	jobs, err := docs.AllJobs.From(ctx, c, docs.AllQuery{})
	check("jobs", len(jobs) == 1 && jobs[0].JobID == id, err)
	status, err := docs.Status.From(ctx, c, docs.JobID{Job: id})
	check("job", len(status.GetTasks()) == 1, err)
	nodes, err := docs.Nodes.From(ctx, c, docs.No{})
	check("nodes", len(nodes) == 1 && nodes[0].Name == "n1" && len(nodes[0].Attempts) == 1, err)
	policy, err := docs.Policy.From(ctx, c, docs.No{})
	check("policy", policy.Policy == "fifo", err)
	pool, err := docs.Pool.From(ctx, c, docs.PoolID{Pool: "default"})
	check("pool", pool.Name == "default" && pool.Jobs.Running == 1, err)
	why, err := docs.Explanation.From(ctx, c, docs.TaskID{Job: id})
	check("explanation", why.JobID == id && len(why.Stages) > 0, err)
	check("priority", true, client.Change(ctx, c, "job.priority", id, "VERY_HIGH"))
	check("end of an attempt", true, client.Change(ctx, c, "attempt.kill", attempt, ""))
	if again := <-l.started; again == attempt {
		t.Errorf("%s runs again", again)
	}

	_, err = docs.Status.From(ctx, c, docs.JobID{Job: "job_1_0001"})
	refused("unknown job", err, client.ErrUnknown)
	_, err = c.Watch(ctx, "job_1_0001", nil)
	refused("unknown job followed", err, client.ErrUnknown)
	refused("unknown job killed", c.Kill(ctx, "nonsense", ""), client.ErrUnknown)
	_, err = docs.Pool.From(ctx, c, docs.PoolID{Pool: "x/y"})
	refused("unknown pool", err, client.ErrUnknown)
	_, err = docs.Samples.From(ctx, c, docs.SampleQuery{})
	if err == nil || !strings.Contains(err.Error(), "not known here") {
		t.Errorf("a document that each master has: %v", err)
	}
	refused("unknown attempt", client.Change(ctx, c, "attempt.fail", "attempt_1_0001_m_000000_0", ""), client.ErrUnknown)
	refused("attempt that has ended", client.Change(ctx, c, "attempt.fail", attempt, ""), client.ErrRefused)
	if err := client.Change(ctx, c, "job.priority", id, "3"); err == nil || !strings.Contains(err.Error(), "parameter priority") {
		t.Errorf("priority 3: %v", err)
	}
	if err := client.Change(ctx, c, "master.add", "x", "a:1"); err == nil || err.Error() != "no room for x at a:1" {
		t.Errorf("error about a master is %v", err)
	}
	check("transfer", true, client.Change(ctx, c, "master.transfer", "1", ""))
	check("the new leader", r.log.leads() == 1, client.Change(ctx, c, "job.priority", id, "HIGH"))
}
