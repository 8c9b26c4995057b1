package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/testlevel"
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
		must(e.t, err)
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
	must(e.t, err)
	files, err := os.ReadDir("/proc/" + strconv.Itoa(p.PID) + "/fd")
	must(e.t, err)
	return len(files)
}

// attemptsIn returns all attempts of the job in a state.
func (j *preempted) attemptsIn(state report.State) []report.Attempt {
	return append(j.attempts(report.Map, state), j.attempts(report.Reduce, state)...)
}

// restartAllAndCompare restarts all tasknodes some times. Attempts that run before and after a
// restart keep their processes. On a slow machine attempts end in the meantime, but not all of
// them.
func (j *preempted) restartAllAndCompare(times int) {
	j.t.Helper()
	compared := 0
	for range times {
		before := j.taskProcesses()
		j.restartAll()
		compared += j.compareProcesses(before)
	}
	if compared == 0 {
		j.t.Error("no attempt has outlived a restart")
	}
}

// compareProcesses checks that the attempts that ran before and still run have the processes that
// they had, and returns how many these are. The masters may list one whose process has just ended.
func (j *preempted) compareProcesses(before map[string]int) (compared int) {
	j.t.Helper()
	after := j.taskProcesses()
	ended := make(map[string]bool)
	for _, a := range j.attemptsIn(report.Running) {
		pid, ran := before[a.ID]
		now, runs := after[a.ID]
		switch {
		case !ran:
		case !runs:
			ended[a.ID] = true
		default:
			if compared++; now != pid {
				j.t.Errorf("%s ran in process %d, and now in %d", a.ID, pid, now)
			}
		}
	}
	waitUntil(j.t, "attempts without a process are over", func() bool {
		return len(ended) == 0 || !slices.ContainsFunc(j.attemptsIn(report.Running), func(a report.Attempt) bool { return ended[a.ID] })
	})
	return compared
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
// All of them continue in their processes.
func TestRestartInPlace(t *testing.T) {
	t.Parallel()
	e := newEngine(t, "--tasknodes", "2")
	j, out, want := slowWords(t, e, "60ms", "20k")
	waitUntil(t, "maps run", func() bool { return len(e.taskProcesses()) > 1 })
	e.restartAll()
	files := e.openFiles("n1")
	j.restartAllAndCompare(testlevel.Choose(2, 9))
	waitUntil(t, "descriptors are closed", func() bool { return e.openFiles("n1") <= files+4 }) // connections come and go

	e.done("job", "suspend", j.id, "--how", "suspend") // a checkpoint would need other attempts
	waitUntil(t, "nothing of a suspended job runs", func() bool { return e.rests(j.id) })
	processes := e.taskProcesses()
	e.restartAll()
	e.restartAll()
	if after := e.taskProcesses(); !maps.Equal(after, processes) {
		t.Errorf("suspended tasks ran in %v, and now in %v", processes, after)
	}
	e.done("job", "resume", j.id)

	waitUntil(t, "reduces run and all maps are done", func() bool {
		return len(j.attempts(report.Reduce, report.Running)) == 2 && len(j.attempts(report.Map, report.Running)) == 0
	})
	j.restartAllAndCompare(1)
	j.succeeds()
	j.wantOneAttemptEach()
	wantSameTree(t, out, want)
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
		must(t, os.WriteFile(program+".new", content, 0o755))
		must(t, os.Rename(program+".new", program))
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
	must(t, e.cluster.Kill(t.Context(), "n1"))
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
	must(t, os.WriteFile(filepath.Join(dir, "lock"), []byte("1234567\n"), 0o600))
	start(t, command{args: []string{"node", "restart", "--dir", dir}}).wait(t).want(t, 1, "no tasknode runs in "+dir)
	run(t, "node", "restart").want(t, 2, "dir")
}
