package jobmaster_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/jobmaster"
)

// TestRepeatedSubmissionOfAnAcceptedJob repeats a submission when its user may have no more jobs,
// when the job is over, and at another master. It stays one job.
func TestRepeatedSubmissionOfAnAcceptedJob(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.configure = func(c *jobmaster.Config) { c.Limits = cluster.DefaultLimits(); c.Limits.JobsPerUser = 1 }
		w.elect(w.addMaster())
		spec := w.staged(w.spec(1, 0))
		first := w.submitSpec(spec)
		spec.RepeatedAfter = 5000
		if id := w.submitSpec(spec); id != first {
			w.t.Errorf("the same submission is %s and %s", first, id)
		}
		if _, err := w.leader().Submit(w.ctx, w.staged(w.another(1, 0))); err == nil || !strings.Contains(err.Error(), "hammr.limits.jobs.per.user") {
			w.t.Errorf("another job of the user: %v", err)
		}
		w.addTasknode("n", 1, 0)
		w.wantSucceeded(first)
		w.elect(0)
		if id := w.submitSpec(spec); id != first {
			w.t.Errorf("the same submission is %s and, after its end, %s", first, id)
		}
	})
}

// TestSubmissionRepeatedAfterHoursIsRefused repeats a submission when the state does not
// remember its client any more. The answer says why it is refused; a new submission of the client
// is accepted.
func TestSubmissionRepeatedAfterHoursIsRefused(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("n", 1, 0)
		spec := w.staged(w.spec(1, 0))
		w.wantSucceeded(w.submitSpec(spec))
		w.sleep(3 * time.Hour)
		other := w.another(1, 0)
		other.ClientId = "other"
		w.wantSucceeded(w.submitSpec(other))
		spec.RepeatedAfter = (3*time.Hour + time.Minute).Milliseconds()
		_, err := w.leader().Submit(w.ctx, spec)
		if !errors.Is(err, cluster.ErrTooLate) || !strings.Contains(err.Error(), "it may have been accepted") {
			w.t.Errorf("the submission of three hours ago: %v", err)
		}
		next := w.another(1, 0)
		next.OutputDir = "mem:///next"
		w.wantSucceeded(w.submitSpec(next))
	})
}
