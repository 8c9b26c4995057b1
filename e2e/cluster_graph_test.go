package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// gangJob is a streamcount with a running gang.
type gangJob struct {
	*engine
	in, out string
	id      string
}

func startGangJob(t *testing.T, e *engine) *gangJob {
	t.Helper()
	j := &gangJob{engine: e, in: proseFile(t, "prose", 240<<10), out: filepath.Join(t.TempDir(), "out")}
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
