//go:build accept

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/bench/fleet"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// figure prints a line for the table of `make accept`.
func figure(format string, args ...any) { fmt.Printf("figure: "+format+"\n", args...) }

// memoryOf returns the resident memory of a process in MiB.
func memoryOf(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	must.Do(t, err)
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	must.Do(t, err)
	return kib >> 10
}

// acceptMinutes is how long the soak lasts.
func acceptMinutes(t *testing.T) time.Duration {
	minutes := 10.0
	if text := os.Getenv("HAMMR_ACCEPT_MINUTES"); text != "" {
		var err error
		minutes, err = strconv.ParseFloat(text, 64)
		must.Do(t, err)
	}
	return time.Duration(minutes * float64(time.Minute))
}

// Bounds of what a process may have more at the end of the soak than after its first minute.
const (
	moreGoroutines = 10
	moreMiB        = 64
)

// TestAcceptSoak lets watchers come and go while jobs run and the leader is killed every 30 s. One
// master is never killed; it and `hammr ui` may not grow.
func TestAcceptSoak(t *testing.T) {
	c := newRigged(t, 1)
	c.done("node", "remove", "n1")
	machines, err := fleet.Attach(t.Context(), c.cluster, fleet.Config{Machines: 16})
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, machines.Close()) })
	client, err := fleet.NewClient(c.cluster)
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, client.Close()) })

	spared := c.state.Masters[2]
	address, ui := serveUI(t, c.lasting("--masters", strings.Join(c.state.Addresses(), ","), "--token-file", c.dir+"/"+localcluster.TokenFile))
	addresses := []string{address}
	for _, m := range c.state.Masters {
		addresses = append(addresses, m.HTTP)
	}
	measure := func(when string) (goroutines, master, remote int) {
		waitUntil(t, "the spared master has no watcher", func() bool {
			goroutines = c.goroutines(spared)
			return goroutines > 0 && c.figure(spared, "hammr_watchers") == "0"
		})
		master, remote = memoryOf(t, spared.PID), memoryOf(t, ui.cmd.Process.Pid)
		figure("%s: %d goroutines and %d MiB of a master, %d MiB of hammr ui", when, goroutines, master, remote)
		return goroutines, master, remote
	}
	var goroutines, master, remote, kills, jobs int
	var opened, events int64
	lasts, killed := acceptMinutes(t), time.Now()
	for began := time.Now(); time.Since(began) < lasts; {
		w := c.engine.watch("/jobs", "jobs,masters", 25, addresses...)
		for range 3 {
			id, err := machines.Submit(t.Context(), client, fleet.Job{Maps: 50, Map: fleet.Exactly(time.Second), Seed: uint64(jobs)})
			must.Do(t, err)
			jobs++
			waitUntil(t, id+" is over", func() bool { s := c.look(id); return s != nil && s.FinishTime > 0 })
		}
		waitUntil(t, "all watchers have a page", func() bool { return w.seen("<h1>Jobs") == len(w.all) })
		w.stop()
		opened, events = opened+w.opened.Load(), events+w.events.Load()
		if goroutines == 0 && time.Since(began) > min(time.Minute, lasts/4) {
			goroutines, master, remote = measure("at the begin")
		}
		if time.Since(killed) > 30*time.Second {
			killed = time.Now()
			kills += c.replaceLeader(spared.ID)
		}
	}
	g, m, r := measure("at the end")
	figure("%d jobs, %d leaders killed, %d streams, %d events", jobs, kills, opened, events)
	if g > goroutines+moreGoroutines || m > master+moreMiB || r > remote+moreMiB {
		t.Errorf("%d goroutines, %d and %d MiB; before %d, %d and %d", g, m, r, goroutines, master, remote)
	}
}

// lasting returns a command for the cluster that runs as long as the soak.
func (e *engine) lasting(args ...string) command {
	c := e.command(args...)
	c.limit = acceptMinutes(e.t) + time.Hour
	return c
}

// replaceLeader kills the leader and starts it again, or makes another one lead if it is spared. It
// returns the number of masters that were killed.
func (c *rigged) replaceLeader(spared string) int {
	c.t.Helper()
	leader := c.leads()
	if leader == spared {
		c.done("master", "transfer", c.state.Masters[0].ID)
		return 0
	}
	must.Do(c.t, c.rig.Kill(c.t.Context(), leader))
	c.leads(leader)
	must.Do(c.t, c.rig.Start(c.t.Context(), leader))
	return 1
}

// TestAcceptSimulation serves a simulated job with 110,000 attempts, 500 a second, and asks for its
// pages while it runs and at its end. A median over its target fails.
func TestAcceptSimulation(t *testing.T) {
	began := time.Now()
	address, ui := serveUI(t, command{args: []string{"--sim", "spec:jobs=1,arrival=const:1s,maps=const:110000,map=const:2s,reduces=const:0", "--policy", "hfsp", "--nodes", "250", "--speed", "1"}, limit: time.Hour})
	pid := ui.cmd.Process.Pid
	b := &browser{t, "http://" + address, &http.Client{Timeout: time.Minute}}
	const job = "/jobs/job_sim_0001"
	targets := []struct {
		path   string
		target time.Duration
		bytes  int
	}{
		{job, 50 * time.Millisecond, 400 << 10}, {job + "/tasks?sort=-duration", 50 * time.Millisecond, 400 << 10}, {"/api/v1" + job + "/tasks?sort=-duration&state=SUCCEEDED", 50 * time.Millisecond, 400 << 10},
		{"/api/v1" + job + "/timeline?px=1600", 700 * time.Millisecond, 400 << 10}, {"/api/v1" + job + "/columns", 2 * time.Second, 64 << 20},
	}
	var state struct{ State string }
	cpu := cpuOf(t, pid)
	waitUntil(t, "half of the time is over", func() bool { return time.Since(began) > 110*time.Second })
	figure("half way: %.1f %% of a core for the simulation and the board, %d MiB", 100*(cpuOf(t, pid)-cpu).Seconds()/110, memoryOf(t, pid))
	for _, when := range []string{"while it runs", "at the end"} {
		for _, c := range targets {
			var times []time.Duration
			size := 0
			for range 20 {
				start := time.Now()
				size = len(b.page(c.path))
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			figure("%s %s: median %v, worst %v of 20 (target %v), %d KB", when, c.path, times[10].Round(time.Millisecond), times[19].Round(time.Millisecond), c.target, size/1000)
			if times[10] > c.target || size > c.bytes {
				t.Errorf("%s %s: median %v, target %v; %d bytes, at most %d", when, c.path, times[10], c.target, size, c.bytes)
			}
		}
		tick := time.NewTicker(time.Second)
		for end := time.Now().Add(10 * time.Minute); state.State != "SUCCEEDED" && time.Now().Before(end); <-tick.C {
			b.json("/jobs/job_sim_0001", &state)
		}
		tick.Stop()
	}
	figure("at the end: %d MiB", memoryOf(t, pid))
}
