//go:build accept

package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/hammr/hammr/bench/fleet"
	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// How the cost of watchers is measured: in windows of one job, in turn without and with them, so that
// the size of the state and the load are alike in neighbours. Medians are of so many windows with watchers.
const (
	windowTime   = 8 * time.Second
	windowSettle = 2 * time.Second // after watchers have come or gone
	windowPairs  = 5
	windowRate   = 500 // attempts a second for which the cost is stated
	changes      = 4   // of the job's priority in each window
)

// window is what was measured in one of them.
type window struct {
	rate             float64 // attempts a second
	leader, follower float64 // CPU, % of a core at windowRate
	turn             float64 // p99 of the loop's turns, ms
	bytes            float64 // of fragments a second and watcher
	delays           []time.Duration
}

// watchMeter measures windows of a job.
type watchMeter struct {
	*fleetCluster
	jobs             []string // the priority of the first one changes
	leader, follower localcluster.Master
	priority         int
}

func newWatchMeter(t *testing.T) *watchMeter {
	t.Setenv("HAMMR_HTTP_PROXIES", "127.0.0.0/8") // all watchers are of one machine, which may have 256 connections otherwise
	m := &watchMeter{fleetCluster: newFleet(t, 84)}
	m.leader = m.awaitLeader("")
	m.follower = m.followerOf(m.leader)
	return m
}

// TestAcceptWatchers lets clients follow jobs with about 500 attempts a second. It measures what they cost
// masters, and how soon they see a change.
func TestAcceptWatchers(t *testing.T) {
	for _, c := range []struct {
		name                 string
		jobs                 int
		leader, follower     int     // watchers of each job
		ofLeader, ofFollower float64 // bounds of CPU, % of a core
	}{
		{"100 watchers at the leader", 1, 100, 0, 5, 100},
		{"100 watchers at a follower", 1, 0, 100, 2, 100},
		{"100 watchers of 100 jobs at a follower", 100, 0, 1, 2, 18}, // the aim is 15; processors of a shared machine vary by a fifth
		{"1,000 watchers at both", 1, 500, 500, 100, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newWatchMeter(t)
			before := [2]int{m.goroutines(m.leader), m.goroutines(m.follower)}
			m.submit(c.jobs)
			without, with := []window{m.window()}, []window(nil)
			for range windowPairs {
				var groups []*watchers
				for _, id := range m.jobs {
					for master, n := range map[string]int{m.leader.HTTP: c.leader, m.follower.HTTP: c.follower} {
						if n > 0 {
							groups = append(groups, m.watch("/jobs/"+id, "job/"+id, n, master))
						}
					}
				}
				for _, w := range groups {
					waitUntil(t, "all watch", func() bool { return w.seen("<dt>Priority</dt>") == len(w.all) })
				}
				with = append(with, m.window(groups...))
				for _, w := range groups {
					w.stop()
				}
				without = append(without, m.window())
			}
			m.listTasks()
			for _, id := range m.jobs {
				must.Do(t, m.client.Kill(t.Context(), id, "measured"))
			}
			m.compare(c.name, c.ofLeader, c.ofFollower, without, with)
			for i, master := range []localcluster.Master{m.leader, m.follower} {
				m.awaitGoroutines(master, before[i])
			}
		})
	}
}

// idleMemory bounds what 1,000 idle watchers may take, in MiB. The aim is 32; a part of the process's memory
// is what their sign-in has left, which the runtime gives back later.
const idleMemory = 48

// TestAcceptIdleWatchers opens 1,000 streams of a cluster in which nothing happens.
func TestAcceptIdleWatchers(t *testing.T) {
	m := newWatchMeter(t)
	used := func() time.Duration {
		<-time.After(windowSettle)
		return m.cpuDuring(m.follower, func() { <-time.After(windowTime) })
	}
	memory, without := memoryOf(t, m.follower.PID), used()
	w := m.watch("/jobs", "jobs", 1000, m.follower.HTTP)
	waitUntil(t, "all watch", func() bool { return w.seen("<h1>Jobs") == len(w.all) })
	<-time.After(idleConnection) // their connections for fragments are closed
	more := 100 * (used() - without).Seconds() / windowTime.Seconds()
	memory = memoryOf(t, m.follower.PID) - memory
	figure("1,000 idle watchers at a follower: %+.1f %% of a core, %+d MiB", more, memory)
	if more > 1 || memory > idleMemory {
		t.Errorf("1,000 idle watchers cost %.1f %% of a core and %d MiB, at most 1 and %d", more, memory, idleMemory)
	}
	w.stop()
}

// listTasks measures the list of all tasks in the form of Hadoop's API, which has no pages.
func (m *watchMeter) listTasks() {
	b := newBrowser(m.t, m.follower.HTTP, m.dir+"/"+localcluster.TokenFile)
	began, memory := time.Now(), memoryOf(m.t, m.follower.PID)
	size := len(b.page("/ws/v1/mapreduce/jobs/" + m.jobs[0] + "/tasks"))
	figure("all %d tasks by Hadoop's API: %v, %.1f MB, %+d MiB", allTasks/len(m.jobs), time.Since(began).Round(time.Millisecond), float64(size)/1e6, memoryOf(m.t, m.follower.PID)-memory)
}

// allTasks is the number of tasks of all jobs.
const allTasks = 120_000

// submit submits jobs that share the cluster until all windows are over, and waits until they run at
// their full rate.
func (m *watchMeter) submit(jobs int) {
	must.Do(m.t, client.SetPolicy(m.t.Context(), m.client, "fair", nil))
	for range jobs {
		id, err := m.fleet.Submit(m.t.Context(), m.client, fleet.Job{Maps: allTasks / jobs, Map: fleet.Exactly(2 * time.Second), Seed: 1})
		must.Do(m.t, err)
		m.jobs = append(m.jobs, id)
	}
	waitUntil(m.t, "the jobs run", func() bool { return m.started() > 2000 })
}

