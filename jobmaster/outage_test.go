package jobmaster_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/fault"
	"google.golang.org/protobuf/proto"
)

// outage makes calls of a file system fail.
type outage struct {
	mu  sync.Mutex
	err error // nil: the file system is available
	op  fault.Op
	in  string // calls of paths that contain it fail
}

// begin makes calls of a kind fail with err from now on.
func (o *outage) begin(op fault.Op, in string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.op, o.in, o.err = op, in, err
}

func (o *outage) end() { o.begin(fault.Any, "", nil) }

func (o *outage) ask(op fault.Op, path string) (time.Duration, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil || o.op != fault.Any && o.op != op || !strings.Contains(path, o.in) {
		return 0, nil
	}
	return 0, o.err
}

var errDown = storage.MarkUnavailable(fmt.Errorf("no answer from the NameNode"))

// withOutage runs a test on a cluster whose file system can fail.
func withOutage(t *testing.T, play func(w *testCluster, o *outage)) {
	withCluster(t, 2, func(w *testCluster) {
		o := new(outage)
		w.fs = fault.New(w.fs, fault.Options{Ask: o.ask})
		w.elect(0)
		w.addTasknode("a", 4, 2)
		play(w, o)
	})
}

// wantWaiting checks that a job waits for HDFS in a state, and says so.
func (w *testCluster) wantWaiting(id string, state wire.JobState) {
	w.t.Helper()
	synctest.Wait()
	s, err := w.leader().Job(w.ctx, id, false)
	must.Do(w.t, err)
	if s.State != state || !strings.Contains(s.Reason, "waiting for HDFS since 2000-01-01T") {
		w.t.Errorf("the job is %v (%s), its reason %q; want it to wait in state %v", s.State, s.Cause, s.Reason, state)
	}
}

func TestSetUpWaitsForHDFS(t *testing.T) {
	withOutage(t, func(w *testCluster, o *outage) {
		spec := w.staged(w.spec(4, 2))
		o.begin(fault.Any, "", errDown)
		id := w.submitSpec(spec)
		w.sleep(50 * time.Minute)
		w.wantWaiting(id, wire.JobState_PREP)
		o.end()
		w.wantDone(id)
		if got := w.attempts(); got != eachOnce {
			w.t.Errorf("attempts were %s", got)
		}
	})
}

func TestSplitsWaitForHDFSAfterAChangeOfLeader(t *testing.T) {
	withOutage(t, func(w *testCluster, o *outage) {
		id := w.submit(6, 2) // two maps more than slots: they start when the splits are loaded
		w.sleep(200 * time.Millisecond)
		o.begin(fault.Open, "/staging/", errDown)
		w.elect(1)
		w.sleep(40 * time.Minute)
		w.wantWaiting(id, wire.JobState_RUNNING)
		w.elect(0)
		w.sleep(40 * time.Minute)
		w.wantWaiting(id, wire.JobState_RUNNING)
		o.end()
		w.wantDone(id)
		if got := w.attempts(); strings.Contains(got, "_1 ") {
			w.t.Errorf("attempts were %s", got)
		}
	})
}

// TestCommitEndsTheLoadingOfSplits changes the leader when the last tasks run. The job does
// not need its splits any more, so an outage of the staging directory has no effect.
func TestCommitEndsTheLoadingOfSplits(t *testing.T) {
	withOutage(t, func(w *testCluster, o *outage) {
		id := w.submit(4, 2)
		w.sleep(1500 * time.Millisecond)
		o.begin(fault.Open, "/staging/", errDown)
		w.elect(1)
		w.wantDone(id)
	})
}

func TestCommitWaitsForHDFS(t *testing.T) {
	withOutage(t, func(w *testCluster, o *outage) {
		o.begin(fault.Rename, "/out/", errDown)
		id := w.submit(4, 2)
		w.sleep(30 * time.Minute)
		w.wantWaiting(id, wire.JobState_COMMITTING)
		w.elect(1)
		w.sleep(40 * time.Minute)
		w.wantWaiting(id, wire.JobState_COMMITTING)
		o.end()
		w.wantDone(id)
	})
}

func TestCleanUpWaitsForHDFS(t *testing.T) {
	withOutage(t, func(w *testCluster, o *outage) {
		id := w.submit(4, 2)
		w.sleep(500 * time.Millisecond)
		o.begin(fault.Remove, "/out", errDown)
		must.Do(t, w.leader().Kill(w.ctx, id, "test"))
		w.sleep(30 * time.Minute)
		w.wantWaiting(id, wire.JobState_ABORTING)
		w.elect(1)
		w.sleep(30 * time.Minute)
		w.wantWaiting(id, wire.JobState_ABORTING)
		o.end()
		if s := w.wait(id); s.State != wire.JobState_KILLED {
			t.Errorf("the job is %v", s.State)
		}
		if _, err := w.fs.Stat(context.Background(), "/out"); err == nil {
			t.Error("the output directory is left")
		}
	})
}

