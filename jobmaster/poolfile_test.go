package jobmaster_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/sched/pool"
)

// poolFile is a pool file that a test changes.
type poolFile struct {
	mu struct {
		sync.Mutex
		content string
		changed time.Time
		err     error
	}
}

func (f *poolFile) write(pools string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.content, f.mu.changed, f.mu.err = "<allocations>"+pools+"</allocations>", time.Now(), nil
}

func (f *poolFile) remove() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.err = fs.ErrNotExist
}

func (f *poolFile) read() ([]byte, time.Time, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return []byte(f.mu.content), f.mu.changed, f.mu.err
}

func (f *poolFile) follow(cfg *jobmaster.Config) {
	cfg.Pools = []string{"adhoc"}
	cfg.PoolFile = &jobmaster.PoolFile{
		Name: "pools.xml", Read: f.read,
		Parse: func(content []byte) (pools, warnings []string, err error) {
			a, err := pool.Parse("pools.xml", content)
			if err != nil {
				return nil, nil, err
			}
			for _, w := range a.Warnings {
				warnings = append(warnings, w.Error())
			}
			return a.LeafNames(), warnings, nil
		},
		Set: func(policy string, conf map[string]string, content string) map[string]string {
			if policy != "fair" {
				return conf
			}
			conf = maps.Clone(conf)
			conf["pools"] = content
			return conf
		},
	}
}

// withPoolFile runs a test whose two masters watch a pool file; the first one leads.
func withPoolFile(t *testing.T, pools string, play func(w *testCluster, f *poolFile)) {
	withCluster(t, 0, func(w *testCluster) {
		f := new(poolFile)
		f.write(pools)
		w.configure = f.follow
		w.addMaster()
		w.addMaster()
		w.elect(0)
		w.sleep(time.Second)
		play(w, f)
	})
}

func (w *testCluster) policy() apidoc.Policy {
	w.t.Helper()
	p, err := w.leader().Policy(w.ctx)
	must.Do(w.t, err)
	return p
}

func (w *testCluster) wantQueues(want ...string) {
	w.t.Helper()
	if got := slices.Sorted(maps.Keys(w.queues())); !slices.Equal(got, want) {
		w.t.Errorf("queues are %q, want %q", got, want)
	}
}

// TestPoolFileIsApplied changes the file, breaks it, removes it, and changes the leader.
func TestPoolFileIsApplied(t *testing.T) {
	withPoolFile(t, `<pool name="a"/>`, func(w *testCluster, f *poolFile) {
		w.wantQueues("a", "adhoc", "default")
		must.Do(t, w.leader().SetPolicy(w.ctx, "fair", map[string]string{"x": "1"}))
		if conf := w.policy().Conf; conf["x"] != "1" || !strings.Contains(conf["pools"], `"a"`) {
			t.Errorf("fair is set to %q", conf)
		}
		spec := w.another(1, 0)
		spec.Properties = map[string]string{"mapreduce.job.queuename": "a"}
		id := w.submitSpec(spec)

		f.write(`<pool name="b"><weight>3</weight><color>red</color></pool>`)
		w.sleep(20 * time.Second)
		w.wantQueues("a", "adhoc", "b", "default")
		queues := w.queues()
		if queues["a"].State != "DRAINING" || queues["a"].Jobs.Waiting != 1 || queues["b"].Allotment.Weight != 3 {
			t.Errorf("queues are %v", queues)
		}
		if a := w.policy().Allocations; len(a.Warnings) != 1 || !strings.Contains(a.Warnings[0], "color") || len(a.Problems) != 0 || a.Taken == 0 {
			t.Errorf("the file is %v", a)
		}
		again := w.spec(1, 0)
		again.Sequence, again.OutputDir, again.Properties = 3, "mem:///third", spec.Properties
		if _, err := w.leader().Submit(w.ctx, w.staged(again)); !errors.Is(err, cluster.ErrRefused) {
			t.Errorf("a job for a pool that is gone: %v", err)
		}

		f.write(`<pool name="c"><weight>-1</weight></pool><pool/>`)
		w.sleep(20 * time.Second)
		if a := w.policy().Allocations; len(a.Problems) != 2 || !strings.Contains(a.Problems[0], "pools.xml:1") {
			t.Errorf("the file is %v", a)
		}
		f.remove()
		w.sleep(20 * time.Second)
		if a := w.policy().Allocations; len(a.Problems) != 1 || a.Problems[0] != fs.ErrNotExist.Error() {
			t.Errorf("the file is %v", a)
		}
		if q := w.queues()["b"]; q.Allotment == nil || q.Allotment.Weight != 3 {
			t.Errorf("b is %v", q)
		}
		w.elect(1)
		w.sleep(20 * time.Second)
		if q := w.queues()["b"]; q.Allotment == nil || q.Allotment.Weight != 3 || q.State != "RUNNING" {
			t.Errorf("under the next leader, b is %v", q)
		}
		w.addTasknode("n", 1, 0)
		w.wantSucceeded(id)
	})
}

