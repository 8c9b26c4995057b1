package e2e

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// gangJob is a streamcount with a running gang.
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
	j := &gangJob{engine: e, in: proseFile(t, "prose", 240<<10), out: out}
	// No member may end before the test acts on it, even on a busy machine.
	j.id = e.submit(slices.Concat([]string{"streamcount"}, slowly, []string{"-D", "hammr.debug.record.sleep=2", j.in, j.out})...)
	waitUntil(t, "the gang runs", func() bool { return len(j.running()) >= 4 })
	return j
}

// running returns the running attempts of the gang. The stage before it is s0.
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

// standing returns the number of suspended attempts.
func (j *gangJob) standing() (n int) {
	for _, a := range j.attempts(j.id, wire.AttemptState_ATTEMPT_RUNNING) {
		if a.Suspended {
			n++
		}
	}
	return n
}

// succeeds waits for the job and checks its output. It returns the number of attempts beyond
// the first of each task, for the gang and for the tasks before it.
func (j *gangJob) succeeds(t *testing.T) (gang, before int) {
	t.Helper()
	j.awaitSuccess(j.id)
	wantSame(t, parts(t, j.out, 2), j.counted(t))
	return j.again()
}

// counted returns the expected output, computed by wordcount.
func (j *gangJob) counted(t *testing.T) []byte {
	t.Helper()
	want := filepath.Join(t.TempDir(), "want")
	done(t, "run", "wordcount", "-D", "mapreduce.job.reduces=2", "--quiet", j.in, want)
	return parts(t, want, 2)
}

// again returns the number of attempts beyond the first of each task, for the gang and for
// the tasks before it.
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

// TestGangStartsOver kills one member of a gang. The whole gang starts over, but finished
// tasks before it do not.
//
// Gate: cluster.TestGangStartsOverWhenAMemberEnds, TestGangIsCheckpointedAsAWhole
func TestGangStartsOver(t *testing.T) {
	testlevel.Nightly(t)
	t.Parallel()
	j := startGangJob(t, newEngine(t, "--tasknodes", "3", "--map-slots", "2", "--reduce-slots", "2"))
	j.done("task", "kill", j.running()[0].ID)
	if gang, before := j.succeeds(t); gang != 4 || before != 0 {
		t.Errorf("%d attempts were made again at 4 members of the gang, %d before it", gang, before)
	}
}

// TestGangLosesItsTasknode kills the tasknode of a member of a gang.
//
// Gate: cluster.TestGangStartsOverWhenAMemberEnds, TestTasknodeKilled
func TestGangLosesItsTasknode(t *testing.T) {
	testlevel.Nightly(t)
	t.Parallel()
	j := startGangJob(t, newEngine(t, "--tasknodes", "3", "--map-slots", "2", "--reduce-slots", "2"))
	j.killNode(j.running()[0].Tasknode)
	if gang, _ := j.succeeds(t); gang < 4 {
		t.Errorf("%d attempts were made again at 4 members of the gang", gang)
	}
}

// killNode kills a tasknode.
func (j *gangJob) killNode(name string) {
	for _, node := range j.state.Tasknodes {
		if node.Name == name {
			must(j.t, syscall.Kill(node.PID, syscall.SIGKILL))
		}
	}
}

// TestGangLosesACheckpoint loses the machine with the checkpoint of one member. The
// checkpoints of the others are useless without it, and the gang starts over.
//
// Gate: cluster.TestCheckpointedGangStartsOver, cluster.TestCheckpointIsLostWithItsMachine
func TestGangLosesACheckpoint(t *testing.T) {
	testlevel.Nightly(t)
	t.Parallel()
	j := startGangJob(t, newEngine(t, "--tasknodes", "3", "--map-slots", "2", "--reduce-slots", "2"))
	members := j.running()
	j.done("job", "suspend", j.id, "--how", "checkpoint")
	j.ended(t, members)
	j.killNode(members[0].Tasknode)
	j.done("job", "resume", j.id)
	if gang, _ := j.succeeds(t); gang < 4 {
		t.Errorf("%d attempts were made again at 4 members of the gang", gang)
	}
}

// TestGangRestartsFromItsCheckpoints kills a member of a gang that has resumed. The gang
// resumes from its checkpoints again and repeats only the work since then.
//
// Gate: cluster.TestGangIsRolledBackToItsCheckpoint, TestGangIsCheckpointedAsAWhole
func TestGangRestartsFromItsCheckpoints(t *testing.T) {
	testlevel.Nightly(t)
	t.Parallel()
	j := startGangJob(t, newEngine(t, "--tasknodes", "3", "--map-slots", "2", "--reduce-slots", "2"))
	members := j.running()
	j.done("job", "suspend", j.id, "--how", "checkpoint")
	j.ended(t, members)
	j.done("job", "resume", j.id)
	waitUntil(t, "one of the resumed gang is killed", func() bool {
		again := j.running()
		return len(again) == len(members) && client.Change(t.Context(), j.cluster.Client(), "attempt.kill", again[0].ID, "") == nil
	})
	j.succeeds(t)
	back := regexp.MustCompile(`attempt_\S+_1 .*KILLED.* is rolled back to its last checkpoint`)
	if explanation := j.done("job", "explain", j.id).stdout; len(back.FindAllString(explanation, -1)) != len(members)-1 {
		t.Errorf("not all others were rolled back to their checkpoints:\n%s", explanation)
	}
}

