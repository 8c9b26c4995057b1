package jobmaster_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/preempt"
)

// wantErr checks that an error wraps kind and contains text; if kind is nil, it checks that
// there is no error.
func (w *testCluster) wantErr(what string, err, kind error, says string) {
	w.t.Helper()
	if !errors.Is(err, kind) || kind != nil && !strings.Contains(err.Error(), says) {
		w.t.Errorf("%s: %v, want %v with %q", what, err, kind, says)
	}
}

// startJob starts a job of maps and reduces and waits until its first tasks run.
func (w *testCluster) startJob(maps, reduces int) (job string, attempt func(name string) string) {
	w.elect(0)
	w.addTasknode("a", 2, 1)
	w.addTasknode("b", 2, 1)
	spec := w.spec(maps, reduces)
	spec.Properties = map[string]string{"mapreduce.job.reduce.slowstart.completedmaps": "0"}
	job = w.submitSpec(spec)
	w.sleep(500 * time.Millisecond)
	return job, func(name string) string { return "attempt" + strings.TrimPrefix(job, "job") + "_" + name + "_0" }
}

// TestPreemptingOnDemand preempts attempts by each mode that they can obey, and checks the
// error for all other modes.
func TestPreemptingOnDemand(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		id, attempt := w.startJob(4, 1)
		m := w.leader()
		for _, step := range []struct {
			attempt  string
			mode     preempt.Mode
			kind     error
			says     string
			instead  preempt.Mode // for auto
			whatever bool
		}{
			{attempt: "attempt_1", mode: preempt.Kill, kind: cluster.ErrUnknown, says: "attempt_1"},
			{attempt: attempt("m_000099"), mode: preempt.Kill, kind: cluster.ErrUnknown, says: "m_000099"},
			{attempt: attempt("m_000000"), mode: "melt", kind: cluster.ErrRefused, says: `cannot be preempted by "melt"; choose split`},
			{attempt: attempt("r_000000"), mode: preempt.Split, kind: cluster.ErrRefused, says: "only maps can be split"},
			{attempt: attempt("m_000000"), mode: preempt.Split},
			{attempt: attempt("m_000000"), mode: preempt.Checkpoint, kind: cluster.ErrRefused, says: "preempted already"},
			{attempt: attempt("m_000000"), mode: preempt.Auto, kind: cluster.ErrRefused, says: "preempted already"},
			{attempt: attempt("m_000001"), mode: preempt.Suspend},
			{attempt: attempt("m_000002"), mode: preempt.Kill},
			{attempt: attempt("m_000002"), mode: preempt.Kill, kind: cluster.ErrRefused, says: "does not run"},
			{attempt: attempt("m_000003"), mode: preempt.Auto, whatever: true},
		} {
			mode, err := m.PreemptAttempt(w.ctx, step.attempt, step.mode)
			w.wantErr(step.attempt+" by "+string(step.mode), err, step.kind, step.says)
			if err == nil && mode != step.mode && !(step.whatever && mode != preempt.Wait && mode != preempt.Auto) {
				t.Errorf("%s was preempted by %q", step.attempt, mode)
			}
		}
		w.wantErr("resuming what is not suspended", m.ResumeAttempt(w.ctx, attempt("m_000000")), cluster.ErrRefused, "is not suspended")
		w.wantErr("resuming no attempt", m.ResumeAttempt(w.ctx, "m"), cluster.ErrUnknown, "m")
		w.wantSucceeded(id)
		_, err := m.PreemptAttempt(w.ctx, attempt("m_000000"), preempt.Kill)
		w.wantErr("a finished attempt", err, cluster.ErrRefused, "does not run")
	})
}

// TestSuspendedAttemptCannotBePreempted checks that only kill is accepted. The job is
// suspended too, so that the attempt does not resume during the test.
func TestSuspendedAttemptCannotBePreempted(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		id, attempt := w.startJob(4, 1)
		m := w.leader()
		w.wantErr("suspending", m.SuspendJob(w.ctx, id, preempt.Suspend), nil, "")
		for _, mode := range []preempt.Mode{preempt.Checkpoint, preempt.Suspend, preempt.Auto} {
			_, err := m.PreemptAttempt(w.ctx, attempt("m_000001"), mode)
			w.wantErr(string(mode), err, cluster.ErrRefused, "is suspended already")
		}
		w.wantErr("resuming it alone", m.ResumeAttempt(w.ctx, attempt("m_000001")), cluster.ErrRefused, "is of a job that is suspended")
		_, err := m.PreemptAttempt(w.ctx, attempt("m_000001"), preempt.Kill)
		w.wantErr("kill", err, nil, "")
		w.wantErr("resuming", m.ResumeJob(w.ctx, id), nil, "")
		w.wantSucceeded(id)
	})
}

// TestSuspendedJobGetsNoSlotsUntilResumed also checks which modes can suspend a job.
func TestSuspendedJobGetsNoSlotsUntilResumed(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		id, _ := w.startJob(9, 1)
		m := w.leader()
		w.wantErr("no job", m.SuspendJob(w.ctx, "job_1_0009", preempt.Auto), cluster.ErrUnknown, "job_1_0009")
		w.wantErr("no job's name", m.ResumeJob(w.ctx, "job"), cluster.ErrUnknown, "job")
		w.wantErr("one that runs", m.ResumeJob(w.ctx, id), cluster.ErrRefused, "is not suspended")
		w.wantErr("a mode that suspends no job", m.SuspendJob(w.ctx, id, preempt.Split), cluster.ErrRefused, `cannot be suspended by "split"`)
		w.wantErr("suspending", m.SuspendJob(w.ctx, id, preempt.Checkpoint), nil, "")
		w.wantErr("twice", m.SuspendJob(w.ctx, id, preempt.Auto), cluster.ErrRefused, "is suspended already")
		before := w.attempts()
		w.sleep(time.Minute)
		if after := w.attempts(); after != before {
			t.Errorf("attempts were %s, and a minute later %s", before, after)
		}
		w.wantErr("resuming", m.ResumeJob(w.ctx, id), nil, "")
		w.wantErr("twice", m.ResumeJob(w.ctx, id), cluster.ErrRefused, "is not suspended")
		w.wantSucceeded(id)
		w.wantErr("one that is over", m.SuspendJob(w.ctx, id, preempt.Auto), cluster.ErrRefused, wire.JobState_SUCCEEDED.String())
	})
}

// TestLateKillIsRefused kills an attempt whose end is on its way through the log, and checks
// that no work is lost.
func TestLateKillIsRefused(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		a := w.addFake("a", "a:1", 1, 0)
		w.submitNow(1, 1)
		synctest.Wait()
		w.delayProposals(0)
		attempt := a.starts[0].AttemptId
		a.finish(a.starts[0])
		refused := make(chan error)
		go func() {
			_, err := w.leader().PreemptAttempt(w.ctx, attempt, preempt.Kill)
			refused <- err
		}()
		synctest.Wait()
		w.delayProposals(-1)
		w.wantErr("killing what has finished", <-refused, cluster.ErrRefused, "SUCCEEDED")
	})
}
