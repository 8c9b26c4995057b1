package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/testing/must"
)

// ownProgram is the program that userProgram returns.
var ownProgram struct {
	sync.Once
	path string
	err  error
}

// userProgram returns a program that is built as a user does. The first test that needs it builds it.
func userProgram(t *testing.T) string {
	t.Helper()
	p := &ownProgram
	p.Do(func() {
		p.path = filepath.Join(filepath.Dir(hammr), "mywords")
		build := exec.Command("go", "build", "-o", p.path, "github.com/hammr/hammr/examples/cmd/wordcount")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			p.err = fmt.Errorf("a user's program cannot be built: %w\n%s", err, out)
		}
	})
	must.Do(t, p.err)
	return p.path
}

// TestSubmit submits a bundled program and a user's own program, and compares all documents
// of the job.
func TestSubmit(t *testing.T) {
	t.Parallel()
	e := sharedEngine(t, oneOfEach)
	in, dir := newFile(t, "in", []byte("a b a\n")), t.TempDir()
	var submitted []string
	for name, program := range map[string]string{"bundled": "wordcount", "own": userProgram(t)} {
		out := filepath.Join(dir, name)
		id := strings.TrimSpace(e.done("submit", program, "-D", "mapreduce.job.queuename=nightly", "-D", "mapreduce.job.reduces=2", in, out).stdout)
		e.done("job", "wait", id, "--quiet")
		submitted = append(submitted, id)
		if got := string(parts(t, out, 2)); !strings.Contains(got, "a\t2\n") {
			t.Errorf("%s wrote %q", name, got)
		}
		host, err := os.Hostname()
		must.Do(t, err)
		doc := e.shown(id)
		if doc.Queue != "nightly" || doc.Priority != "NORMAL" || doc.User != "tester" || doc.SubmitHost != host || doc.Configuration["mapreduce.job.reduces"] != "2" {
			t.Errorf("document of %s: %+v", id, doc)
		}
	}
	file := filepath.Join(dir, "report")
	e.done("run", "wordcount", "--quiet", "--report", file, "-D", "mapreduce.job.priority=HIGH", in, filepath.Join(dir, "run"))
	want, err := report.Parse(readFile(t, file))
	must.Do(t, err)
	if got := e.done("job", "status", "--json", want.JobID).stdout; got != string(readFile(t, file)) || want.Priority != "HIGH" {
		t.Errorf("the job's status is\n%s\nits report is\n%s", got, readFile(t, file))
	}
	if got := e.done("job", "list", "--state", "succeeded", "--queue", "nightly", "--user", "tester").stdout; !strings.Contains(got, submitted[0]) || !strings.Contains(got, submitted[1]) || strings.Contains(got, want.JobID) {
		t.Errorf("jobs of a queue, want %q:\n%s", submitted, got)
	}
}

// TestUnsubmittablePrograms runs programs that end without submitting a job.
func TestUnsubmittablePrograms(t *testing.T) {
	t.Parallel()
	e := sharedEngine(t, oneOfEach)
	before := len(e.jobs(true))
	own := userProgram(t)
	image := readFile(t, own)
	image[18], image[19] = 43, 0 // EM_SPARCV9
	foreign := filepath.Join(t.TempDir(), "foreign")
	must.Do(t, os.WriteFile(foreign, image, 0o755))
	for name, c := range map[string]struct {
		args []string
		code int
		text string
	}{
		"another architecture": {[]string{foreign, "in", "out"}, 1, "a program for sparcv9, and this machine is"},
		"not executable":       {[]string{newFile(t, "program", image), "in", "out"}, 1, "not executable"},
		"not there":            {[]string{"./none", "in", "out"}, 1, "./none: no such file"},
		"ends at once":         {[]string{own}, 2, "handed in no job and ended with exit code 2"},
		"no input":             {[]string{own, "/no/such", t.TempDir() + "/out"}, 1, "Input path does not exist: file:/no/such"},
		"no pool":              {[]string{own, "-D", "mapreduce.job.queuename=weekly", "/etc/hostname", t.TempDir() + "/out"}, 1, `pool "weekly": not one of adhoc, default, nightly`},
		"several jobs":         {[]string{"pagerank", "2", "/etc/hostname", t.TempDir() + "/out"}, 2, "--detach: pagerank runs several jobs"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, e.command(append([]string{"submit"}, c.args...)...)).wait(t)
			r.want(t, c.code, c.text)
		})
	}
	if jobs := e.jobs(true); len(jobs) != before {
		t.Errorf("there were %d jobs, and now %v", before, jobs)
	}
}

