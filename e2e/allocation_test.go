package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/docs/report/reporttest"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// allocations are several allocations of one program. Their nodes are directories of this
// machine, and a shell runs what a node is to run.
type allocations struct {
	t     *testing.T
	state string
	args  []string // of `hammr oar run`, the program among them
	env   []string
}

// newAllocations returns allocations for a program.
func newAllocations(t *testing.T, program ...string) *allocations {
	t.Helper()
	a := &allocations{t: t, state: filepath.Join(t.TempDir(), "state")}
	a.args = slices.Concat([]string{"oar", "run", "--state", a.state, "--shell", "sh -c", "--set", "tasknode.heartbeat=200ms", "--save-before", "30s", "--"}, program)
	return a
}

// start starts an allocation with the environment that OAR gives to a job: a line of the node
// file for each core.
func (a *allocations) start(job int, nodes ...string) *process {
	a.t.Helper()
	file := newFile(a.t, fmt.Sprintf("nodes%d", job), []byte(strings.Join(nodes, "\n")+"\n"))
	return start(a.t, command{daemon: true, args: a.args, env: slices.Concat(a.env, []string{
		fmt.Sprintf("OAR_JOB_ID=%d", job), "OAR_NODEFILE=" + file, "OAR_JOB_WALLTIME_SECONDS=600",
	})})
}

// job returns the status of the first job of the present allocation, nil before there is one.
func (a *allocations) job() *wire.JobStatus {
	a.t.Helper()
	masters, err := os.ReadFile(filepath.Join(a.state, "masters"))
	if err != nil {
		return nil
	}
	token, err := rpc.ReadToken(filepath.Join(a.state, "token"))
	if err != nil {
		return nil
	}
	_, port, _ := strings.Cut(strings.TrimSpace(string(masters)), ":") // names of nodes are known on nodes only
	c, err := remote.New(remote.Config{Config: rpc.Config{Masters: []string{"127.0.0.1:" + port}, Token: token}})
	must.Do(a.t, err)
	defer c.Close()
	ctx, cancel := context.WithTimeout(a.t.Context(), time.Second)
	defer cancel()
	jobs, err := docs.AllJobs.From(ctx, c, docs.AllQuery{})
	if err != nil || len(jobs) == 0 {
		return nil
	}
	job, err := docs.Status.From(ctx, c, docs.JobID{Job: jobs[0].JobID})
	if err != nil {
		return nil
	}
	return job
}

// preempting waits until a number of attempts that run are to be preempted.
func (a *allocations) preempting(want int) {
	a.t.Helper()
	waitUntil(a.t, fmt.Sprintf("%d attempts are to be preempted", want), func() bool {
		n := 0
		for _, task := range a.job().GetTasks() {
			for _, attempt := range task.Attempts {
				if attempt.State == wire.AttemptState_ATTEMPT_RUNNING && attempt.Preempting {
					n++
				}
			}
		}
		return n >= want
	})
}

// once checks the reports of jobs that several allocations have run: every task has finished once,
// and no attempt has lost any work.
func once(t *testing.T, state string, jobs int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(state, "jobs", "*.json"))
	must.Do(t, err)
	if len(files) != jobs {
		t.Fatalf("%d reports: %q", len(files), files)
	}
	for _, file := range files {
		doc, err := report.ReadFile(file)
		must.Do(t, err)
		preempted := reporttest.FinishedOnce(t, doc)
		lost := doc.Counters[counter.GroupJob][counter.WorkLostMillis.Name]
		if doc.State != report.Succeeded || lost != 0 || len(doc.Failures) > 0 || preempted == 0 {
			t.Errorf("%s: %s, %d ms of work are lost, failures %+v, %d attempts were preempted", doc.JobID, doc.State, lost, doc.Failures, preempted)
		}
		t.Logf("%s: %d tasks, %d attempts were preempted, %d ms of work lost", doc.Name, len(doc.Tasks), preempted, lost)
	}
}