// TestOutageLimit checks that a job fails when the outage has lasted for the limit, and not
// earlier. Its clean-up waits for the same time, and then the job ends.
func TestOutageLimit(t *testing.T) {
	withOutage(t, func(w *testCluster, o *outage) {
		spec := w.staged(w.spec(1, 0))
		spec.Properties = map[string]string{"hammr.hdfs.outage.limit": "5m"}
		o.begin(fault.Any, "", errDown)
		id := w.submitSpec(spec)
		w.sleep(4 * time.Minute)
		w.wantWaiting(id, wire.JobState_PREP)
		s := w.wait(id)
		if s.State != wire.JobState_FAILED || !strings.Contains(s.Cause, "hammr.hdfs.outage.limit is 5m0s") || !strings.Contains(s.Cause, "no answer from the NameNode") {
			t.Errorf("the job is %v: %s", s.State, s.Cause)
		}
	})
}

// TestOtherErrorsFailAtOnce checks that a job does not wait after an error that another try
// does not change.
func TestOtherErrorsFailAtOnce(t *testing.T) {
	withOutage(t, func(w *testCluster, o *outage) {
		for op, in := range map[fault.Op]string{fault.Open: "/staging/", fault.Mkdir: "/out", fault.Rename: "/out/"} {
			o.begin(op, in, fs.ErrPermission)
			began := time.Now()
			spec := w.staged(w.spec(4, 2))
			spec.Sequence = uint64(w.specs)
			if s := w.wait(w.submitSpec(spec)); s.State != wire.JobState_FAILED || !strings.Contains(s.Cause, "permission") {
				t.Errorf("%s: the job is %v: %s", op, s.State, s.Cause)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("%s: the job failed after %v", op, took)
			}
		}
	})
}

// TestCauseOfAJobIsText lets the commit fail at a file whose name is not UTF-8, as a local file
// system allows. Messages and histories carry only UTF-8.
func TestCauseOfAJobIsText(t *testing.T) {
	withOutage(t, func(w *testCluster, o *outage) {
		o.begin(fault.Rename, "/out/", fmt.Errorf("cannot rename a\xffb"))
		s := w.wait(w.submit(1, 0))
		if _, err := proto.Marshal(s); err != nil || s.State != wire.JobState_FAILED || !strings.Contains(s.Cause, "cannot rename ab") {
			t.Errorf("the job is %v: %q, %v", s.State, s.Cause, err)
		}
		w.sleep(10 * time.Second)
		if p := w.leader().HistoryProblem(); p != (jobmaster.HistoryProblem{}) {
			t.Errorf("its history: %+v", p)
		}
	})
}

// TestTasksWaitForHDFS lets every write of an output fail for longer than four tries last.
func TestTasksWaitForHDFS(t *testing.T) {
	withOutage(t, func(w *testCluster, o *outage) {
		o.begin(fault.Create, "/out/", errDown)
		id := w.submit(4, 2)
		w.sleep(20 * time.Minute)
		if s, err := w.leader().Job(w.ctx, id, false); err != nil || s.State != wire.JobState_RUNNING {
			t.Fatalf("the job is %v (%s), %v", s.GetState(), s.GetCause(), err)
		}
		w.elect(1)
		w.sleep(20 * time.Minute)
		if n := strings.Count(w.attempts(), "r_000000"); n > 40*60/30+20 {
			t.Errorf("%d attempts of a reduce in 40 minutes, although the job pauses", n)
		}
		o.end()
		w.wantDone(id)
	})
}

func TestTasksFailAtTheOutageLimit(t *testing.T) {
	withOutage(t, func(w *testCluster, o *outage) {
		o.begin(fault.Create, "/out/", errDown)
		spec := w.staged(w.spec(4, 2))
		spec.Properties = map[string]string{"hammr.hdfs.outage.limit": "5m"}
		began := time.Now()
		s := w.wait(w.submitSpec(spec))
		if s.State != wire.JobState_FAILED || !strings.Contains(s.Cause, "hammr.hdfs.outage.limit") {
			t.Errorf("the job is %v: %s", s.State, s.Cause)
		}
		if took := time.Since(began); took < 5*time.Minute || took > 7*time.Minute {
			t.Errorf("it failed after %v", took)
		}
	})
}

// TestOneOutputDirectoryOneJob submits two jobs whose output directories overlap, before the
// first submission is in the log.
func TestOneOutputDirectoryOneJob(t *testing.T) {
	for first, second := range map[string]string{
		"mem:///out": "mem:///out", "mem:///out/": "mem:///x/..//out", "mem:///out/a": "mem:///out", "MEM:///out": "mem:///out/a/b",
	} {
		withCluster(t, 1, func(w *testCluster) {
			w.elect(0)
			synctest.Wait()
			w.delayProposals(0)
			var both sync.WaitGroup
			errs := make([]error, 2)
			for i, dir := range []string{first, second} {
				spec := w.staged(w.spec(1, 0))
				spec.OutputDir, spec.Sequence = dir, uint64(i+1)
				both.Go(func() { _, errs[i] = w.leader().Submit(w.ctx, w.staged(spec)) })
				synctest.Wait()
			}
			w.delayProposals(-1)
			both.Wait()
			if errs[0] != nil || errs[1] == nil || !strings.Contains(errs[1].Error(), "job_1_0001") {
				t.Errorf("%s and %s: %v", first, second, errs)
			}
		})
	}
}