// TestJobChangesPoolAndPriority changes the pool and the priority of a running job.
func TestJobChangesPoolAndPriority(t *testing.T) {
	t.Parallel()
	e, d := sharedEngine(t, threeMasters), newDoors(t, 1)
	in, out := newFile(t, "lines", []byte(manyLines(10))), filepath.Join(t.TempDir(), "out")
	id := d.submit(e, in, out)
	d.wait(0)
	start(t, e.command("job", "move", id, "weekly")).wait(t).want(t, 1, `hammr: pool "weekly": not one of adhoc, default, nightly`)
	start(t, e.command("job", "move", "job_1_0001", "nightly")).wait(t).want(t, 1, "Could not find job job_1_0001")
	e.done("job", "move", id, "nightly")
	e.done("job", "priority", id, "VERY_HIGH")
	e.done("master", "transfer") // the next leader has the changes too
	if list := e.done("job", "list", "--queue", "nightly").stdout; !strings.Contains(list, id) || !strings.Contains(list, "VERY_HIGH") {
		t.Errorf("jobs:\n%s", list)
	}
	d.open(0)
	e.awaitSuccess(id)
	if again := e.repeated(id); again != 0 {
		t.Errorf("%d attempts were made again", again)
	}
	start(t, e.command("job", "move", id, "default")).wait(t).want(t, 1, "is SUCCEEDED")
}

// repeated returns the number of attempts of a job beyond the first of each task.
func (e *engine) repeated(id string) (again int) {
	e.t.Helper()
	for _, task := range e.job(id).Tasks {
		again += len(task.Attempts) - 1
	}
	return again
}

// TestNodeTakenOutOfWork removes a tasknode during a job. Its running tasks finish and
// count, and it gets no new tasks until it is added again.
func TestNodeTakenOutOfWork(t *testing.T) {
	t.Parallel()
	e, d := sharedEngine(t, threeMasters), newDoors(t, 6)
	in, out := newFile(t, "lines", []byte(manyLines(60))), filepath.Join(t.TempDir(), "out")
	want := d.peace(in)
	j := &preempted{e, d.submit(e, in, out)}
	d.wait(0, 1, 2, 3) // all slots; two more maps wait for one
	e.done("node", "remove", "n1")
	before := attemptsOn(e.job(j.id), "n1")
	if got := e.node("n1").State; got != "DECOMMISSIONING" || len(before) != 2 {
		t.Errorf("n1 is %s while it runs %v", got, before)
	}
	e.done("master", "transfer")
	d.open(0, 1, 2, 3, 4, 5)
	j.succeeds()
	wantSameTree(t, out, want)
	if again := e.repeated(j.id); again != 0 {
		t.Errorf("%d attempts were made again", again)
	}
	if after := attemptsOn(e.job(j.id), "n1"); !slices.Equal(before, after) {
		t.Errorf("n1 had %v when it was removed, and has run %v", before, after)
	}
	waitUntil(t, "n1 has no work", func() bool { return e.node("n1").State == "DECOMMISSIONED" })
	start(t, e.command("node", "remove", "n9")).wait(t).want(t, 1, "Could not find node n9")
	e.done("node", "remove", "n2")
	id := e.submit("wordcount", in, out+"2")
	waitUntil(t, "the job says what it waits for", func() bool {
		return strings.Contains(e.job(id).WaitsFor, "map slots; no tasknode that takes tasks has any")
	})
	e.done("node", "add", "n1")
	e.awaitSuccess(id)
	if got := e.node("n1").State; got != "RUNNING" {
		t.Errorf("n1 is %s when it is back", got)
	}
	e.done("node", "add", "n2")
}

// attemptsOn returns the attempts on a tasknode, in order.
func attemptsOn(doc report.Report, node string) (ids []string) {
	for _, task := range doc.Tasks {
		for _, a := range task.Attempts {
			if a.Tasknode == node {
				ids = append(ids, a.ID)
			}
		}
	}
	slices.Sort(ids)
	return ids
}
