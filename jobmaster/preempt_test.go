package jobmaster_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/preempt"
)

// wantFault wants an error of a kind that says something; nil wants none.
func (w *world) wantFault(what string, err, kind error, says string) {
	w.t.Helper()
	if !errors.Is(err, kind) || kind != nil && !strings.Contains(err.Error(), says) {
		w.t.Errorf("%s: %v, want %v with %q", what, err, kind, says)
	}
}

// working is a job of maps and reduces, in the middle of its first tasks.
func (w *world) working(maps, reduces int) (job string, attempt func(name string) string) {
	w.elect(0)
	w.addNode("a", 2, 1)
	w.addNode("b", 2, 1)
	spec := w.spec(maps, reduces)
	spec.Properties = map[string]string{"mapreduce.job.reduce.slowstart.completedmaps": "0"}
	job = w.submitSpec(spec)
	w.sleep(500 * time.Millisecond)
	return job, func(name string) string { return "attempt" + strings.TrimPrefix(job, "job") + "_" + name + "_0" }
}

// TestPreemptingOnDemand takes slots in the ways that attempts know, and says why of
// those that they do not.
func TestPreemptingOnDemand(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		id, attempt := w.working(4, 1)
		m := w.leader()
		for _, step := range []struct {
			attempt  string
			how      preempt.Mode
			kind     error
			says     string
			instead  preempt.Mode // for auto
			whatever bool
		}{
			{attempt: "attempt_1", how: preempt.Kill, kind: cluster.ErrUnknown, says: "attempt_1"},
			{attempt: attempt("m_000099"), how: preempt.Kill, kind: cluster.ErrUnknown, says: "m_000099"},
			{attempt: attempt("m_000000"), how: "melt", kind: cluster.ErrRefused, says: `cannot be preempted by "melt"; choose split`},
			{attempt: attempt("r_000000"), how: preempt.Split, kind: cluster.ErrRefused, says: "only maps can be split"},
			{attempt: attempt("m_000000"), how: preempt.Split},
			{attempt: attempt("m_000000"), how: preempt.Checkpoint, kind: cluster.ErrRefused, says: "preempted already"},
			{attempt: attempt("m_000000"), how: preempt.Auto, kind: cluster.ErrRefused, says: "preempted already"},
			{attempt: attempt("m_000001"), how: preempt.Suspend},
			{attempt: attempt("m_000002"), how: preempt.Kill},
			{attempt: attempt("m_000002"), how: preempt.Kill, kind: cluster.ErrRefused, says: "does not run"},
			{attempt: attempt("m_000003"), how: preempt.Auto, whatever: true},
		} {
			how, err := m.PreemptAttempt(w.ctx, step.attempt, step.how)
			w.wantFault(step.attempt+" by "+string(step.how), err, step.kind, step.says)
			if err == nil && how != step.how && !(step.whatever && how != preempt.Wait && how != preempt.Auto) {
				t.Errorf("%s was preempted by %q", step.attempt, how)
			}
		}
		w.wantFault("resuming what does not stand still", m.ResumeAttempt(w.ctx, attempt("m_000000")), cluster.ErrRefused, "does not stand still")
		w.wantFault("resuming nobody", m.ResumeAttempt(w.ctx, "m"), cluster.ErrUnknown, "m")
		w.succeeds(id)
		_, err := m.PreemptAttempt(w.ctx, attempt("m_000000"), preempt.Kill)
		w.wantFault("a finished attempt", err, cluster.ErrRefused, "does not run")
	})
}

// TestSuspendedAttemptCannotBePreempted, but killed. Its job is suspended, so that it does
// not go on meanwhile.
func TestSuspendedAttemptCannotBePreempted(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		id, attempt := w.working(4, 1)
		m := w.leader()
		w.wantFault("suspending", m.SuspendJob(w.ctx, id, preempt.Suspend), nil, "")
		for _, how := range []preempt.Mode{preempt.Checkpoint, preempt.Suspend, preempt.Auto} {
			_, err := m.PreemptAttempt(w.ctx, attempt("m_000001"), how)
			w.wantFault(string(how), err, cluster.ErrRefused, "stands still already")
		}
		w.wantFault("resuming it alone", m.ResumeAttempt(w.ctx, attempt("m_000001")), cluster.ErrRefused, "is of a job that is suspended")
		_, err := m.PreemptAttempt(w.ctx, attempt("m_000001"), preempt.Kill)
		w.wantFault("kill", err, nil, "")
		w.wantFault("resuming", m.ResumeJob(w.ctx, id), nil, "")
		w.succeeds(id)
	})
}

// TestSuspendedJobGetsNoSlotsUntilResumed and has no slots meanwhile.
func TestSuspendedJobGetsNoSlotsUntilResumed(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		id, _ := w.working(9, 1)
		m := w.leader()
		w.wantFault("no job", m.SuspendJob(w.ctx, "job_1_0009", preempt.Auto), cluster.ErrUnknown, "job_1_0009")
		w.wantFault("no job's name", m.ResumeJob(w.ctx, "job"), cluster.ErrUnknown, "job")
		w.wantFault("one that runs", m.ResumeJob(w.ctx, id), cluster.ErrRefused, "is not suspended")
		w.wantFault("a way that is none", m.SuspendJob(w.ctx, id, preempt.Split), cluster.ErrRefused, `not suspended by "split"`)
		w.wantFault("suspending", m.SuspendJob(w.ctx, id, preempt.Checkpoint), nil, "")
		w.wantFault("twice", m.SuspendJob(w.ctx, id, preempt.Auto), cluster.ErrRefused, "is suspended already")
		before := w.attempts()
		w.sleep(time.Minute)
		if after := w.attempts(); after != before {
			t.Errorf("attempts were %s, and a minute later %s", before, after)
		}
		w.wantFault("resuming", m.ResumeJob(w.ctx, id), nil, "")
		w.wantFault("twice", m.ResumeJob(w.ctx, id), cluster.ErrRefused, "is not suspended")
		w.succeeds(id)
		w.wantFault("one that is over", m.SuspendJob(w.ctx, id, preempt.Auto), cluster.ErrRefused, wire.JobState_SUCCEEDED.String())
	})
}

// TestAKillThatComesTooLateIsRefused, the attempt's end having been on its way through the
// log: nothing of its work is lost.
func TestAKillThatComesTooLateIsRefused(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.elect(0)
		a := w.addPuppet("a", "a:1", 1, 0)
		w.submitNow(1, 1)
		synctest.Wait()
		w.holdProposals(0)
		attempt := a.starts[0].AttemptId
		a.finishes(a.starts[0])
		refused := make(chan error)
		go func() {
			_, err := w.leader().PreemptAttempt(w.ctx, attempt, preempt.Kill)
			refused <- err
		}()
		synctest.Wait()
		w.holdProposals(-1)
		w.wantFault("killing what has finished", <-refused, cluster.ErrRefused, "SUCCEEDED")
	})
}
