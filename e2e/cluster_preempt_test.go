package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/docs/report/reporttest"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/mr"
)

// outputTree returns every file below a directory by its relative name.
func outputTree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	tree := make(map[string][]byte)
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		tree[name] = readFile(t, path)
		return err
	}))
	return tree
}

// wantSameTree compares the output of a job with that of an undisturbed run.
func wantSameTree(t *testing.T, got, want string) {
	t.Helper()
	g, w := outputTree(t, got), outputTree(t, want)
	if names := slices.Sorted(maps.Keys(w)); !slices.Equal(slices.Sorted(maps.Keys(g)), names) {
		t.Fatalf("%s has %q, a run in peace %q", got, slices.Sorted(maps.Keys(g)), names)
	}
	for name := range w {
		if !bytes.Equal(g[name], w[name]) {
			t.Errorf("%s has %d bytes that differ from the %d of a run in peace", name, len(g[name]), len(w[name]))
		}
	}
}

// preempted is a job whose attempts the test preempts.
type preempted struct {
	*engine
	id string
}

// attempts returns the attempts of a kind that are in a state.
func (j *preempted) attempts(kind report.Kind, state report.State) (found []report.Attempt) {
	for _, task := range j.job(j.id).Tasks {
		for _, a := range task.Attempts {
			if task.Type == kind && a.State == state {
				found = append(found, a)
			}
		}
	}
	return found
}

// order preempts an attempt, and reports whether it is accepted.
func (e *engine) order(attempt, mode string) bool {
	_, err := e.cluster.Client().Change(e.t.Context(), wire.NewChange("attempt.preempt", attempt, mode))
	return err == nil
}

// preempt preempts a running attempt and returns its id. It tries another one if the attempt
// ends first or declines.
func (j *preempted) preempt(kind report.Kind, mode string) (attempt string) {
	j.t.Helper()
	waitUntil(j.t, "an attempt is preempted by "+mode, func() bool {
		for _, a := range j.attempts(kind, report.Running) {
			if j.order(a.ID, mode) {
				attempt = a.ID
				return true
			}
		}
		return false
	})
	return attempt
}

// succeeds waits for the job. No attempt may fail, no task may finish twice, and work is
// lost only for attempts that were preempted by kill.
func (j *preempted) succeeds(killed ...string) {
	j.t.Helper()
	j.awaitSuccess(j.id)
	doc := j.job(j.id)
	if len(doc.Failures) > 0 {
		j.t.Errorf("failures %+v", doc.Failures)
	}
	reporttest.FinishedOnce(j.t, doc)
	if lost := doc.Counters[counter.GroupJob][counter.WorkLostMillis.Name]; (lost > 0) != (len(killed) > 0) {
		j.t.Errorf("%d ms of work are lost, with %q killed", lost, killed)
	}
}

// preemptible makes tasks last long enough for orders to reach them.
var preemptible = slices.Concat([]string{"-D", "hammr.debug.record.sleep=10ms", "-D", "hammr.preempt.boundary.timeout=1m"}, manySplits)

// manySplits divides the input of a job without reduces into many splits.
var manySplits = []string{"-D", "mapreduce.input.fileinputformat.split.maxsize=20k"}

// fewWords creates a file of that many lines, so that maps last, and that many distinct
// words, so that reduces last.
func fewWords(t *testing.T, lines, words int) string {
	var text bytes.Buffer
	for i := range lines {
		for k := range 1 + i%7 {
			fmt.Fprintf(&text, "%s ", word(uint64((i*31+k*17)%words)))
		}
		text.WriteByte('\n')
	}
	return newFile(t, "words", text.Bytes())
}

// TestPreemptedSuspendedAndDrained preempts a job by every mode. Its output equals that of
// an undisturbed run, and only killed attempts run again.
func TestPreemptedSuspendedAndDrained(t *testing.T) {
	t.Parallel()
	e := sharedEngine(t, threeMasters)
	in, dir := fewWords(t, 1600, 700), t.TempDir()
	out, want := filepath.Join(dir, "out"), filepath.Join(dir, "want")
	done(t, "run", "wordcount", "-D", "mapreduce.job.reduces=2", "--quiet", in, want)
	j := &preempted{e, e.submit(slices.Concat([]string{"wordcount", "-D", "mapreduce.job.reduces=2"}, preemptible, []string{in, out})...)}

	split := j.preempt(report.Map, "split")
	start(t, e.command("task", "preempt", split, "--how", "split")).wait(t).want(t, 1, split)
	j.preempt(report.Map, "checkpoint")
	j.preempt(report.Map, "suspend")
	killed := j.preempt(report.Map, "kill")
	e.done("job", "suspend", j.id)
	waitUntil(t, "nothing of a suspended job runs", func() bool {
		return len(j.attempts(report.Map, report.Running))+len(j.attempts(report.Reduce, report.Running)) == 0
	})
	e.done("job", "resume", j.id)
	waitUntil(t, "the maps are done", func() bool { return len(e.finishedMaps(j.id)) > 0 })
	j.preempt(report.Reduce, "checkpoint")
	j.preempt(report.Reduce, "suspend")

	first, second := e.state.Tasknodes[0].Name, e.state.Tasknodes[1].Name
	e.done("node", "drain", first, "--deadline", "60s")
	start(t, e.command("node", "drain", second, "--deadline", "60s")).wait(t).want(t, 1, "no other tasknode takes tasks")
	j.succeeds(killed)
	wantSameTree(t, out, want)
	e.done("node", "add", first)
	over := j.attempts(report.Map, report.Succeeded)[0].ID
	start(t, e.command("task", "preempt", over, "--how", "split")).wait(t).want(t, 1, over, "does not run")
}

