package e2e

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/mr"
)

// outputTree is every file below a directory, by its name there.
func outputTree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	tree := make(map[string][]byte)
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		tree[name] = readFile(t, path)
		return err
	}))
	return tree
}

// wantSameTree compares a job's output with that of a run in peace.
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

// preempted is a job of which a test takes slots.
type preempted struct {
	*engine
	id string
}

// attempts are those of a kind that are in a state.
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

// preempt takes the slot of an attempt that runs, and returns its id. One that has
// ended before the order came, or could not follow it, is not it.
func (j *preempted) preempt(kind report.Kind, how string) (attempt string) {
	j.t.Helper()
	waitUntil(j.t, "an attempt is preempted by "+how, func() bool {
		for _, a := range j.attempts(kind, report.Running) {
			if start(j.t, j.command("task", "preempt", a.ID, "--how", how)).wait(j.t).code == 0 {
				attempt = a.ID
				return true
			}
		}
		return false
	})
	return attempt
}

// succeeds waits for the job. No attempt may have failed, no task may have been
// finished twice, and work is lost if an attempt was preempted by kill and only then.
func (j *preempted) succeeds(killed ...string) {
	j.t.Helper()
	j.done("job", "wait", j.id, "--quiet")
	doc := j.job(j.id)
	if len(doc.Failures) > 0 {
		j.t.Errorf("failures %+v", doc.Failures)
	}
	for _, task := range doc.Tasks {
		finished := 0
		for _, a := range task.Attempts {
			switch a.State {
			case report.Succeeded:
				finished++
			case report.Preempted:
			default:
				j.t.Errorf("attempt %+v", a)
			}
		}
		if finished != 1 {
			j.t.Errorf("%s was finished %d times: %+v", task.ID, finished, task.Attempts)
		}
	}
	if lost := doc.Counters[counter.GroupJob][counter.WorkLostMillis.Name]; (lost > 0) != (len(killed) > 0) {
		j.t.Errorf("%d ms of work are lost, with %q killed", lost, killed)
	}
}

// preemptible has tasks last long enough for orders to reach them.
var preemptible = []string{"-D", "hammr.debug.record.sleep=10ms", "-D", "hammr.preempt.boundary.timeout=1m", "-D", "mapreduce.input.fileinputformat.split.maxsize=20k"}

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

// TestMapsOfNamedOutputsArePreempted cuts, pauses and moves maps that write what
// the job leaves: each part is named after the task that was cut first, and is the
// pieces in the order of the input.
func TestMapsOfNamedOutputsArePreempted(t *testing.T) {
	t.Parallel()
	e := newEngine(t, "--tasknodes", "2")
	in, dir := proseFile(t, "prose", 50<<10), t.TempDir()
	out, want := filepath.Join(dir, "out"), filepath.Join(dir, "want")
	self, err := os.Executable()
	must(t, err)
	run := func(c command, args ...string) string {
		t.Helper()
		c.program, c.args, c.env = self, args, append(c.env, programEnv+"=shout")
		r := start(t, c).wait(t)
		r.want(t, 0)
		return strings.TrimSpace(r.stdout)
	}
	run(command{}, "--quiet", preemptible[4], preemptible[5], in, want)
	j := &preempted{e, run(e.command(), slices.Concat([]string{"--quiet", "--detach"}, preemptible, []string{in, out})...)}
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
