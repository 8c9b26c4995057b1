package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// restart restarts a tasknode in place.
func (e *engine) restart(tasknode string) result {
	e.t.Helper()
	return start(e.t, command{args: []string{"node", "restart", "--dir", filepath.Join(e.dir, tasknode)}}).wait(e.t)
}

// restartAll restarts each tasknode in place, which must succeed and must keep the daemon's
// process.
func (e *engine) restartAll() {
	e.t.Helper()
	_, tasknodes := e.cluster.Names()
	for _, name := range tasknodes {
		before, err := e.cluster.Process(name)
		must.Do(e.t, err)
		r := e.restart(name)
		r.want(e.t, 0)
		if !strings.HasPrefix(r.stdout, "Restarted the tasknode in ") || !before.Alive() {
			e.t.Errorf("%s, alive %v: %s", name, before.Alive(), r.stdout)
		}
	}
}

// taskProcesses returns the processes of all tasks by attempt. The working directory of a task is
// that of its attempt.
func (e *engine) taskProcesses() map[string]int {
	found := make(map[string]int)
	_, tasknodes := e.cluster.Names()
	for _, name := range tasknodes {
		for _, pid := range e.cluster.Tasks(name) {
			if dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err == nil {
				found[filepath.Base(dir)] = pid
			}
		}
	}
	return found
}

// openFiles returns how many files a tasknode has open.
func (e *engine) openFiles(tasknode string) int {
	e.t.Helper()
	p, err := e.cluster.Process(tasknode)
	must.Do(e.t, err)
	files, err := os.ReadDir("/proc/" + strconv.Itoa(p.PID) + "/fd")
	must.Do(e.t, err)
	return len(files)
}

// wantOneAttemptEach checks that no task was started twice, and that no machine is suspected.
func (j *preempted) wantOneAttemptEach() {
	j.t.Helper()
	for _, task := range j.job(j.id).Tasks {
		if len(task.Attempts) != 1 {
			j.t.Errorf("%s was started %d times: %+v", task.ID, len(task.Attempts), task.Attempts)
		}
	}
	_, tasknodes := j.cluster.Names()
	for _, name := range tasknodes {
		if status := j.done("node", "status", name).stdout; !strings.Contains(status, "RUNNING") || strings.Contains(status, "Avoided") {
			j.t.Errorf("status of %s:\n%s", name, status)
		}
	}
}

// slowWords makes each record of wordcount take that long.
func slowWords(t *testing.T, e *engine, sleep, split string) (j *preempted, out, want string) {
	t.Helper()
	in, dir := fewWords(t, 1600, 700), t.TempDir()
	out, want = filepath.Join(dir, "out"), filepath.Join(dir, "want")
	done(t, "run", "wordcount", "-D", "mapreduce.job.reduces=2", "--quiet", in, want)
	return &preempted{e, e.submit("wordcount", "-D", "mapreduce.job.reduces=2", "-D", "hammr.debug.record.sleep="+sleep,
		"-D", "mapreduce.input.fileinputformat.split.maxsize="+split, in, out)}, out, want
}

// TestRestartInPlace restarts all tasknodes many times while maps, suspended maps and reduces run.
// All of them continue in their processes. They wait at doors meanwhile.
func TestRestartInPlace(t *testing.T) {
	t.Parallel()
	e, d := sharedEngine(t, threeMasters), newDoorsOf(t, 4, 2)
	const reduces = "mapreduce.job.reduces=2"
	in, out := newFile(t, "lines", []byte(manyLines(200))), filepath.Join(t.TempDir(), "out")
	want := d.peace(in, "-D", reduces)
	j := &preempted{e, d.submit(e, in, out, "-D", reduces)}
	d.wait(0, 1, 2, 3)
	waitUntil(t, "the processes of earlier tests of the cluster have ended", func() bool { return len(e.taskProcesses()) == 4 })
	e.restartKeeps(1, 4)
	files := e.openFiles("n1")
	e.restartKeeps(testlevel.Choose(2, 9), 4)
	waitUntil(t, "descriptors are closed", func() bool { return e.openFiles("n1") <= files+4 }) // connections come and go

	e.done("job", "suspend", j.id, "--how", "suspend") // a checkpoint would need other attempts
	waitUntil(t, "nothing of a suspended job runs", func() bool { return e.rests(j.id) })
	e.restartKeeps(2, 4)
	e.done("job", "resume", j.id)

	d.open(0, 1, 2, 3)
	d.wait(4, 5)
	waitUntil(t, "the processes of maps have ended", func() bool { return len(e.taskProcesses()) == 2 })
	e.restartKeeps(1, 2)
	d.open(4, 5)
	j.succeeds()
	j.wantOneAttemptEach()
	wantSameTree(t, out, want)
}

