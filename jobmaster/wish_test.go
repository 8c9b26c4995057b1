package jobmaster_test

import (
	"testing"
	"time"

	"github.com/hammr/hammr/jobmaster"
)

// TestPoolsByProperty submits a job for each way to choose a pool.
func TestPoolsByProperty(t *testing.T) {
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
		{"by user, in Hadoop 2's words", map[string]string{by: "mapreduce.job.user.name"}, "me"},
		{"by group", map[string]string{by: "group.name"}, "staff"},
		{"by another property", map[string]string{by: "my.team", "my.team": " nightly "}, "nightly"},
		{"by a property that names no pool", map[string]string{by: "my.team", "my.team": "nobody"}, "default"},
		{"by a property that is not there", map[string]string{by: "my.team"}, "default"},
		{"by name before property", map[string]string{by: "user.name", queue: "nightly"}, "nightly"},
		{"by the name of the default pool", map[string]string{by: "user.name", queue: "default"}, "default"},
	} {
		inWorld(t, 0, func(w *world) {
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

// TestOnePoolIsForAll has a master that nobody shares.
func TestOnePoolIsForAll(t *testing.T) {
	inWorld(t, 0, func(w *world) {
		w.configure = func(cfg *jobmaster.Config) { cfg.OnePool = true }
		w.elect(w.addMaster())
		spec := w.spec(1, 0)
		spec.Properties = map[string]string{"mapreduce.job.queuename": "nightly"}
		if s, err := w.leader().Job(w.ctx, w.submitSpec(spec), false); err != nil || s.Queue != "default" {
			t.Errorf("it is in %q, %v", s.GetQueue(), err)
		}
	})
}
