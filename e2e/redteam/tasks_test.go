package redteam

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// maxProgram is the value of --max-program.
const maxProgram = 64 << 20

func makeFIFO(name string) error { return syscall.Mkfifo(name, 0o644) }

// reports are attacks by what a task says.
func reports(w *world) []attack {
	const letters = "a suffix has letters of ASCII"
	piece := func(output, suffix, path string) func(*testing.T, *world) string {
		return hostileWriter("piece elsewhere", "redteam.output", output, "redteam.suffix", suffix, "redteam.path", path)
	}
	part := "file://" + w.path("precious", "part")
	return []attack{
		{"C2", "output for an edge that the graph does not have", []string{"output for edge 99: the job's graph has 1 edges"}, hostileTask("unknown edge")},
		{"C2", "output for a negative edge", []string{"output for edge -1: the job's graph has 1 edges"}, hostileTask("negative edge")},
		{"C2", "output of another node", []string{"output for edge ", "of node 7", "does not have that node"}, hostileTask("unknown node")},
		{"C2", "output for an edge of a job without edges", []string{"output for edge 99: the job's graph has 0 edges"}, hostileWriter("unknown edge")},
		{"C2", "6 MiB of bits for one partition", []string{"output for edge 0: 6291456 bytes of empty partitions, and the edge has 1 partitions"}, hostileTask("long set")},
		{"C2", "random bytes on the control socket", []string{"message of the task: taskproc: decoding of FromTask"}, hostileTask("noise")},
		{"H3", "piece whose name leads elsewhere", []string{`file of output "../../x": the name of an output has letters of ASCII`}, piece("../../x", "", "OUT/_temporary/x")},
		{"H3", "piece whose suffix leads elsewhere", []string{letters}, piece("part", "/../../x", "OUT/_temporary/x")},
		{"H3", "alice's file as a piece", []string{"it is not in ", "where attempts of the job write"}, piece("part", "", part)},
		{"H3", "piece above the job's directory", []string{"it is not in ", "where attempts of the job write"}, piece("part", "", "OUT/_temporary/job_1_0001/../../../precious/part")},
		{"H3", "alice's file as a copy of a checkpoint", []string{"it is not in ", "where attempts of the job write"}, hostileTask("checkpoint elsewhere", "redteam.path", part)},
		{"M6", "segment outside of the attempt's directory", []string{`the task reports a file "/etc/passwd" that does not lie in its local directory`}, hostileTask("output elsewhere")},
		{"M6", "FIFO as an index that a reduce requests", []string{"403", "not a regular file"}, publisher("fifo")},
		{"M6", "link to /dev/zero as an index that a reduce requests", []string{"path escapes from parent"}, publisher("device")},
		{"H8", "message of 70 MiB", []string{"a length of 73400320 bytes was announced, the limit is 8388608"}, hostileTask("long message")},
		{"M12", "60,000 counters", []string{"counters of the job in all", "mapreduce.job.counters.limit is"}, hostileTask("many counters")},
	}
}

// publisher returns an attack by a job of two maps, of which one publishes an output whose index
// is no file. The reduce requests the index.
func publisher(name string) func(*testing.T, *world) string {
	return func(t *testing.T, w *world) string { return w.outcome(t, w.spec(t, name, dag.MapReduce(2, 1))) }
}

// probes are attacks by tasks on the files, processes and servers of others.
func probes(w *world, job *bystanderJob) []attack {
	return []attack{
		{"M1", "secrets of the daemon and files of others", []string{
			`secret variable: ""`, fmt.Sprintf("uid %d gid %d", w.mallory.uid, w.mallory.gid), "kill of the daemon: operation not permitted",
		}, func(t *testing.T, w *world) string { return lookAround(t, w, job) }},
		{"H5", "segments, logs and streams of another job", []string{
			"segment of another job: 401 not the token of the job in the path", "checksum of another job: 401", "stream of another job: 401",
			"log of another job: 401 the token is not the cluster's", "logs of the own job: 400",
		}, func(t *testing.T, w *world) string { return readOtherJobs(t, w, job) }},
		{"H6", "directories replaced by links while they are removed", []string{"the tree is removed after"}, swapDirectories},
		{"M2", "process that should outlive its task", []string{"control group"}, escape},
	}
}

// lookAround tries to open what others own. All tries must be denied.
func lookAround(t *testing.T, w *world, job *bystanderJob) string {
	segment, _ := job.segment(t, w)
	text := w.outcome(t, w.spec(t, "look around", dag.MapReduce(1, 0), "redteam.token", w.cluster.TokenFile(),
		"redteam.secret", w.path("precious", "secret"), "redteam.other", segment, "redteam.dir", w.daemons["n1"].Dir))
	for _, what := range []string{"token", "daemon's environment", "daemon's memory", "root's file", "other job",
		"write to program cache", "write to own job", "write to own shard", "write to own record", "write to daemon's directory"} {
		i := strings.Index(text, what+": ")
		if line, _, _ := strings.Cut(text[max(i, 0):], "\n"); !strings.HasSuffix(line, "permission denied") {
			t.Errorf("%s: %s", what, line)
		}
	}
	if strings.Contains(text, secret) {
		t.Error("the task has the secret")
	}
	return text
}

// readOtherJobs requests files of alice's job with the token of mallory's. No answer may be a
// success.
func readOtherJobs(t *testing.T, w *world, job *bystanderJob) string {
	segment, address := job.segment(t, w)
	text := w.outcome(t, w.spec(t, "read other jobs", dag.MapReduce(1, 0), "redteam.other", segment, "redteam.address", address))
	if n := strings.Count(text, ": 40") + strings.Count(text, ": 500 "); n < 8 || strings.Contains(text, ": 200") || strings.Contains(text, "word1\t") {
		t.Errorf("%d refusals:\n%s", n, text)
	}
	return text
}

