package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// handNode is a tasknode that the test starts and stops itself.
type handNode struct {
	*engine
	*process
	name string
	args []string
}

// newNode starts a tasknode of the cluster with its own name and settings, and returns when
// it offers slots.
func (e *engine) newNode(name string, args ...string) *handNode {
	e.t.Helper()
	n := &handNode{engine: e, name: name, args: slices.Concat([]string{
		"tasknode", "--name", name, "--masters", strings.Join(e.state.Addresses(), ","), "--own-user",
		"--token-file", filepath.Join(e.dir, localcluster.TokenFile), "--address", "127.0.0.1:0", "--http", "127.0.0.1:0",
	}, args)}
	n.start()
	return n
}

func (n *handNode) start() {
	n.t.Helper()
	ready := filepath.Join(n.t.TempDir(), "ready")
	n.process = prepare(n.t, command{args: append(slices.Clone(n.args), "--ready-file", ready), daemon: true})
	n.cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM
	p := n.process
	inLastingThread(func() { p.begin(n.t) })
	n.t.Cleanup(func() {
		if !p.waited {
			must.Do(n.t, p.cmd.Process.Signal(syscall.SIGTERM))
			p.wait(n.t).want(n.t, 0)
		}
		if n.t.Failed() {
			n.t.Logf("%s:\n%s", n.name, p.stderr.String()[max(0, p.stderr.Len()-3000):])
		}
	})
	waitUntil(n.t, n.name+" is ready", func() bool {
		_, err := os.Stat(ready)
		return err == nil
	})
}

// kill kills a tasknode with its tasks, like a crash of its machine.
func (n *handNode) kill() {
	n.t.Helper()
	must.Do(n.t, n.cmd.Process.Kill())
	n.waitOnly(n.t)
}

// newEngineWithout starts a cluster without tasknodes, for tests that add their own.
func newEngineWithout(t *testing.T, args ...string) *engine {
	t.Helper()
	return newEngine(t, append(args, "--tasknodes", "0")...)
}

// finishedMaps returns the winning attempts of the maps of a job, nil while some maps are
// not finished.
func (e *engine) finishedMaps(id string) (attempts []string) {
	for _, task := range e.job(id).Tasks {
		if task.Type != report.Map {
			continue
		}
		if task.State != report.Succeeded {
			return nil
		}
		attempts = append(attempts, task.Attempts[len(task.Attempts)-1].ID)
	}
	return attempts
}

// TestRestartedTasknodeServesItsSegments kills the tasknode that has run all maps of a
// job while another one runs its reduces. Restarted at another port, it serves its segments,
// and no map runs twice, even if the tasknode was lost in the meantime.
func TestRestartedTasknodeServesItsSegments(t *testing.T) {
	t.Parallel()
	e := newEngineWithout(t)
	maps := e.newNode("maps", "--dir", t.TempDir(), "--map-slots", "8", "--reduce-slots", "0")
	e.newNode("reduces", "--dir", t.TempDir(), "--map-slots", "0", "--reduce-slots", "1")
	j := &slowJob{engine: e, in: proseFile(t, "prose", 200<<10), out: filepath.Join(t.TempDir(), "out")}
	j.id = e.submit(slices.Concat([]string{"wordcount"}, slowly, []string{j.in, j.out})...)
	waitUntil(t, "the maps are done and a reduce runs", func() bool {
		running := slices.ContainsFunc(e.job(j.id).Tasks, func(task report.Task) bool {
			return task.Type == report.Reduce && len(task.Attempts) > 0
		})
		return running && len(e.finishedMaps(j.id)) > 0
	})
	before := e.finishedMaps(j.id)
	maps.kill()
	maps.args = append(maps.args, "--map-slots", "0", "--reduce-slots", "1") // a map that is pending again waits for its output
	maps.start()
	if again := j.succeeds(t); again != 0 {
		t.Errorf("%d attempts were made again", again)
	}
	if after := e.finishedMaps(j.id); !slices.Equal(after, before) {
		t.Errorf("maps were done by %v, then by %v", before, after)
	}
}

// TestOrphansOfAKilledTasknodeAreReaped kills a tasknode during a job, and kills the job in
// the meantime. After the restart, no process and no file is left.
func TestOrphansOfAKilledTasknodeAreReaped(t *testing.T) {
	t.Parallel()
	e := newEngineWithout(t)
	dir := t.TempDir()
	maps := e.newNode("maps", "--dir", dir, "--map-slots", "2", "--reduce-slots", "0")
	j := startSlowJob(t, e)
	maps.kill()
	if left, err := filepath.Glob(filepath.Join(dir, "tasks", "job_*", "*")); err != nil || len(left) == 0 {
		t.Fatalf("nothing is left behind, %v", err)
	}
	e.done("job", "kill", j.id)
	maps.start()
	waitUntil(t, "the files are gone", func() bool {
		left, err := filepath.Glob(filepath.Join(dir, "tasks", "job_*"))
		return err == nil && len(left) == 0
	})
}

