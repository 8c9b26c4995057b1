package chronos

import (
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
)

// traps start with two jobs, and end with the last plan, sorted.
var traps = []struct {
	name string
	conf Config
	run  func(w *testCluster)
	want []string
}{
	{"nothing is preempted of which nothing was heard since", Config{}, func(w *testCluster) {
		w.heartbeat(nil)
		w.expire("a")
		w.Now += 10 * DefaultWait
	}, nil},
	{"when the wait is over those of which something was heard are enough", Config{}, func(w *testCluster) {
		w.expire("a")
		w.heartbeat(nil)
		delete(w.reports, w.View().Machine("b").Attempts[0].ID)
		w.want(w.decide())
		w.Now += DefaultWait
	}, []string{"kill 2m.1"}},
	{"a slot elsewhere is not taken while word may come", Config{}, func(w *testCluster) {
		w.expire("a")
		w.do(cluster.ExitAttempt{Attempt: w.View().Machine("c").Attempts[0].ID})
	}, nil},
	{"others of the job take it", Config{}, func(w *testCluster) {
		third := w.job(0, "ab", "", "")
		w.do(cluster.SetPriority{Job: third.ID, Priority: 1})
		w.do(cluster.ExitAttempt{Attempt: w.View().Machine("a").Attempts[0].ID})
		w.start(third, 0, 0, "a")
		w.expire("a")
		w.do(cluster.ExitAttempt{Attempt: w.View().Machine("c").Attempts[0].ID})
	}, []string{"3m.1@c"}},
	{"a local slot is taken at once", Config{}, func(w *testCluster) {
		w.expire("a")
		w.do(cluster.ExitAttempt{Attempt: w.View().Machine("b").Attempts[0].ID})
	}, []string{"1m.0@b local"}},
	{"free slots come before others'", Config{}, func(w *testCluster) {
		w.expire("a")
		w.Now += DefaultWait
		w.heartbeat(nil)
		w.do(cluster.ExitAttempt{Attempt: w.View().Machine("c").Attempts[0].ID})
		w.do(cluster.ExitAttempt{Attempt: w.View().Machine("d").Attempts[0].ID})
	}, []string{"1m.0@c rack", "1m.1@d rack"}},
	{"no replica is left", Config{}, func(w *testCluster) {
		w.expire("a")
		w.expire("b")
		w.heartbeat(nil)
		w.Now += DefaultWait
	}, nil},
	{"a replica on an excluded machine is none", Config{}, func(w *testCluster) {
		w.expire("a")
		w.do(cluster.AdmitMachine{Name: "b", Excluded: true})
		w.heartbeat(nil)
		w.Now += DefaultWait
	}, nil},
	{"the machine comes back with nothing", Config{}, func(w *testCluster) {
		w.expire("a")
		w.heartbeat(nil)
		w.do(cluster.JoinMachine{Name: "a", Hosts: []string{"a"}, Slots: cluster.Slots{2, 2}, Instance: "2"})
	}, []string{"1m.0@a local", "1m.1@a local"}},
	{"a promise ends", Config{}, func(w *testCluster) {
		w.expire("a")
		w.heartbeat(nil)
		w.settle()
		w.want(w.decide())
		w.Now += DefaultReserve + 1
		w.heartbeat(nil)
		w.end()
	}, []string{"1m.0@b local", "1m.1@b local"}},
	{"what was promised once is not preempted twice", Config{}, func(w *testCluster) {
		w.finish(w.View().Machine("a").Attempts[0].ID, 1)
		w.do(cluster.KillJob{Job: cluster.JobID{Cluster: "1", Number: 1}, Cause: "test"})
		w.end()
		third := w.job(0, "ab")
		w.do(cluster.SetPriority{Job: third.ID, Priority: 1})
		w.start(third, 0, 0, "a")
		w.expire("a")
		w.heartbeat(nil)
		w.want(w.settle(), "kill 2m.0")
		w.Now += DefaultReserve + 1
		w.heartbeat(nil)
	}, nil},
	{"the job is killed", Config{}, func(w *testCluster) {
		w.expire("a")
		w.heartbeat(nil)
		w.settle()
		w.do(cluster.KillJob{Job: w.View().Job(cluster.JobID{Cluster: "1", Number: 1}).ID, Cause: "test"})
		w.end()
	}, []string{"2m.0@b", "2m.1@b"}},
	{"a job of lower priority waits for its turn", Config{}, func(w *testCluster) {
		w.expire("d") // with two maps of job 2 without split locations
		w.heartbeat(nil)
		w.Now += DefaultWait
	}, nil},
	{"of a higher one not", Config{}, func(w *testCluster) {
		w.do(cluster.SetPriority{Job: cluster.JobID{Cluster: "1", Number: 2}, Priority: 1})
		w.expire("d")
		w.heartbeat(nil)
	}, []string{"kill 1m.0"}},
	{"tasks of its own job only if configured", Config{SameJob: true}, func(w *testCluster) {
		w.expire("d")
		w.heartbeat(map[string]float64{"2m.3": .1})
	}, []string{"kill 2m.3"}},
}

func TestTraps(t *testing.T) {
	for _, tt := range traps {
		t.Run(tt.name, func(t *testing.T) {
			w := twoJobs(t, tt.conf)
			tt.run(w)
			got := w.decide()
			slices.Sort(got)
			w.want(got, tt.want...)
		})
	}
}