// swapDirectories lets a job replace directories of another while the daemon removes them. The
// files of root to which the links lead must survive, see checkFiles.
func swapDirectories(t *testing.T, w *world) string {
	properties := []string{"redteam.scratch", w.path("scratch"), "redteam.victim", w.path("victim")}
	var swapper string
	var wait sync.WaitGroup
	wait.Go(func() { swapper = w.outcome(t, w.spec(t, "swap", dag.MapReduce(1, 0), properties...)) })
	w.outcome(t, w.spec(t, "tree", dag.MapReduce(1, 0), properties...))
	wait.Wait()
	return swapper
}

// escape starts a process in another session. It must end with its task if the machine has
// control groups.
func escape(t *testing.T, w *world) string {
	text := w.outcome(t, w.spec(t, "escape", dag.MapReduce(1, 0)))
	_, rest, _ := strings.Cut(text, "process ")
	number, _, _ := strings.Cut(rest, " ")
	pid, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(text)
	}
	group, err := filepath.Glob(filepath.Join(w.cluster.Dir(), "n?", "cgroup"))
	must.Do(t, err)
	gone := func() bool { return syscall.Kill(pid, 0) != nil || isZombie(pid) }
	if len(group) == 0 {
		if !gone() && ownedBy(pid, w.mallory.uid) {
			must.Do(t, syscall.Kill(pid, syscall.SIGKILL))
		}
		return "control group missing on this machine, so the process lives on"
	}
	must.Do(t, poll(t, gone))
	return "control group of the task has ended the process"
}

func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// ownedBy reports whether a process belongs to a user.
func ownedBy(pid, uid int) bool {
	info, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		return false
	}
	stat, is := info.Sys().(*syscall.Stat_t)
	return is && int(stat.Uid) == uid
}

// maxGrowth is how many bytes of memory a daemon may need more after a flood of 400 MiB.
const maxGrowth = 192 << 20

// floodTasknode sends more messages than a daemon could keep. It runs alone, since other attacks
// make masters need memory for a while.
func floodTasknode(t *testing.T, w *world) string {
	before := w.resident(t)
	text := w.outcome(t, w.spec(t, "flood", dag.MapReduce(1, 1)))
	for name, bytes := range w.resident(t) {
		if grown := bytes - before[name]; grown > maxGrowth {
			t.Errorf("%s has %d MiB more than before", name, grown>>20)
		}
	}
	return text
}

// resident returns the memory of each daemon in bytes.
func (w *world) resident(t *testing.T) map[string]int64 {
	t.Helper()
	out := make(map[string]int64)
	for name, p := range w.daemons {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
		must.Do(t, err)
		_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
		fields := strings.Fields(string(rest[:min(len(rest), 40)]))
		if len(fields) == 0 {
			t.Fatalf("%s has no memory: %s", name, status)
		}
		kib, err := strconv.ParseInt(fields[0], 10, 64)
		must.Do(t, err)
		out[name] = kib << 10
	}
	return out
}

// restarts are attacks on a tasknode that starts again. They come last, since a restart loses
// running attempts.
func restarts() []attack {
	return []attack{
		{"M6", "FIFO as an index when its tasknode starts again", []string{"retained files unusable", "not a regular file"}, restartWith("fifo")},
		{"M6", "link to /dev/zero as an index at a start", []string{"retained files unusable", "too many levels of symbolic links"}, restartWith("device")},
	}
}

// restartWith returns an attack that publishes an output whose index is no file, and then waits
// for a restart of the tasknode.
func restartWith(name string) func(*testing.T, *world) string {
	return func(t *testing.T, w *world) string {
		id, err := w.submit(t, w.spec(t, name, dag.MapReduce(2, 1), "mapreduce.job.reduce.slowstart.completedmaps", "1"))
		must.Do(t, err)
		s := w.await(t, id, func(s *wire.JobStatus) bool { return s.MapsDone == 1 && s.MapsRunning == 1 })
		machine := ""
		for _, task := range s.Tasks {
			for _, a := range task.Attempts {
				if a.State == wire.AttemptState_ATTEMPT_SUCCEEDED {
					machine = a.Machine
				}
			}
		}
		log := filepath.Join(w.cluster.Logs(), machine+".log")
		info, err := os.Stat(log)
		must.Do(t, err)
		must.Do(t, w.cluster.Kill(t.Context(), machine))
		must.Do(t, w.cluster.Start(t.Context(), machine)) // returns when it has joined; the error names a time-out
		text, err := os.ReadFile(log)
		must.Do(t, err)
		must.Do(t, w.cluster.Client().Kill(t.Context(), id, "the attack is over"))
		w.await(t, id, func(s *wire.JobStatus) bool { return s.FinishTime != 0 })
		_, line, _ := strings.Cut(string(text[info.Size():]), "retained files unusable")
		line, _, _ = strings.Cut(line, "\n")
		return "retained files unusable" + line
	}
}

// poll waits until check reports true.
func poll(t *testing.T, check func() bool) error {
	deadline := time.Now().Add(30 * time.Second)
	return testcluster.Poll(t.Context(), func(context.Context) (bool, error) {
		if time.Now().After(deadline) {
			return false, fmt.Errorf("not within 30 s")
		}
		return check(), nil
	})
}
