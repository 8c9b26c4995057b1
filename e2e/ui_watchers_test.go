package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/bench/fleet"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// fleetCluster is a cluster of real masters whose tasks are timers.
type fleetCluster struct {
	*engine
	fleet  *fleet.Fleet
	client *remote.Client
}

// newFleet starts three masters and machines with 16 slots each.
func newFleet(t *testing.T, machines int) *fleetCluster {
	t.Helper()
	e := newEngineWithout(t, "--masters", "3")
	f, err := fleet.Attach(t.Context(), e.cluster, fleet.Config{Machines: machines})
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, f.Close()) })
	c, err := fleet.NewClient(e.cluster)
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, c.Close()) })
	return &fleetCluster{e, f, c}
}

// run submits a job of so many tasks of half a second.
func (f *fleetCluster) run(tasks int) (id string) {
	f.t.Helper()
	id, err := f.fleet.Submit(f.t.Context(), f.client, fleet.Job{Maps: tasks, Map: fleet.Exactly(500 * time.Millisecond), Seed: 1})
	must.Do(f.t, err)
	return id
}

// await waits for the end of a job. It asks without the tasks, whose thousands cost the leader more
// than a watcher.
func (f *fleetCluster) await(id string) (finished time.Time) {
	f.t.Helper()
	waitUntil(f.t, id+" is over", func() bool {
		ctx, cancel := context.WithTimeout(f.t.Context(), time.Second)
		defer cancel()
		s, err := docs.Progress.From(ctx, f.cluster.Client(), docs.JobID{Job: id})
		finished = time.UnixMilli(s.GetFinishTime())
		return err == nil && s.FinishTime > 0
	})
	return finished
}

// goroutines returns the number of goroutines of a master.
func (e *engine) goroutines(m localcluster.Master) int {
	n, _ := strconv.Atoi(e.figure(m, "go_goroutines"))
	return n
}

// followerOf returns a master that does not lead.
func (e *engine) followerOf(leader localcluster.Master) localcluster.Master {
	for _, m := range e.state.Masters {
		if m.ID != leader.ID {
			return m
		}
	}
	return leader
}

// watchedTasks is the number of tasks of a job that is watched.
const watchedTasks = 2000

// TestWatchers lets 100 clients follow a job with thousands of tasks at the leader and at a follower.
// All of them see its end, and no watcher stays. Then the leader is killed while a client
// watches, and at last a master that is alone shows how old its figures are.
//
// Gate: internal/web.TestHubAsksOnceForAll, internal/web.TestStreamsEnd, internal/web.TestWatchersContinueAtAnyMaster
func TestWatchers(t *testing.T) {
	testlevel.Nightly(t)
	t.Parallel()
	f := newFleet(t, 16)
	leader := f.awaitLeader("")
	follower := f.followerOf(leader)

	alone := f.cpuDuring(leader, func() { f.await(f.run(watchedTasks)) })
	before := [2]int{f.goroutines(leader), f.goroutines(follower)}
	id := f.run(watchedTasks)
	var w *watchers
	with := f.cpuDuring(leader, func() {
		w = f.watch("/jobs/"+id, "job/"+id, 100, leader.HTTP, follower.HTTP)
		waitUntil(t, "all watch", func() bool {
			return f.figure(leader, "hammr_watchers") == "100" && f.figure(follower, "hammr_watchers") == "100"
		})
		f.await(id)
		waitUntil(t, "all watchers see the end", func() bool { return w.seen("SUCCEEDED") == len(w.all) })
	})
	w.stop()
	t.Logf("CPU of the leader for %d tasks: %.2f s, with 100 watchers there and 100 at a follower %.2f s; %d events, %.1f MB of fragments",
		watchedTasks, alone.Seconds(), with.Seconds(), w.events.Load(), float64(w.fetched.Load())/1e6)
	if n := w.opened.Load(); n != int64(len(w.all)) {
		t.Errorf("%d streams were opened, want %d", n, len(w.all))
	}
	if now := f.awaitLeader(""); now.ID != leader.ID { // then the goroutines of masters are others
		t.Logf("on this busy machine %s has lost the lead to %s", leader.ID, now.ID)
		leader, follower = now, leader
	} else {
		for i, m := range []localcluster.Master{leader, follower} {
			waitUntil(t, m.ID+" has no watcher", func() bool { return f.figure(m, "hammr_watchers") == "0" })
			t.Logf("%s has %d goroutines, and had %d before", m.ID, f.goroutines(m), before[i])
		}
	}
	f.checkLostLeader(leader, follower)
	f.checkAlone(leader, follower)
}

