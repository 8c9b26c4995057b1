package jobmaster_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/jobmaster"
)

// TestTasknodesRunTheJobsOfTheNewestVersion is a reminder: if a cluster version is added that
// changes jobs, JobVersion rises with it.
func TestTasknodesRunTheJobsOfTheNewestVersion(t *testing.T) {
	if taskproc.JobVersion != cluster.FormatVersion {
		t.Errorf("tasknodes run jobs of version %d, masters of %d", taskproc.JobVersion, cluster.FormatVersion)
	}
}

// attachOld attaches a tasknode of the release before cluster versions. ended gets the cause
// when the master ends its session.
func (w *testCluster) attachOld(name string) (ended chan error, err error) {
	w.t.Helper()
	synctest.Wait()
	ended = make(chan error, 1)
	hello := &wire.Report{Machine: name, Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{Instance: name, MapSlots: 1}}}
	_, err = w.leader().Attach(w.ctx, hello, func(*wire.Order) {}, func(cause error) { ended <- cause })
	synctest.Wait()
	return ended, err
}

// wantTooOld checks that an error is a refusal that says what the reader can do.
func (w *testCluster) wantTooOld(what string, err error, says ...string) {
	w.t.Helper()
	if !errors.Is(err, cluster.ErrRefused) {
		w.t.Errorf("%s: %v", what, err)
		return
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			w.t.Errorf("%s: %v; want it to say %q", what, err, s)
		}
	}
}

// TestOldTasknodeGetsNoJobThatIsTooNew submits a job that a tasknode of an older release would
// never end. It is accepted when the tasknode is lost, and the tasknode may come back when the
// job is over.
func TestOldTasknodeGetsNoJobThatIsTooNew(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("new", 1, 0)
		if _, err := w.attachOld("old"); err != nil {
			w.t.Fatal(err)
		}
		newer := w.staged(w.sharedFilesSpec())
		_, err := w.leader().Submit(w.ctx, newer)
		w.wantTooOld("a job while an old tasknode is there", err, "tasknodes of cluster version 2", "tasknode old is of a release for version 1: upgrade it")
		w.sleep(time.Minute) // no report of the tasknode: it expires
		id, err := w.leader().Submit(w.ctx, newer)
		if err != nil {
			w.t.Fatal(err)
		}
		_, err = w.attachOld("old")
		w.wantTooOld("an old tasknode while the job runs", err, "tasknode old is of a release for cluster version 1", id+" needs tasknodes of version 2")
		if err := w.leader().Kill(w.ctx, id, "test"); err != nil {
			w.t.Fatal(err)
		}
		w.sleep(time.Minute)
		if _, err := w.attachOld("old"); err != nil {
			w.t.Errorf("when the job is over: %v", err)
		}
	})
}

// TestNewLeaderWaitsForTasknodesThatMayBeOld submits such a job to a leader to which a tasknode
// has not attached yet. The client is asked to repeat that, until the tasknode has said its version or has
// had enough time.
func TestNewLeaderWaitsForTasknodesThatMayBeOld(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.expiry = time.Hour
		w.addMaster()
		w.elect(0)
		if _, err := w.attachOld("old"); err != nil {
			w.t.Fatal(err)
		}
		newer := w.staged(w.sharedFilesSpec())
		w.elect(1)
		synctest.Wait()
		var overload *jobmaster.OverloadError
		if _, err := w.leader().Submit(w.ctx, newer); !errors.As(err, &overload) || !strings.Contains(err.Error(), "tasknode old") {
			w.t.Errorf("before the tasknode has attached: %v", err)
		}
		w.sleep(16 * time.Second)
		if _, err := w.leader().Submit(w.ctx, newer); err != nil {
			w.t.Errorf("after its time: %v", err)
		}
	})
}

// TestOldTasknodeJoinsWithTheJob attaches an old tasknode while the job is on its way through the
// log.
func TestOldTasknodeJoinsWithTheJob(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("new", 1, 0)
		w.sleep(time.Second)
		newer := w.staged(w.sharedFilesSpec())
		w.delayProposals(0)
		go func() { _, _ = w.leader().Submit(w.ctx, newer) }() // the state shows that it was accepted
		synctest.Wait()
		ended, err := w.attachOld("old")
		if err != nil {
			w.t.Fatal(err)
		}
		w.delayProposals(-1)
		synctest.Wait()
		select {
		case cause := <-ended:
			w.wantTooOld("the session", cause, "tasknode old is of a release")
		default:
			w.t.Error("the session of the old tasknode lasts")
		}
	})
}