// nodeDocument is the part of the output of `hammr node status --json` that the tests read.
type nodeDocument struct {
	MapSlots    int `json:"mapSlots"`
	Directories []struct {
		Path  string
		Free  int64
		Total int64
		Fault string
	}
}

// TestLocalDirectories gives a tasknode two small disks that fill up and are emptied.
func TestLocalDirectories(t *testing.T) {
	t.Parallel()
	large, small := smallDisk(t, "64m"), smallDisk(t, "32m")
	e := newEngineWithout(t)
	e.newNode("disks", "--dir", t.TempDir(), "--local-dir", small+","+large, "--min-free", "16m", "--disk-check", "100ms", "--heartbeat", "100ms")
	in, want := newFile(t, "in", []byte("a b a\n")), filepath.Join(t.TempDir(), "want")
	done(t, "run", "wordcount", "--quiet", in, want)
	runs := func(name string) {
		t.Helper()
		out := filepath.Join(t.TempDir(), name)
		e.done("run", "wordcount", "--quiet", in, out)
		wantSame(t, parts(t, out, 1), parts(t, want, 1))
	}
	fill := func(dir string) string {
		t.Helper()
		file := filepath.Join(dir, "filling")
		must.Do(t, os.WriteFile(file, make([]byte, 20<<20), 0o600))
		return file
	}
	waitUntil(t, "a heartbeat has the directories", func() bool { return len(e.node("disks").Directories) > 0 })
	var first nodeDocument
	e.json(&first, "node", "status", "disks")
	if len(first.Directories) != 2 || first.Directories[0].Path != small || first.Directories[1].Total != 64<<20 || first.MapSlots != 2 {
		t.Errorf("status %+v", first)
	}
	runs("both")
	filling := fill(small)
	waitUntil(t, "a full directory is told of", func() bool { return strings.Contains(e.node("disks").Directories[0].Fault, "too full") })
	runs("one")
	waitUntil(t, "nobody writes, and the disk is made read-only", func() bool {
		return syscall.Mount("", large, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, "") == nil
	})
	// Changes of slots are reported at once, the state of directories with the next
	// heartbeat.
	waitUntil(t, "no slots are offered", func() bool { return e.node("disks").MapSlots == 0 })
	waitUntil(t, "a disk that cannot be written is told of", func() bool { return strings.Contains(e.node("disks").Directories[1].Fault, "read-only") })
	id := e.submit("wordcount", in, filepath.Join(t.TempDir(), "waits"))
	must.Do(t, os.Remove(filling))
	e.awaitSuccess(id)
	waitUntil(t, "the emptied directory is in use again", func() bool {
		now := e.node("disks")
		return now.MapSlots == 2 && now.Directories[0].Fault == ""
	})
}

// TestTwoTasknodesOfOneLocalDirectory starts two tasknodes with the same directory. The
// second is rejected, because each would remove the files of the other.
func TestTwoTasknodesOfOneLocalDirectory(t *testing.T) {
	t.Parallel()
	e := sharedEngine(t, oneOfEach)
	start(t, command{args: []string{
		"tasknode", "--name", "n9", "--masters", strings.Join(e.state.Addresses(), ","), "--dir", t.TempDir(),
		"--local-dir", e.state.Tasknodes[0].Dir, "--token-file", filepath.Join(e.dir, localcluster.TokenFile),
		"--address", "127.0.0.1:0", "--http", "127.0.0.1:0",
	}}).wait(t).want(t, 1, "--local-dir", "another tasknode uses it")
}

// TestLogsOfAttemptsThatRun reads the output of a running map. When the map has ended, it
// reads the output again, from the directory of kept logs.
func TestLogsOfAttemptsThatRun(t *testing.T) {
	t.Parallel()
	e := newEngineWithout(t)
	dir := t.TempDir()
	e.newNode("maps", "--dir", dir, "--map-slots", "1", "--reduce-slots", "1")
	d := newDoors(t, 1)
	id := d.submit(e, newFile(t, "in", []byte("line\n")), filepath.Join(t.TempDir(), "out"))
	attempt := strings.Replace(id, "job", "attempt", 1) + "_m_000000_0"
	d.wait(0)
	// The program prints nothing; its tasknode prints this text.
	log := filepath.Join(dir, "tasks", id, taskdir.Logs, taskdir.InJob(attempt), "stderr")
	must.Do(t, os.MkdirAll(filepath.Dir(log), 0o700))
	must.Do(t, os.WriteFile(log, []byte("half way\n"), 0o600))
	want := "==> " + attempt + " stderr on maps <==\nhalf way\n"
	if got := e.done("task", "logs", attempt).stdout; got != want {
		t.Errorf("of the attempt that runs: %q", got)
	}
	if got := e.done("job", "logs", id).stdout; !strings.Contains(got, want) {
		t.Errorf("of the job that runs: %q", got)
	}
	d.open(0)
	e.awaitSuccess(id)
	if got := e.done("task", "logs", attempt).stdout; got != want {
		t.Errorf("of the attempt that is over: %q", got)
	}
}