// TestPoolFileIsReadOnceItHasSettled checks that a file in the middle of a change is not
// applied.
func TestPoolFileIsReadOnceItHasSettled(t *testing.T) {
	withPoolFile(t, ``, func(w *testCluster, f *poolFile) {
		w.sleep(8 * time.Second) // one second before the file is read
		f.write(`<pool name="a"/>`)
		w.sleep(2 * time.Second)
		w.wantQueues("adhoc", "default")
		w.sleep(10 * time.Second)
		w.wantQueues("a", "adhoc", "default")
	})
}

// TestInitialPolicyIsThatOfANewCluster restarts the lead: with a tasknode the cluster keeps the policy that
// a user has chosen. A policy of the configuration replaces both.
func TestInitialPolicyIsThatOfANewCluster(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		want := func(when, policy, conf string) {
			t.Helper()
			w.sleep(time.Second)
			if p := w.policy(); p.Policy != policy || fmt.Sprint(p.Conf) != conf {
				t.Errorf("%s: policy %s %v, want %s %s", when, p.Policy, p.Conf, policy, conf)
			}
		}
		w.configure = func(cfg *jobmaster.Config) {
			cfg.InitialPolicy, cfg.InitialConf = "fair", map[string]string{"pools": "<allocations></allocations>"}
		}
		w.addMaster()
		w.addMaster()
		w.elect(0)
		want("a new cluster", "fair", "map[pools:<allocations></allocations>]")
		w.addTasknode("n1", 1, 0)
		w.sleep(time.Second)
		must.Do(t, w.leader().SetPolicy(w.ctx, "fifo", nil))
		w.elect(1)
		want("a cluster with a tasknode", "fifo", "map[]")
	})
	withCluster(t, 0, func(w *testCluster) {
		w.configure = func(cfg *jobmaster.Config) { cfg.InitialPolicy, cfg.PolicyName = "fair", "fifo" }
		w.addMaster()
		w.elect(0)
		w.sleep(time.Second)
		if p := w.policy().Policy; p != "fifo" {
			t.Errorf("policy %s, want that of PolicyName", p)
		}
	})
}

// TestPolicySetLaterHasThePools sets the policy by the configuration of a master. That
// configuration does not contain the pools.
func TestPolicySetLaterHasThePools(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		f := new(poolFile)
		f.write(`<pool name="a"><weight>7</weight></pool>`)
		w.configure = func(cfg *jobmaster.Config) {
			f.follow(cfg)
			cfg.PolicyName = "fair"
		}
		w.addMaster()
		w.elect(0)
		w.sleep(time.Second)
		if q := w.queues()["a"]; q.Allotment == nil || q.Allotment.Weight != 7 {
			t.Errorf("a is %v", q)
		}
	})
}
