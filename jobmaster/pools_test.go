package jobmaster_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/wire"
)

func TestJobsMoveBetweenPools(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.pools = []string{"nightly"}
		other := w.addMaster()
		w.elect(0)
		id := w.submit(1, 0)
		w.sleep(time.Second)
		m := w.leader()
		err := m.MoveJob(w.ctx, id, "nightly")
		if !errors.Is(err, cluster.ErrRefused) || !strings.Contains(err.Error(), `pool "nightly": not one of default`) {
			w.t.Errorf("a pool that is not there: %v", err)
		}
		if err := m.MoveJob(w.ctx, "job_1_0009", cluster.DefaultPool); !errors.Is(err, cluster.ErrUnknown) {
			w.t.Errorf("a job that is not there: %v", err)
		}
		w.elect(other)
		w.sleep(time.Second)
		m = w.leader()
		if err := m.MoveJob(w.ctx, id, "nightly"); err != nil {
			w.t.Error(err)
		}
		jobs, err := m.Jobs(w.ctx, false)
		if err != nil || len(jobs) != 1 || jobs[0].Queue != "nightly" || jobs[0].Priority != "NORMAL" {
			w.t.Errorf("jobs are %v, %v", jobs, err)
		}
		spec := w.another(1, 0)
		spec.Properties = map[string]string{"mapreduce.job.queuename": "weekly"}
		if _, err := m.Submit(w.ctx, spec); !errors.Is(err, cluster.ErrRefused) || !strings.Contains(err.Error(), "default, nightly") {
			w.t.Errorf("a job for a pool that is not there: %v", err)
		}
		w.addNode("a", 1, 1)
		w.succeeds(id)
		if err := m.MoveJob(w.ctx, id, cluster.DefaultPool); !errors.Is(err, cluster.ErrRefused) {
			w.t.Errorf("a job that is over is moved: %v", err)
		}
	})
}

// another is a job beside that of spec.
func (w *world) another(maps, reduces int) *wire.JobSpec {
	spec := w.spec(maps, reduces)
	spec.Sequence, spec.OutputDir = 2, "mem:///another"
	return spec
}

// succeeds waits for a job whose output does not matter.
func (w *world) succeeds(id string) {
	w.t.Helper()
	if s := w.wait(id); s.State != wire.JobState_SUCCEEDED {
		w.t.Errorf("%s is %v: %s", id, s.State, s.Cause)
	}
}