// manyLines returns a text of different lines.
func manyLines(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "line %04d\n", i*7919%n)
	}
	return text.String()
}

// restartKeeps restarts all tasknodes some times. So many tasks run, and all keep their processes.
func (e *engine) restartKeeps(times, tasks int) {
	e.t.Helper()
	before := e.taskProcesses()
	for range times {
		e.restartAll()
	}
	if after := e.taskProcesses(); len(before) != tasks || !maps.Equal(after, before) {
		e.t.Errorf("tasks ran in %v, and now in %v, want %d", before, after, tasks)
	}
}

// TestRestartInPlaceAmongShortTasks restarts tasknodes all the time while tasks start and end, so
// that restarts meet attempts in each state.
//
// Gate: TestRestartInPlace, tasknode.TestRestoreInTheMiddleOfMessages
func TestRestartInPlaceAmongShortTasks(t *testing.T) {
	testlevel.Nightly(t)
	t.Parallel()
	e := newEngine(t, "--tasknodes", "2")
	j, out, want := slowWords(t, e, "2ms", "500")
	restarts := 0
	for e.job(j.id).State != "SUCCEEDED" {
		e.restartAll()
		restarts++
		if restarts > 500 {
			t.Fatal("the job does not end")
		}
	}
	j.succeeds()
	j.wantOneAttemptEach()
	wantSameTree(t, out, want)
	t.Logf("%d restarts of each tasknode among %d tasks", restarts, len(e.job(j.id).Tasks))
}

// TestRestartInPlaceIsRefused replaces the program of a tasknode by files that cannot replace it.
// The old program continues, and is replaced when its file is good again. After SIGKILL the tasks
// end and run again.
func TestRestartInPlaceIsRefused(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "hammr")
	good := readFile(t, hammr)
	replace := func(content []byte) {
		// Another process writes the file: a child that this one starts meanwhile would keep it open, and
		// the kernel runs no file that is open for writing.
		write := exec.Command("sh", "-c", `cat > "$0.new" && chmod 755 "$0.new" && mv "$0.new" "$0"`, program)
		write.Stdin = bytes.NewReader(content)
		must.Do(t, write.Run())
	}
	replace(good)
	e := newEngineOf(t, program, "--tasknodes", "2")
	in, out, d := newFile(t, "lines", []byte(strings.Repeat("some lines\n", 400))), filepath.Join(t.TempDir(), "out"), newDoors(t, 4)
	want := d.peace(in)
	j := &preempted{e, d.submit(e, in, out)}
	d.wait(0, 1, 2, 3)
	processes := e.taskProcesses()
	for what, c := range map[string]struct{ content, text string }{
		"no program":      {"nothing", "exec format error"},
		"fails":           {"#!/bin/sh\necho no good >&2\nexit 3\n", "no good"},
		"says nothing":    {"#!/bin/sh\n", "answer to --check"},
		"another version": {"#!/bin/sh\necho '{\"handovers\":[7]}'\n", "reads handovers of versions [7]"},
		"another name":    {"#!/bin/sh\necho '{\"handovers\":[1],\"name\":\"x\"}'\n", "the settings now name tasknode x"},
	} {
		replace([]byte(c.content))
		r := e.restart("n1")
		if r.code != 1 || !strings.Contains(r.stderr, c.text) {
			t.Errorf("%s: exit code %d\n%s", what, r.code, r.stderr)
		}
	}
	replace(good)
	e.restart("n1").want(t, 0)
	if after := e.taskProcesses(); len(processes) < 4 || !maps.Equal(after, processes) {
		t.Errorf("tasks ran in %v, and now in %v", processes, after)
	}

	tasks := e.cluster.Tasks("n1")
	if len(tasks) == 0 {
		t.Error("n1 has no tasks")
	}
	must.Do(t, e.cluster.Kill(t.Context(), "n1"))
	waitUntil(t, "the tasks end with their tasknode", func() bool { return !slices.ContainsFunc(tasks, e.running) })
	d.open(0, 1, 2, 3)
	e.awaitSuccess(j.id)
	wantSameTree(t, out, want)
}

// TestRestartWithoutATasknode asks for restarts where there is none.
func TestRestartWithoutATasknode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start(t, command{args: []string{"node", "restart", "--dir", dir}}).wait(t).want(t, 1, "is not the --dir of a tasknode")
	must.Do(t, os.WriteFile(filepath.Join(dir, "lock"), []byte("1234567\n"), 0o600))
	start(t, command{args: []string{"node", "restart", "--dir", dir}}).wait(t).want(t, 1, "no tasknode runs in "+dir)
	run(t, "node", "restart").want(t, 2, "dir")
}