// TestAllocationIsContinued runs a job in three allocations, with three, two and four nodes. A
// signal ends the first one while maps run, and the second one while reduces run: the tasks wait at
// doors, which open when the masters have ordered the checkpoints.
func TestAllocationIsContinued(t *testing.T) {
	t.Parallel()
	in, dir, d := fewWords(t, 300, 250), t.TempDir(), newDoorsOf(t, 3, 2)
	const reduces = "mapreduce.job.reduces=2"
	out, want := filepath.Join(dir, "out"), d.peace(in, "-D", reduces)
	self, err := os.Executable()
	must.Do(t, err)
	// A record takes so long that no attempt is at its end before it reads the order.
	slow := []string{"-D", "hammr.debug.record.sleep=10ms", "-D", "hammr.preempt.boundary.timeout=1m"}
	a := newAllocations(t, append([]string{self}, d.args(in, out, append(slow, "-D", reduces)...)...)...)
	a.env = []string{programEnv + "=doored"}

	p := a.start(1, "a", "b", "c")
	d.wait(0, 1, 2) // a node has one core, so one slot
	d.open(0)
	waitUntil(t, "a map is done", func() bool { return a.job().GetMapsDone() == 1 })
	must.Do(t, p.cmd.Process.Signal(syscall.SIGUSR2))
	a.preempting(2)
	d.open(1, 2)
	waitUntil(t, "the jobs are saved and the cluster has ended", func() bool {
		_, saved := os.Stat(filepath.Join(a.state, "saved-1", "n3"))
		_, err := os.Stat(filepath.Join(a.state, "masters"))
		return saved == nil && err != nil
	})
	must.Do(t, p.cmd.Process.Signal(syscall.SIGTERM)) // OAR resubmits only jobs that ran for a minute; this one need not wait
	p.wait(t).want(t, 99, "signal user defined signal 2: suspending all jobs and saving them to "+a.state, "saved 1 jobs, ")

	other := newAllocations(t, "wordcount", in, out)
	other.args[3] = a.state
	other.start(2, "a").wait(t).want(t, 1, "is that of another program, ", "saved by job 1")

	p = a.start(3, "d", "d", "b")
	d.wait(3, 4)
	must.Do(t, p.cmd.Process.Signal(syscall.SIGTERM))
	a.preempting(2)
	d.open(3, 4)
	p.wait(t).want(t, 99, "as job 1 has saved it", "n3 on node d has ", "3 tasknodes on 2 nodes of OAR job 3", "saved 1 jobs, ")

	a.args = slices.Insert(a.args, 2, "--masters", "3")
	p = a.start(4, "a", "b", "c", "e")
	p.wait(t).want(t, 0, "as job 3 has saved it", "3 masters and 4 tasknodes on 4 nodes", "completed successfully", ": SUCCEEDED, ")
	wantSameTree(t, out, want)
	once(t, a.state, 1)
	for _, name := range []string{"state.json", "masters", "token", "staging", "claims"} {
		if _, err := os.Stat(filepath.Join(a.state, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(a.state, "saved-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestNoAllocation checks the errors of commands that no scheduler has started.
func TestNoAllocation(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	run(t, "slurm", "run", "--state", state, "--", "wordcount", "in", "out").want(t, 1, "SLURM_JOB_NODELIST is not set: this is not a job of Slurm; run the command in a job script")
	run(t, "oar", "run", "--state", state, "--", "wordcount", "in", "out").want(t, 1, "OAR_NODEFILE is not set: this is not a job of OAR")
	run(t, "oar", "run", "--", "wordcount", "in", "out").want(t, 2, `required flag(s) "state" not set`)
	run(t, "oar", "run", "--state", state, "--", "no-such-program").want(t, 2, "neither a file that can be run nor a bundled program")
	if _, err := os.Stat(state); err == nil {
		t.Errorf("%s was made", state)
	}
}