// TestGangIsSuspended suspends a gang that occupies all slots, while another job uses them.
// It resumes the gang once together with its job, and once by an order for one of its
// members.
func TestGangIsSuspended(t *testing.T) {
	t.Parallel()
	j := startGangJob(t, newEngine(t, "--tasknodes", "2", "--map-slots", "1", "--reduce-slots", "1"))
	j.done("job", "suspend", j.id, "--how", "suspend")
	waitUntil(t, "all of the gang stands still", func() bool {
		return j.standing() == 4
	})
	short := filepath.Join(t.TempDir(), "out")
	j.done("job", "wait", j.submit("wordcount", newFile(t, "short", []byte("a b\n")), short), "--quiet")
	j.done("job", "resume", j.id)
	waitUntil(t, "an attempt is told to stand still", func() bool {
		return j.order(j.running()[0].ID, "suspend")
	})
	if gang, before := j.succeeds(t); gang != 0 || before != 0 {
		t.Errorf("%d attempts were made again at the members of the gang, %d before it", gang, before)
	}
}

// TestGangThatWritesToHDFSIsSuspended suspends a gang that writes to HDFS. It first closes
// its files, because HDFS would take the lease from a writer that is silent for long, and
// continues in other files.
//
// Gate: TestGangIsSuspended, internal/task.TestSuspendsWithoutOpenRemoteFiles, internal/task.TestOutputClosesItsPieceWhileSuspended
func TestGangThatWritesToHDFSIsSuspended(t *testing.T) {
	testlevel.Nightly(t)
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
	j.awaitSuccess(j.id)
	wantSame(t, w.parts(dir+"/out", 2), j.counted(t))
	if gang, before := j.again(); gang != 0 || before != 0 {
		t.Errorf("%d attempts were made again at the members of the gang, %d before it", gang, before)
	}
}

// ended waits until no attempt runs.
func (j *gangJob) ended(t *testing.T, attempts []report.Attempt) {
	t.Helper()
	waitUntil(t, "all members of the gang have ended", func() bool {
		return !slices.ContainsFunc(j.running(), func(a report.Attempt) bool {
			return slices.ContainsFunc(attempts, func(b report.Attempt) bool { return a.ID == b.ID })
		})
	})
}

// keptAll checks that the job repeated no work: its gang resumed from checkpoints only and
// counted each record once.
func (j *gangJob) keptAll(t *testing.T, in report.Report) {
	t.Helper()
	gang, before := j.succeeds(t)
	if gang < 4 || before != 0 {
		t.Errorf("%d attempts were made again at the members of the gang, %d before it", gang, before)
	}
	now := j.job(j.id)
	for _, task := range now.Tasks {
		for _, a := range task.Attempts {
			if a.State != report.Succeeded && a.State != report.Preempted {
				t.Errorf("%s is %s", a.ID, a.State)
			}
		}
	}
	for _, name := range []string{"Map input records", "Reduce input records", "Reduce input groups", "Reduce output records"} {
		if got, want := now.Counters[counter.GroupFramework][name], in.Counters[counter.GroupFramework][name]; got != want || want == 0 {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	job := now.Counters[counter.GroupJob]
	if job["Work lost to preemption (ms)"] != 0 || job["Work conserved by preemption (ms)"] == 0 {
		t.Errorf("work lost and kept: %v", job)
	}
}

// inPeace returns the report of an undisturbed run of the job.
func (j *gangJob) inPeace(t *testing.T) report.Report {
	t.Helper()
	id := j.submit("streamcount", "-D", "mapreduce.job.reduces=2", j.in, filepath.Join(t.TempDir(), "peace"))
	j.awaitSuccess(id)
	return j.job(id)
}

// TestGangIsCheckpointedAsAWhole orders one member of a gang to write a checkpoint, again and again.
// The whole gang writes checkpoints and resumes from them.
func TestGangIsCheckpointedAsAWhole(t *testing.T) {
	t.Parallel()
	j := startGangJob(t, newEngine(t, "--tasknodes", "2", "--map-slots", "1", "--reduce-slots", "1"))
	for round := range 3 {
		var members []report.Attempt
		waitUntil(t, "a member of the gang writes a checkpoint", func() bool {
			if members = j.running(); len(members) < 4 {
				return false // it is about to resume
			}
			return j.order(members[round].ID, "checkpoint")
		})
		j.ended(t, members)
	}
	j.keptAll(t, j.inPeace(t))
}

// TestGangLeavesADrainedMachine drains a machine of a gang. The gang moves to other
// machines with its checkpoints.
//
// Gate: TestSIGTERMDrainsATasknode, cluster.TestSuspendedGangMigrates
func TestGangLeavesADrainedMachine(t *testing.T) {
	testlevel.Nightly(t)
	t.Parallel()
	j := startGangJob(t, newEngine(t, "--tasknodes", "3", "--map-slots", "1", "--reduce-slots", "1"))
	members := j.running()
	at := members[0].Tasknode
	j.done("node", "drain", at, "--deadline", "60s")
	j.ended(t, members)
	j.keptAll(t, j.inPeace(t))
	for _, task := range j.job(j.id).Tasks {
		if last := task.Attempts[len(task.Attempts)-1]; last.Tasknode == at && !strings.Contains(task.ID, "_s0_") {
			t.Errorf("%s ended on the machine that was drained", last.ID)
		}
	}
}
