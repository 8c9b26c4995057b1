//go:build soak

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
	"golang.org/x/sync/errgroup"
)

const (
	manyTasks  = 100_000
	manyJobs   = 1000
	submitters = 16

	submitLimit = 5 * time.Second
	masterBound = 2 << 30 // bytes of memory
)

// TestSoakScale runs jobs of 100,000 tasks on three masters, while 1,000 jobs wait. The jobs
// have few input files, 100,000 files, and none. It sends the queries of users, kills the
// leader and kills all jobs.
func TestSoakScale(t *testing.T) {
	e := newEngine(t, "--masters", "3", "--tasknodes", "1")
	timed := func(what string, limit time.Duration, f func()) {
		t.Helper()
		began := time.Now()
		f()
		took := time.Since(began)
		t.Logf("%-44s %6.2f s; the leader has %d MiB", what, took.Seconds(), e.memory(e.leader())>>20)
		if took > limit {
			t.Errorf("%s took %v, more than %v", what, took, limit)
		}
	}
	maps := strconv.Itoa(manyTasks)
	var first, second, third string
	timed("a job of 100,000 tasks is accepted", submitLimit, func() {
		first = e.submit("sleep", "-m", maps, "-r", "1", "-mt", "100000")
	})
	in, out := sparseFiles(t, 100, 10<<20), filepath.Join(t.TempDir(), "out")
	timed("another, over 100 files,", submitLimit, func() {
		second = e.submit("wordcount", "-D", "mapreduce.input.fileinputformat.split.maxsize=10k", "-D", "mapreduce.job.reduces=10", in, out)
	})
	many := sparseFiles(t, manyTasks, 100)
	timed("another, over 100,000 files,", submitLimit, func() {
		third = e.submit("wordcount", "-D", "hammr.input.combine=false", "-D", "mapreduce.job.reduces=10", many, out+"2")
	})
	timed("1,000 jobs are accepted", 2*submitLimit, func() { e.queue(manyJobs) })
	timed("one more", submitLimit, func() { e.submit("sleep", "-m", "1", "-r", "0") })
	timed("job list", 2*time.Second, func() { e.wantJobs(manyJobs + 4) })
	timed("job status", time.Second, func() { e.done("job", "status", second) })
	timed("task list", 5*time.Second, func() { e.done("task", "list", second) })
	timed("a new leader after kill -9 tells of all jobs", 5*time.Second, func() {
		must.Do(t, syscall.Kill(e.leader(), syscall.SIGKILL))
		e.wantJobs(manyJobs + 4)
	})
	timed("the large jobs are killed", 10*time.Second, func() {
		e.done("job", "kill", first, second, third)
		for _, id := range []string{first, second, third} {
			start(t, e.command("job", "wait", id, "--quiet")).wait(t)
		}
	})
	for _, m := range e.state.Masters {
		if e.running(m.PID) && e.memory(m.PID) > masterBound {
			t.Errorf("master %s has used %d MiB", m.ID, e.memory(m.PID)>>20)
		}
	}
}

// sparseFiles creates a directory of files that take no disk space.
func sparseFiles(t *testing.T, n int, size int64) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i := range n {
		name := filepath.Join(dir, fmt.Sprintf("file%05d", i))
		must.Do(t, os.WriteFile(name, nil, 0o644))
		must.Do(t, os.Truncate(name, size))
	}
	return dir
}

// queue submits jobs of one map each, several at a time.
func (e *engine) queue(jobs int) {
	e.t.Helper()
	token, err := rpc.ReadToken(filepath.Join(e.dir, localcluster.TokenFile))
	must.Do(e.t, err)
	c, err := remote.New(remote.Config{
		Config: rpc.Config{Masters: e.state.Addresses(), Token: token}, Program: hammr,
		Resolve: func(_ context.Context, name string) (storage.FS, string, error) {
			return local.New(local.Options{}), strings.TrimPrefix(name, "file://"), nil
		},
	})
	must.Do(e.t, err)
	defer c.Close()
	graph := dag.MapReduce(1, 0)
	group, ctx := errgroup.WithContext(e.t.Context())
	group.SetLimit(submitters)
	for n := range jobs {
		group.Go(func() error {
			spec := &wire.JobSpec{
				Name: fmt.Sprintf("small%d", n), Program: "sleep", User: "somebody",
				Graph: taskproc.FromGraph(graph), Fingerprint: graph.Fingerprint(),
			}
			splits := []*taskproc.Split{{Parts: []*taskproc.Split_Part{{Length: 1}}}}
			_, err := c.Submit(ctx, spec, splits)
			return err
		})
	}
	must.Do(e.t, group.Wait())
}

// wantJobs checks the number of jobs in the list.
func (e *engine) wantJobs(n int) {
	e.t.Helper()
	var jobs []struct{ JobID string }
	e.json(&jobs, "job", "list", "--all")
	if len(jobs) != n {
		e.t.Errorf("%d jobs, not %d", len(jobs), n)
	}
}

// memory returns the peak memory of a process, in bytes.
func (e *engine) memory(pid int) int64 {
	e.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must.Do(e.t, err)
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	must.Do(e.t, err)
	return kib << 10
}

// leader returns the pid of the leader.
func (e *engine) leader() int {
	e.t.Helper()
	var status struct{ Leader string }
	e.json(&status, "master", "status")
	for _, m := range e.state.Masters {
		if m.ID == status.Leader {
			return m.PID
		}
	}
	e.t.Fatalf("the leader is %q", status.Leader)
	return 0
}