// started returns the number of attempts that the leader has started.
func (m *watchMeter) started() float64 {
	n, _ := strconv.ParseFloat(m.figure(m.leader, "hammr_wait_seconds_count"), 64)
	return n
}

// window measures a window. The priority of the first job changes in it, also if there is no watcher.
func (m *watchMeter) window(groups ...*watchers) (out window) {
	<-time.After(windowSettle)
	all, ofFirst, fetched := 0, 0, int64(0)
	for _, w := range groups {
		all, fetched = all+len(w.all), fetched-w.fetched.Load()
		if w.path == "/jobs/"+m.jobs[0] {
			ofFirst += len(w.all)
		}
	}
	began, started, leader, follower := time.Now(), m.started(), cpuOf(m.t, m.leader.PID), cpuOf(m.t, m.follower.PID)
	for i := range changes {
		m.priority = 1 - m.priority
		var expected []*sighting
		for _, w := range groups {
			if w.path == "/jobs/"+m.jobs[0] {
				expected = append(expected, w.expect(fmt.Sprintf("<dt>Priority</dt><dd>%s</dd>", apidoc.PriorityName(m.priority))))
			}
		}
		at := time.Now()
		must.Do(m.t, client.Change(m.t.Context(), m.client, "job.priority", m.jobs[0], apidoc.PriorityName(m.priority)))
		<-time.After(time.Until(began.Add(windowTime * time.Duration(i+1) / changes)))
		for _, s := range expected {
			for _, seen := range s.times() {
				out.delays = append(out.delays, seen.Sub(at))
			}
		}
		for len(out.delays) < (i+1)*ofFirst {
			out.delays = append(out.delays, windowTime) // not seen before the next change
		}
	}
	attempts, took := m.started()-started, time.Since(began).Seconds()
	cost := func(used time.Duration) float64 { return 100 * used.Seconds() / attempts * windowRate }
	out.rate, out.leader, out.follower = attempts/took, cost(cpuOf(m.t, m.leader.PID)-leader), cost(cpuOf(m.t, m.follower.PID)-follower)
	out.turn, _ = strconv.ParseFloat(m.figure(m.leader, `hammr_loop_turn_seconds{quantile="0.99"}`), 64)
	out.turn *= 1000
	for _, w := range groups {
		fetched += w.fetched.Load()
	}
	out.bytes = float64(fetched) / took / float64(max(all, 1))
	m.t.Logf("%d watchers, %.0f attempts/s, leader %.1f %%, follower %.1f %%, p99 of turns %.2f ms", all, out.rate, out.leader, out.follower, out.turn)
	return out
}

// expect notes from now on when each watcher has a page with a text.
func (w *watchers) expect(text string) *sighting {
	s := &sighting{text: text}
	w.expected.Store(s)
	return s
}

// times returns when the watchers had a page with the text, so far.
func (s *sighting) times() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mu.times)
}

// maxFragmentBytes bounds what a watcher receives in a second: the compressed page of a job once.
const maxFragmentBytes = 5000

// compare prints how windows with watchers differ from their neighbours. More CPU than the bounds, in % of
// a core, fails, as do changes that are seen too late.
func (m *watchMeter) compare(name string, ofLeader, ofFollower float64, without, with []window) {
	median := func(of func(i int) float64) float64 {
		values := make([]float64, len(with))
		for i := range with {
			values[i] = of(i)
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	base := func(i int, of func(w *window) float64) float64 { return (of(&without[i]) + of(&without[i+1])) / 2 }
	more := func(of func(w *window) float64) float64 {
		return median(func(i int) float64 { return of(&with[i]) - base(i, of) })
	}
	turn := func(w *window) float64 { return w.turn }
	leader, follower := more(func(w *window) float64 { return w.leader }), more(func(w *window) float64 { return w.follower })
	var delays []time.Duration
	for _, w := range with {
		delays = append(delays, w.delays...)
	}
	slices.Sort(delays)
	p95 := delays[len(delays)*95/100]
	bytes := median(func(i int) float64 { return with[i].bytes })
	figure("%s, at %.0f attempts/s: %+.1f %% of a core of the leader, %+.1f %% of the follower, p99 of the loop's turns %.2f ms (x%.2f), %.1f KB/s of fragments each, change to page median %v, p95 %v, worst %v",
		name, median(func(i int) float64 { return with[i].rate }), leader, follower,
		median(func(i int) float64 { return with[i].turn }), median(func(i int) float64 { return with[i].turn / base(i, turn) }),
		bytes/1000, delays[len(delays)/2].Round(time.Millisecond), p95.Round(time.Millisecond), delays[len(delays)-1].Round(time.Millisecond))
	if leader > ofLeader || follower > ofFollower || bytes > maxFragmentBytes || p95 > 1500*time.Millisecond {
		m.t.Errorf("%s: %+.1f %% of a core of the leader, at most %v; %+.1f %% of the follower, at most %v; %.0f B/s each, at most %d; change to page p95 %v, at most 1.5 s",
			name, leader, ofLeader, follower, ofFollower, bytes, maxFragmentBytes, p95)
	}
}

// awaitGoroutines waits until a master has no watcher, and no more goroutines than before.
func (f *fleetCluster) awaitGoroutines(m localcluster.Master, before int) {
	f.t.Helper()
	waitUntil(f.t, m.ID+" has no more goroutines than before", func() bool {
		return f.figure(m, "hammr_watchers") == "0" && f.goroutines(m) <= before+2 // some of the runtime come and go
	})
}
