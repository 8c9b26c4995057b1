package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/report/reporttest"
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
	return start(a.t, command{args: a.args, env: slices.Concat(a.env, []string{
		fmt.Sprintf("OAR_JOB_ID=%d", job), "OAR_NODEFILE=" + file, "OAR_JOB_WALLTIME_SECONDS=600",
	})})
}

// ask runs a command on the cluster of the present allocation. It returns false if that fails, as
// it does before the cluster is ready.
func (a *allocations) ask(into any, args ...string) bool {
	a.t.Helper()
	masters, err := os.ReadFile(filepath.Join(a.state, "masters"))
	if err != nil {
		return false
	}
	_, port, _ := strings.Cut(strings.TrimSpace(string(masters)), ":") // names of nodes are known on nodes only
	c := command{args: append(args, "--json"), env: []string{"HAMMR_MASTER=127.0.0.1:" + port, "HAMMR_TOKEN_FILE=" + filepath.Join(a.state, "token")}}
	r := start(a.t, c).wait(a.t)
	return r.code == 0 && json.Unmarshal([]byte(r.stdout), into) == nil
}

// running waits until the first job has done so many maps and runs an attempt of a kind.
func (a *allocations) running(kind report.Kind, done int) {
	a.t.Helper()
	waitUntil(a.t, fmt.Sprintf("%d maps are done and an attempt of a %s runs", done, kind), func() bool {
		var jobs []apidoc.Job
		var doc report.Report
		if !a.ask(&jobs, "job", "list") || len(jobs) == 0 || !a.ask(&doc, "job", "status", jobs[0].JobID) {
			return false
		}
		maps, runs := 0, false
		for _, task := range doc.Tasks {
			for _, attempt := range task.Attempts {
				if task.Type == report.Map && attempt.State == report.Succeeded {
					maps++
				}
				runs = runs || task.Type == kind && attempt.State == report.Running
			}
		}
		return maps >= done && runs
	})
}

// once checks the reports of jobs that several allocations have run: every task has finished once,
// and no attempt has lost any work.
func once(t *testing.T, state string, jobs int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(state, "jobs", "*.json"))
	must(t, err)
	if len(files) != jobs {
		t.Fatalf("%d reports: %q", len(files), files)
	}
	for _, file := range files {
		doc, err := report.ReadFile(file)
		must(t, err)
		preempted := reporttest.FinishedOnce(t, doc)
		lost := doc.Counters[counter.GroupJob][counter.WorkLostMillis.Name]
		if doc.State != report.Succeeded || lost != 0 || len(doc.Failures) > 0 || preempted == 0 {
			t.Errorf("%s: %s, %d ms of work are lost, failures %+v, %d attempts were preempted", doc.JobID, doc.State, lost, doc.Failures, preempted)
		}
		t.Logf("%s: %d tasks, %d attempts were preempted, %d ms of work lost", doc.Name, len(doc.Tasks), preempted, lost)
	}
}

// TestAllocationIsContinued runs a job in three allocations, with three, two and four nodes. A
// signal ends the first one while maps run, and the second one while reduces run.
func TestAllocationIsContinued(t *testing.T) {
	t.Parallel()
	in, dir := fewWords(t, 400, 250), t.TempDir()
	out, want := filepath.Join(dir, "out"), filepath.Join(dir, "want")
	done(t, "run", "wordcount", "-D", "mapreduce.job.reduces=2", "--quiet", in, want)
	a := newAllocations(t, slices.Concat([]string{"wordcount", "-D", "mapreduce.job.reduces=2"}, preemptible, []string{"-D", "mapreduce.input.fileinputformat.split.maxsize=3k", in, out})...)

	p := a.start(1, "a", "b", "c")
	a.running(report.Map, 1)
	must(t, p.cmd.Process.Signal(syscall.SIGUSR2))
	waitUntil(t, "the jobs are saved and the cluster has ended", func() bool {
		_, saved := os.Stat(filepath.Join(a.state, "saved-1", "n3"))
		_, err := os.Stat(filepath.Join(a.state, "masters"))
		return saved == nil && err != nil
	})
	must(t, p.cmd.Process.Signal(syscall.SIGTERM)) // OAR resubmits only jobs that ran for a minute; this one need not wait
	p.wait(t).want(t, 99, "signal user defined signal 2: suspending all jobs and saving them to "+a.state, "saved 1 jobs, ")

	other := newAllocations(t, "wordcount", in, out)
	other.args[3] = a.state
	other.start(2, "a").wait(t).want(t, 1, "is that of another program, wordcount -D", "saved by job 1")

	p = a.start(3, "d", "d", "b")
	a.running(report.Reduce, 5)
	must(t, p.cmd.Process.Signal(syscall.SIGTERM))
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
