package jobmaster_test

import (
	"cmp"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
)

// TestPoolsAreCreated submits a job that chooses a pool by its user, a property or its name. Only
// the pool nightly is declared.
func TestPoolsAreCreated(t *testing.T) {
	const queue, by, refused = "mapreduce.job.queuename", "mapred.fairscheduler.poolnameproperty", "refused"
	user := map[string]string{by: "user.name"}
	for _, tt := range []struct {
		mode, user string
		properties map[string]string
		want       string
	}{
		{"", "me", user, "me"},
		{"", "john.doe", user, "john.doe"},
		{"", "me", map[string]string{queue: "me"}, "me"},
		{"", "me", map[string]string{queue: "you"}, refused},
		{"", "me", map[string]string{queue: "nigthly"}, refused},
		{"", "me", map[string]string{by: "group.name"}, "default"},
		{"", "realm/me", user, "default"},
		{"", "..", user, "default"},
		{"any", "me", map[string]string{queue: "nigthly"}, "nigthly"},
		{"any", "me", map[string]string{by: "group.name"}, "staff"},
		{"any", "me", map[string]string{by: "my.team"}, "default"},
		{"any", "me", map[string]string{queue: "a b"}, refused},
		{"none", "me", user, "default"},
		{"none", "me", map[string]string{queue: "me"}, refused},
	} {
		withCluster(t, 0, func(w *testCluster) {
			w.configure = func(cfg *jobmaster.Config) { cfg.CreatePools, cfg.Pools = tt.mode, []string{"nightly"} }
			w.elect(w.addMaster())
			w.sleep(time.Second)
			spec := w.spec(1, 0)
			spec.Properties, spec.User, spec.Group = tt.properties, tt.user, "staff"
			id, err := w.leader().Submit(w.ctx, w.staged(spec))
			got := refused
			if err == nil {
				s, err := w.leader().Job(w.ctx, id, false)
				must.Do(t, err)
				got = s.Queue
			} else if !errors.Is(err, cluster.ErrRefused) {
				t.Error(err)
			}
			if got != tt.want {
				t.Errorf("create %s, user %s, %v: %s (%v), want %s", cmp.Or(tt.mode, "by default"), tt.user, tt.properties, got, err, tt.want)
			}
		})
	}
}

// TestCreatedPoolsExistWhileTheyHaveJobs follows the pool of a user, which another leader knows too.
func TestCreatedPoolsExistWhileTheyHaveJobs(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.pools = []string{"nightly"}
		w.elect(w.addMaster())
		other := w.addMaster()
		w.sleep(time.Second)
		spec := w.spec(1, 0)
		spec.Properties = map[string]string{"mapreduce.job.queuename": "me"}
		id, moved := w.submitSpec(spec), w.submitSpec(w.another(1, 0))
		w.wantQueues("default", "me", "nightly")
		must.Do(t, w.leader().MoveJob(w.ctx, moved, "me"))
		if err := w.leader().MoveJob(w.ctx, moved, "you"); !errors.Is(err, cluster.ErrRefused) {
			t.Errorf("a move to the pool of another user: %v", err)
		}
		w.elect(other)
		w.sleep(time.Second)
		if q := w.queues()["me"]; q.State != "RUNNING" || q.Jobs.Waiting != 2 {
			t.Errorf("the pool is %v", q)
		}
		theirs := w.spec(1, 0)
		theirs.Sequence, theirs.OutputDir, theirs.User, theirs.Properties = 3, "mem:///third", "you", spec.Properties
		if _, err := w.leader().Submit(w.ctx, w.staged(theirs)); !errors.Is(err, cluster.ErrRefused) {
			t.Errorf("another user's job in the pool: %v", err)
		}
		w.addTasknode("a", 1, 0)
		w.wantSucceeded(id)
		w.wantSucceeded(moved)
		w.wantQueues("default", "nightly")
	})
}

// TestCreatedPoolsAreBounded fills the pools that are created.
func TestCreatedPoolsAreBounded(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		w.configure = func(cfg *jobmaster.Config) { cfg.CreatePools = jobmaster.CreateAnyPool }
		w.elect(w.addMaster())
		w.sleep(time.Second)
		submit := func(n int, pool string) error {
			spec := w.spec(1, 0)
			spec.User, spec.Sequence, spec.OutputDir = fmt.Sprint("user", n%3), uint64(n), fmt.Sprint("mem:///out", n)
			spec.Properties = map[string]string{"mapreduce.job.queuename": pool}
			_, err := w.leader().Submit(w.ctx, w.staged(spec))
			return err
		}
		const most = 1000
		for n := range most {
			must.Do(t, submit(n, fmt.Sprint("p", n)))
		}
		if err := submit(most, "one-more"); !errors.Is(err, cluster.ErrRefused) {
			t.Errorf("one more pool: %v", err)
		}
		must.Do(t, submit(most, "p7"))
		must.Do(t, submit(most+1, "default"))
	})
}