// TestLogsOfAJobAreOneFileAMachine runs a job on three tasknodes: a map and a reduce print, and
// another reduce does not. The logs are the same while the job runs, when it is over, and when
// its tasknodes are gone.
func TestLogsOfAJobAreOneFileAMachine(t *testing.T) {
	t.Parallel()
	e := newEngineWithout(t)
	dir := t.TempDir()
	nodes := []*handNode{
		e.newNode("maps", "--dir", filepath.Join(dir, "maps"), "--map-slots", "1", "--reduce-slots", "0"),
		e.newNode("r1", "--dir", filepath.Join(dir, "r1"), "--map-slots", "0", "--reduce-slots", "1"),
		e.newNode("r2", "--dir", filepath.Join(dir, "r2"), "--map-slots", "0", "--reduce-slots", "1"),
	}
	d := newDoorsOf(t, 1, 2)
	in := newFile(t, "in", []byte("a\nb\nc\nd\ne\nf\n")) // both reduces get some
	id := d.submit(e, in, filepath.Join(t.TempDir(), "out"), "-D", "mapreduce.job.reduces=2")
	var where []string // tasknodes that ran something that printed
	for i, task := range []string{"_m_000000_0", "_r_000000_0"} {
		attempt := strings.Replace(id, "job", "attempt", 1) + task
		d.wait(i)
		found, err := filepath.Glob(filepath.Join(dir, "*", "tasks", id, taskdir.InJob(attempt)))
		must.Do(t, err)
		if len(found) != 1 {
			t.Fatalf("%s runs in %q", attempt, found)
		}
		// The program prints nothing; its tasknode prints this text.
		log := filepath.Join(taskdir.LogDir(found[0]), "stdout")
		must.Do(t, os.MkdirAll(filepath.Dir(log), 0o700))
		must.Do(t, os.WriteFile(log, []byte(attempt+" prints\n"), 0o600))
		node, _, _ := strings.Cut(strings.TrimPrefix(log, dir+"/"), "/")
		where = append(where, node)
		if i == 0 {
			d.open(0)
		}
	}
	running := e.done("job", "logs", id).stdout
	if got := strings.Count(running, " prints\n"); got != 2 {
		t.Errorf("%d logs of 2 while the job runs:\n%s", got, running)
	}
	d.open(1, 2)
	e.awaitSuccess(id)
	if got := e.done("job", "logs", id).stdout; got != running {
		t.Errorf("of the job that is over:\n%s\nand while it ran:\n%s", got, running)
	}
	waitUntil(t, "the local files are removed", func() bool {
		left, err := filepath.Glob(filepath.Join(dir, "*", "tasks", "job_*"))
		return err == nil && len(left) == 0
	})
	entries, err := filepath.Glob(filepath.Join(e.dir, "joblogs", "*", id, "*"))
	must.Do(t, err)
	var files []string
	for _, path := range entries {
		files = append(files, strings.TrimSuffix(filepath.Base(path), ".logs"))
	}
	if !slices.Equal(files, where) {
		t.Errorf("files %v, want one of each of %v", files, where)
	}
	for _, n := range nodes {
		n.kill()
	}
	if got := e.done("job", "logs", id).stdout; got != running {
		t.Errorf("without the tasknodes:\n%s\nand while the job ran:\n%s", got, running)
	}
}

// TestNothingIsLeftOfAKilledJob checks every directory to which a running job writes.
func TestNothingIsLeftOfAKilledJob(t *testing.T) {
	t.Parallel()
	e := sharedEngine(t, threeMasters)
	j := startSlowJob(t, e)
	places := []string{filepath.Join(e.dir, "staging", "jobs", "*"), j.out, j.out + "/*"}
	for _, n := range e.state.Tasknodes {
		places = append(places, filepath.Join(n.Dir, "tasks", "job_*"))
	}
	left := func() (found []string) {
		for _, place := range places {
			names, err := filepath.Glob(place)
			must.Do(t, err)
			found = append(found, names...)
		}
		return found
	}
	if before := left(); len(before) < 4 {
		t.Errorf("while it runs there are only %q", before)
	}
	e.done("job", "kill", j.id)
	waitUntil(t, "everything is gone", func() bool { return len(left()) == 0 })
}
