package jobmaster_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/storage"
)

// program stages an empty program and names it in a submission.
func (w *testCluster) program(spec *wire.JobSpec) (file string) {
	w.t.Helper()
	file = "/staging/artifacts/" + strings.Repeat("07", 32)
	f, err := w.fs.Create(w.ctx, file, storage.CreateOptions{})
	if err == nil {
		err = f.Close()
	}
	must.Do(w.t, err)
	spec.Binary, spec.BinarySha256 = "mem://"+file, []byte(strings.Repeat("\x07", 32))
	return file
}

// TestSubmissionWithoutItsProgramIsRefused submits a job whose program was removed after the
// client looked for it. The user learns what to do, and no task fails.
func TestSubmissionWithoutItsProgramIsRefused(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		synctest.Wait() // until the master knows that it leads
		spec := w.staged(w.spec(1, 0))
		must.Do(t, w.fs.Remove(w.ctx, w.program(spec), false))
		if _, err := w.leader().Submit(w.ctx, spec); err == nil || !strings.Contains(err.Error(), "is not there; submit the job again") {
			t.Errorf("error %v", err)
		}
		w.program(spec)
		if _, err := w.leader().Submit(w.ctx, spec); err != nil {
			t.Error(err)
		}
	})
}

// TestReservedProgramIsNotSwept keeps a submission between its check of an old program and the
// log, while the sweep runs. The program stays.
func TestReservedProgramIsNotSwept(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		checked, resume := make(chan struct{}), make(chan struct{})
		var waits atomic.Bool
		w.configure = func(cfg *jobmaster.Config) {
			resolve := cfg.Resolve
			cfg.Resolve = func(ctx context.Context, name string) (storage.FS, string, error) {
				if strings.HasPrefix(name, "mem:///staging/artifacts/") && waits.CompareAndSwap(true, false) {
					close(checked)
					<-resume
				}
				return resolve(ctx, name)
			}
		}
		w.addMaster()
		w.elect(0)
		spec := w.staged(w.spec(1, 0))
		file := w.program(spec)
		w.sleep(23 * time.Hour) // the next sweep is the first that could remove it
		waits.Store(true)
		submitted := make(chan error, 1)
		go func() {
			_, err := w.leader().Submit(w.ctx, spec)
			submitted <- err
		}()
		<-checked
		w.sleep(3 * time.Hour)
		close(resume)
		if err := <-submitted; err != nil {
			t.Error(err)
		}
		if _, err := w.fs.Stat(w.ctx, file); err != nil {
			t.Errorf("the program of a job was removed: %v", err)
		}
	})
}