// cpuDuring returns the CPU time that a master uses during a function.
func (f *fleetCluster) cpuDuring(m localcluster.Master, run func()) time.Duration {
	f.t.Helper()
	before := cpuOf(f.t, m.PID)
	run()
	return cpuOf(f.t, m.PID) - before
}

// checkLostLeader kills the leader while a client watches the list of jobs at a follower. Jobs that
// are submitted afterwards appear.
func (f *fleetCluster) checkLostLeader(leader, follower localcluster.Master) {
	f.t.Helper()
	w := f.watch("/jobs", "jobs", 1, follower.HTTP)
	waitUntil(f.t, "the client watches", func() bool { return w.seen("<h1>Jobs") == 1 })
	killed := time.Now()
	must.Do(f.t, syscall.Kill(leader.PID, syscall.SIGKILL))
	var times []time.Duration
	for range 3 {
		id := f.run(1)
		acknowledged := time.Now()
		waitUntil(f.t, "the client sees "+id, func() bool { return w.seen(id) == 1 })
		_, at := w.all[0].shown()
		times = append(times, at.Sub(acknowledged))
		f.await(id)
		if len(times) == 1 {
			f.t.Logf("the first change is visible %.1f s after the leader was killed", at.Sub(killed).Seconds())
		}
	}
	f.t.Logf("changes are visible after %v, with %d streams", times, w.opened.Load())
	w.stop()
}

// checkAlone stops the other master that is left. The one that is alone answers from what it has, and
// says how old that is.
func (f *fleetCluster) checkAlone(dead, alone localcluster.Master) {
	f.t.Helper()
	b := newBrowser(f.t, alone.HTTP, f.dir+"/"+localcluster.TokenFile)
	paths := []string{"/", "/jobs", "/nodes"}
	for _, path := range paths {
		b.page(path) // it has the leader's figures from now on
	}
	for _, m := range f.state.Masters {
		if m.ID != dead.ID && m.ID != alone.ID {
			must.Do(f.t, syscall.Kill(m.PID, syscall.SIGSTOP))
			defer func() { must.Do(f.t, syscall.Kill(m.PID, syscall.SIGCONT)) }()
		}
	}
	for _, path := range paths {
		waitUntil(f.t, path+" says that its figures are old", func() bool {
			page := b.page(path)
			warns := strings.Contains(page, "The cluster has no leader.") || strings.Contains(page, "Not all of the cluster answers now.")
			return warns && strings.Contains(page, " old.")
		})
	}
	waitUntil(f.t, "the API says that its figures are old", func() bool {
		age, rows := f.age(b)
		return age >= 5*time.Second && rows > 0
	})
}

// age returns how old the list of jobs of a server is, and how many jobs it has.
func (f *fleetCluster) age(b *browser) (age time.Duration, jobs int) {
	ctx, cancel := context.WithTimeout(f.t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.root+"/api/v1/jobs", nil)
	must.Do(f.t, err)
	answer, err := b.http.Do(r)
	must.Do(f.t, err)
	defer answer.Body.Close()
	var page struct{ Total int }
	if answer.StatusCode != http.StatusOK || json.NewDecoder(answer.Body).Decode(&page) != nil {
		f.t.Fatalf("jobs of a master that is alone: status %d", answer.StatusCode)
	}
	millis, _ := strconv.Atoi(answer.Header.Get("Hammr-Age"))
	return time.Duration(millis) * time.Millisecond, page.Total
}