// shout is a job without reduces that writes to two outputs.
var shout = func() *mr.Job[struct{}, []byte, struct{}, []byte] {
	var short *mr.NamedOutput[string, int64]
	mapper := mr.MapFunc(func(t *mr.Task, offset int64, line []byte, out mr.Emitter[struct{}, []byte]) error {
		out.Emit(struct{}{}, bytes.ToUpper(line))
		if len(line) > 40 {
			return nil
		}
		return short.Emit(t, string(line), offset)
	})
	job := mr.MapOnly("shout", mr.TextLines(), mapper, mr.TextOutput[struct{}, []byte]())
	short = mr.AddOutput(job, "short", mr.TextOutput[string, int64]())
	return job
}()

// TestMapsOfNamedOutputsArePreempted splits, checkpoints and moves maps that write the final
// output. Each part is named after the original task and consists of the pieces in the order
// of the input.
func TestMapsOfNamedOutputsArePreempted(t *testing.T) {
	t.Parallel()
	e := newEngine(t, "--tasknodes", "2")
	in, dir := proseFile(t, "prose", 50<<10), t.TempDir()
	out, want := filepath.Join(dir, "out"), filepath.Join(dir, "want")
	startProgram(t, "shout", "--quiet", preemptible[4], preemptible[5], in, want).wait(t).want(t, 0)
	j := &preempted{e, e.submitProgram("shout", slices.Concat(preemptible, []string{in, out})...)}
	j.preempt(report.Map, "split")
	j.preempt(report.Map, "checkpoint")
	j.preempt(report.Map, "split")
	e.done("node", "drain", e.state.Tasknodes[1].Name, "--deadline", "60s")
	j.succeeds()
	wantSameTree(t, out, want)
	if names := slices.Sorted(maps.Keys(outputTree(t, out))); !slices.Contains(names, "short-m-00000") || slices.Contains(names, "part-m-00003") {
		t.Errorf("output %q", names)
	}
}

// TestACheckpointOutlivesItsMachine kills the machine with the checkpoint of a reduce. The
// reduce resumes on another machine, from the copy in the output's file system.
func TestACheckpointOutlivesItsMachine(t *testing.T) {
	t.Parallel()
	e := newEngineWithout(t)
	e.newNode("maps", "--dir", t.TempDir(), "--map-slots", "4", "--reduce-slots", "0")
	lost := e.newNode("lost", "--dir", t.TempDir(), "--map-slots", "0", "--reduce-slots", "1")
	in, dir := fewWords(t, 500, 500), t.TempDir()
	out, want := filepath.Join(dir, "out"), filepath.Join(dir, "want")
	done(t, "run", "wordcount", "--quiet", in, want)
	j := &preempted{e, e.submit(slices.Concat([]string{"wordcount", "-D", "hammr.preempt.checkpoint.copies=output"}, preemptible, []string{in, out})...)}
	counter := func(name string) int64 { return e.job(j.id).Counters["Map-Reduce Framework"][name] }
	waitUntil(t, "the maps are done and the reduce runs", func() bool {
		return len(e.finishedMaps(j.id)) > 0 && len(j.attempts(report.Reduce, report.Running)) > 0
	})
	e.done("node", "remove", "lost") // a slot that becomes free there is not used
	first := j.preempt(report.Reduce, "checkpoint")
	waitUntil(t, "the reduce is paused", func() bool { return len(j.attempts(report.Reduce, report.Preempted)) > 0 })
	lost.kill()
	e.newNode("spare", "--dir", t.TempDir(), "--map-slots", "0", "--reduce-slots", "1")
	j.succeeds()
	wantSameTree(t, out, want)
	last := j.attempts(report.Reduce, report.Succeeded)[0]
	if last.ID == first || last.Tasknode != "spare" {
		t.Errorf("the reduce was paused as %s and finished as %+v", first, last)
	}
	// Reduces count a group when they process it. If an attempt had started over, the numbers
	// of groups and records would differ.
	if groups, records := counter("Reduce input groups"), counter("Reduce output records"); groups == 0 || groups != records {
		t.Errorf("%d groups, %d records of output", groups, records)
	}
	if n := len(j.attempts(report.Reduce, report.Killed)) + len(j.attempts(report.Reduce, report.Failed)); n > 0 {
		t.Errorf("%d attempts began from a checkpoint of no use", n)
	}
}

// TestReducesThatWriteToHDFSAreSuspended suspends reduces again and again while they write to
// HDFS. Each continues in another file, and the output equals that of an undisturbed run.
//
// Gate: TestPreemptedSuspendedAndDrained, internal/task.TestSuspendsWithoutOpenRemoteFiles, internal/task.TestOutputClosesItsPieceWhileSuspended
func TestReducesThatWriteToHDFSAreSuspended(t *testing.T) {
	testlevel.Nightly(t)
	w := newWeb(t, cluster(t))
	dir := w.dir()
	w.put(dir+"/in", readFile(t, binaryLines(t, "lines", 512<<10)))
	name := w.c.URI() + dir
	sort := []string{"sort", "-D", "mapreduce.job.reduces=2", "-D", "mapreduce.input.fileinputformat.split.maxsize=100k"}
	done(t, slices.Concat([]string{"run"}, sort, []string{"--quiet", name + "/in", name + "/want"})...)
	e := newEngine(t, "--tasknodes", "2")
	j := &preempted{e, e.submit(slices.Concat(sort, []string{"-D", "hammr.debug.record.sleep=500us", name + "/in", name + "/out"})...)}
	for range 4 {
		j.preempt(report.Reduce, "suspend")
	}
	j.succeeds()
	wantSame(t, w.parts(dir+"/out", 2), w.parts(dir+"/want", 2))
}
