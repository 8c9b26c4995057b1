package jobmaster_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/jobmaster"
)

func TestJobsMoveBetweenPools(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
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
		if _, err := m.Submit(w.ctx, w.staged(spec)); !errors.Is(err, cluster.ErrRefused) || !strings.Contains(err.Error(), "default, nightly") {
			w.t.Errorf("a job for a pool that is not there: %v", err)
		}
		w.addTasknode("a", 1, 1)
		w.wantSucceeded(id)
		if err := m.MoveJob(w.ctx, id, cluster.DefaultPool); !errors.Is(err, cluster.ErrRefused) {
			w.t.Errorf("a job that is over is moved: %v", err)
		}
	})
}

// another returns a job whose output directory differs from the one in spec.
func (w *testCluster) another(maps, reduces int) *wire.JobSpec {
	spec := w.spec(maps, reduces)
	spec.Sequence, spec.OutputDir = 2, "mem:///another"
	return spec
}

// wantSucceeded waits for a job whose output does not matter.
func (w *testCluster) wantSucceeded(id string) {
	w.t.Helper()
	if s := w.wait(id); s.State != wire.JobState_SUCCEEDED {
		w.t.Errorf("%s is %v: %s", id, s.State, s.Cause)
	}
}

// TestPoolChoice submits a job for each property that chooses a pool.
func TestPoolChoice(t *testing.T) {
	const queue, by = "mapreduce.job.queuename", "mapred.fairscheduler.poolnameproperty"
	for _, tt := range []struct {
		name       string
		properties map[string]string
		want       string
	}{
		{"by nothing", nil, "default"},
		{"by name", map[string]string{queue: "nightly"}, "nightly"},
		{"by Hadoop 1's name", map[string]string{"mapred.fairscheduler.pool": "nightly"}, "nightly"},
		{"by user", map[string]string{by: "user.name"}, "me"},
		{"by Hadoop 2's name of the user", map[string]string{by: "mapreduce.job.user.name"}, "me"},
		{"by group", map[string]string{by: "group.name"}, "staff"},
		{"by another property", map[string]string{by: "my.team", "my.team": " nightly "}, "nightly"},
		{"by a property that names an unknown pool", map[string]string{by: "my.team", "my.team": "nobody"}, "default"},
		{"by a property that is not set", map[string]string{by: "my.team"}, "default"},
		{"by name before property", map[string]string{by: "user.name", queue: "nightly"}, "nightly"},
		{"by the name of the default pool", map[string]string{by: "user.name", queue: "default"}, "default"},
	} {
		withCluster(t, 0, func(w *testCluster) {
			w.pools = []string{"nightly", "me", "staff"}
			w.elect(w.addMaster())
			w.sleep(time.Second)
			spec := w.spec(1, 0)
			spec.Properties, spec.Group = tt.properties, "staff"
			id := w.submitSpec(spec)
			if s, err := w.leader().Job(w.ctx, id, false); err != nil || s.Queue != tt.want {
				t.Errorf("%s: it is in %q, %v; want %q", tt.name, s.GetQueue(), err, tt.want)
			}
		})
	}
}

// TestOnePoolTakesEveryJob tests Config.OnePool.
func TestOnePoolTakesEveryJob(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		w.configure = func(cfg *jobmaster.Config) { cfg.OnePool = true }
		w.elect(w.addMaster())
		spec := w.spec(1, 0)
		spec.Properties = map[string]string{"mapreduce.job.queuename": "nightly"}
		if s, err := w.leader().Job(w.ctx, w.submitSpec(spec), false); err != nil || s.Queue != "default" {
			t.Errorf("it is in %q, %v", s.GetQueue(), err)
		}
	})
}
