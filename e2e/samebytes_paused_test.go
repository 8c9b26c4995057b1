package e2e

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	orders "github.com/hammr/hammr/internal/client"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// TestCheckpointedProgramsWriteTheSameBytes runs every bundled program while all jobs
// are checkpointed and resumed again and again, and some attempts are killed and resume from
// the last checkpoint. For every graph, the files equal those of an undisturbed run.
//
// Gate: mr.TestSameBytesWhateverHappens, TestGangIsCheckpointedAsAWhole, TestPreemptedSuspendedAndDrained
func TestCheckpointedProgramsWriteTheSameBytes(t *testing.T) {
	testlevel.Nightly(t)
	t.Parallel()
	inputs, want := undisturbedCases(t)
	e := newEngine(t, "--tasknodes", "2", "--map-slots", "2", "--reduce-slots", "2")
	var pausing sync.WaitGroup
	over, killed := make(chan struct{}), make(map[string]int)
	pausing.Go(func() { e.pauseJobs(over, killed) })
	t.Run("paused", func(t *testing.T) {
		runCases(t, newDiskPlace(t, inputs), e.command(), want, "-Dhammr.debug.record.sleep=600us")
	})
	close(over)
	pausing.Wait()
	e.wantPaused()
	t.Logf("attempts killed after a pause: %v", killed)
	if len(killed) == 0 {
		t.Error("no job went back to a checkpoint")
	}
}

// jobs returns the jobs of the cluster, those that are over too if all is set. It asks the
// masters without a command, since tests call it often.
func (e *engine) jobs(all bool) []apidoc.Job {
	e.t.Helper()
	q := docs.AllQuery{}
	if all {
		q.Finished = docs.Yes
	}
	jobs, err := docs.AllJobs.From(e.t.Context(), e.cluster.Client(), q)
	must.Do(e.t, err)
	return jobs
}

// attempts returns the attempts of a job in one of the states.
func (e *engine) attempts(id string, states ...wire.AttemptState) (found []*wire.TaskStatus_Attempt) {
	e.t.Helper()
	job, err := docs.Status.From(e.t.Context(), e.cluster.Client(), docs.JobID{Job: id})
	must.Do(e.t, err)
	for _, task := range job.Tasks {
		for _, a := range task.Attempts {
			if slices.Contains(states, a.State) {
				found = append(found, a)
			}
		}
	}
	return found
}

// enoughPauses is how often jobs of one name are checkpointed. More would hardly let the
// jobs that run alone at the end make progress.
const enoughPauses = 25

// pauseJobs checkpoints running jobs in turn, those with the fewest checkpoints first, until
// over is closed. After every third time it kills one of their attempts, which it counts by
// job name.
func (e *engine) pauseJobs(over <-chan struct{}, killed map[string]int) {
	random, paused := rand.New(rand.NewPCG(1, 1)), make(map[string]int)
	for {
		select {
		case <-over:
			return
		case <-time.After(time.Duration(random.IntN(100)) * time.Millisecond):
		}
		jobs := slices.DeleteFunc(e.jobs(false), func(j apidoc.Job) bool { return j.State != "RUNNING" })
		if len(jobs) == 0 {
			continue
		}
		next := slices.MinFunc(jobs, func(a, b apidoc.Job) int { return cmp.Compare(paused[a.Name], paused[b.Name]) })
		id := next.JobID
		if paused[next.Name]++; paused[next.Name] > enoughPauses {
			continue
		}
		client := e.cluster.Client()
		if orders.Change(e.t.Context(), client, "job.suspend", id, "checkpoint") != nil {
			continue // it has ended
		}
		waitUntil(e.t, "a suspended job rests", func() bool { return e.rests(id) })
		_ = orders.Change(e.t.Context(), client, "job.resume", id, "") // it may have ended, too
		if paused[next.Name]%3 == 0 && e.killOne(id, random) {
			killed[next.Name]++
		}
	}
}

// killOne preempts one of the running attempts of a job by kill, and reports whether it
// found one.
func (e *engine) killOne(id string, random *rand.Rand) bool {
	var running []*wire.TaskStatus_Attempt
	waitUntil(e.t, "a job that was resumed runs, or is over", func() bool {
		job, err := docs.Progress.From(e.t.Context(), e.cluster.Client(), docs.JobID{Job: id})
		must.Do(e.t, err)
		running = e.attempts(id, wire.AttemptState_ATTEMPT_RUNNING)
		return len(running) > 0 || job.State != wire.JobState_RUNNING
	})
	if len(running) == 0 {
		return false
	}
	_, err := e.cluster.Client().Change(e.t.Context(), wire.NewChange("attempt.preempt", running[random.IntN(len(running))].Id, "kill"))
	return err == nil
}

// rests reports whether all attempts of a job are suspended. Attempts that cannot be
// checkpointed are suspended.
func (e *engine) rests(id string) bool {
	return !slices.ContainsFunc(e.attempts(id, wire.AttemptState_ATTEMPT_RUNNING), func(a *wire.TaskStatus_Attempt) bool { return !a.Suspended })
}

// wantPaused expects that jobs were checkpointed, a graph among them, and that no attempt has failed.
// Which jobs are hit while they run depends on timing.
func (e *engine) wantPaused() {
	e.t.Helper()
	paused := make(map[string]int)
	for _, j := range e.jobs(true) {
		for _, task := range e.job(j.JobID).Tasks {
			for _, a := range task.Attempts {
				switch a.State {
				case report.Preempted:
					paused[j.Name]++
				case report.Succeeded, report.Killed:
				default:
					e.t.Errorf("%s of %s is %s", a.ID, j.Name, a.State)
				}
			}
		}
	}
	e.t.Logf("attempts paused: %v", paused)
	kinds := 0 // kinds of graphs
	for _, name := range []string{"streamcount", "wordcountpipe", "pagerankdag", "broadcastjoin", "kmeans"} {
		if paused[name] > 0 {
			kinds++
		}
	}
	if kinds == 0 || len(paused) < 5 {
		e.t.Error("too few jobs were paused to tell anything")
	}
}
