package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/report"
)

// gangJob is a streamcount whose gang runs.
type gangJob struct {
	*engine
	in, out string
	id      string
}

func startGangJob(t *testing.T, e *engine) *gangJob {
	t.Helper()
	return startGangJobTo(t, e, filepath.Join(t.TempDir(), "out"))
}

func startGangJobTo(t *testing.T, e *engine, out string) *gangJob {
	t.Helper()
	j := &gangJob{engine: e, in: proseFile(t, "prose", 400<<10), out: out}
	j.id = e.submit(slices.Concat([]string{"streamcount"}, slowly, []string{j.in, j.out})...)
	waitUntil(t, "the gang runs", func() bool { return len(j.running()) >= 4 })
	return j
}

// running are the attempts of the gang that run. The stage before it is s0.
func (j *gangJob) running() (found []report.Attempt) {
	for _, task := range j.job(j.id).Tasks {
		for _, a := range task.Attempts {
			if a.State == report.Running && !strings.Contains(a.ID, "_s0_") {
				found = append(found, a)
			}
		}
	}
	return found
}

// standing is how many attempts stand still.
func (j *gangJob) standing() int {
	return strings.Count(j.done("task", "list", j.id).stdout, "SUSPENDED")
}

// succeeds waits for the job and wants the right bytes. It returns how many
// attempts were made at the tasks of the gang, and at those before it, beyond
// one each.
func (j *gangJob) succeeds(t *testing.T) (gang, before int) {
	t.Helper()
	j.done("job", "wait", j.id, "--quiet")
	wantSame(t, parts(t, j.out, 2), j.counted(t))
	return j.again()
}

// counted is what the job is to write, by wordcount.
func (j *gangJob) counted(t *testing.T) []byte {
	t.Helper()
	want := filepath.Join(t.TempDir(), "want")
	done(t, "run", "wordcount", "-D", "mapreduce.job.reduces=2", "--quiet", j.in, want)
	return parts(t, want, 2)
}

// again is how many attempts were made at the tasks of the gang, and at those before
// it, beyond one each.
func (j *gangJob) again() (gang, before int) {
	for _, task := range j.job(j.id).Tasks {
		if strings.Contains(task.ID, "_s0_") {
			before += len(task.Attempts) - 1
		} else {
			gang += len(task.Attempts) - 1
		}
	}
	return gang, before
}

// TestGangStartsAnew ends one member of a gang: all of it starts anew, and
// nothing of what was finished before it.
func TestGangStartsAnew(t *testing.T) {
	t.Parallel()
	j := startGangJob(t, newEngine(t, "--tasknodes", "3", "--map-slots", "2", "--reduce-slots", "2"))
	j.done("task", "kill", j.running()[0].ID)
	if gang, before := j.succeeds(t); gang != 4 || before != 0 {
		t.Errorf("%d attempts were made again at 4 members of the gang, %d before it", gang, before)
	}
}

// TestGangLosesItsTasknode kills the tasknode of a member of a gang.
func TestGangLosesItsTasknode(t *testing.T) {
	t.Parallel()
	j := startGangJob(t, newEngine(t, "--tasknodes", "3", "--map-slots", "2", "--reduce-slots", "2", "--expiry", "5s", "--heartbeat", "200ms"))
	host := j.running()[0].Node
	for _, node := range j.state.Tasknodes {
		if node.Name == host {
			must(t, syscall.Kill(node.PID, syscall.SIGKILL))
		}
	}
	if gang, _ := j.succeeds(t); gang < 4 {
		t.Errorf("%d attempts were made again at 4 members of the gang", gang)
	}
}

// TestGangStandsStill has a gang that takes all slots stand still, all of it, while
// another job has them, and go on where it was; once with its job, once by an order for
// one of its members.
func TestGangStandsStill(t *testing.T) {
	t.Parallel()
	j := startGangJob(t, newEngine(t, "--tasknodes", "2", "--map-slots", "1", "--reduce-slots", "1"))
	start(t, j.command("task", "preempt", j.running()[0].ID, "--how", "checkpoint")).wait(t).want(t, 1, "in a gang")
	j.done("job", "suspend", j.id, "--how", "suspend")
	waitUntil(t, "all of the gang stands still", func() bool {
		return j.standing() == 4
	})
	short := filepath.Join(t.TempDir(), "out")
	j.done("job", "wait", j.submit("wordcount", newFile(t, "short", []byte("a b\n")), short), "--quiet")
	j.done("job", "resume", j.id)
	waitUntil(t, "an attempt is told to stand still", func() bool {
		return start(t, j.command("task", "preempt", j.running()[0].ID, "--how", "suspend")).wait(t).code == 0
	})
	if gang, before := j.succeeds(t); gang != 0 || before != 0 {
		t.Errorf("%d attempts were made again at the members of the gang, %d before it", gang, before)
	}
}

// TestGangThatWritesToHDFSStandsStill closes its files first, which HDFS would take
// from a writer that is silent for long, and goes on in others.
func TestGangThatWritesToHDFSStandsStill(t *testing.T) {
	w := newWeb(t, cluster(t))
	dir := w.dir()
	j := startGangJobTo(t, newEngine(t, "--tasknodes", "2", "--map-slots", "1", "--reduce-slots", "1"), w.c.URI()+dir+"/out")
	waitUntil(t, "the gang writes", func() bool { return len(w.written(dir)) == 2 })
	j.done("job", "suspend", j.id, "--how", "suspend")
	waitUntil(t, "what is left of the gang stands still", func() bool { return j.standing() == len(j.running()) })
	if open := w.written(dir); len(open) > 0 {
		t.Errorf("%q are open while nobody writes", open)
	}
	j.done("job", "resume", j.id)
	j.done("job", "wait", j.id, "--quiet")
	wantSame(t, w.parts(dir+"/out", 2), j.counted(t))
	if gang, before := j.again(); gang != 0 || before != 0 {
		t.Errorf("%d attempts were made again at the members of the gang, %d before it", gang, before)
	}
}
