package jobmaster_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/jobmaster"
)

func TestChangesAreAnsweredOnceTheyAreInTheLog(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 2, 2)
		id := w.submit(4, 2)
		w.sleep(500 * time.Millisecond)
		m := w.leader()
		check := func(what string, err, want error) {
			w.t.Helper()
			if !errors.Is(err, want) || (want == nil) != (err == nil) {
				w.t.Errorf("%s: %v, want %v", what, err, want)
			}
		}
		attempt := "attempt" + strings.TrimPrefix(id, "job") + "_m_000000_0"
		check("kill of an attempt", m.EndAttempt(w.ctx, attempt, false), nil)
		check("kill of an attempt that is killed", m.EndAttempt(w.ctx, attempt, false), cluster.ErrRefused)
		check("failing an attempt", m.EndAttempt(w.ctx, strings.Replace(attempt, "m_000000", "m_000001", 1), true), nil)
		check("unknown attempt", m.EndAttempt(w.ctx, "attempt_1_0009_m_000000_0", false), cluster.ErrUnknown)
		check("priority", m.SetPriority(w.ctx, id, 2), nil)
		check("priority of no job", m.SetPriority(w.ctx, "job_1_0009", 2), cluster.ErrUnknown)
		check("policy", m.SetPolicy(w.ctx, "fifo", nil), nil)
		if err := m.SetPolicy(w.ctx, "lottery", nil); err == nil || !strings.Contains(err.Error(), "lottery") {
			w.t.Errorf("unknown policy: %v", err)
		}
		w.wantDone(id)
		s, err := m.Job(w.ctx, id, true)
		if err != nil || s.Tasks[0].Attempts[0].State != wire.AttemptState_ATTEMPT_KILLED || s.Tasks[1].Attempts[0].State != wire.AttemptState_ATTEMPT_FAILED {
			w.t.Errorf("the job is %v, %v", s, err)
		}
		check("kill of a job that is over", m.Kill(w.ctx, id, "late"), nil)
	})
}

func TestChangesThatMayBeLostAreNotConfirmed(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.elect(0)
		id := w.submit(1, 0)
		w.loseProposals()
		killed := make(chan error, 1)
		go func() { killed <- w.masters[0].Kill(w.ctx, id, "test") }()
		w.sleep(time.Second)
		select {
		case err := <-killed:
			w.t.Fatalf("a kill that is not committed is answered: %v", err)
		default:
		}
		w.elect(1)
		if err := <-killed; !errors.Is(err, jobmaster.ErrNotLeader) {
			w.t.Errorf("kill by a deposed leader: %v", err)
		}
		synctest.Wait() // until the new leader knows that it leads
		if err := w.leader().Kill(w.ctx, id, "test"); err != nil {
			w.t.Error(err)
		}
		if s := w.wait(id); s.State != wire.JobState_KILLED {
			w.t.Errorf("the job is %v", s.State)
		}
	})
}
