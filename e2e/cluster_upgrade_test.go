//go:build soak

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	state "github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/rpc/faultrpc"
	"github.com/hammr/hammr/internal/testing/must"
)

// upgrade is a rolling upgrade of a cluster on which jobs run.
type upgrade struct {
	*mixedEngine
	old     string // program of the last release
	in      string
	want    string     // output of a job that is not disturbed
	running *preempted // nil between two jobs
	out     string     // of running
	jobs    int
	ended   int // attempts of jobs that have ended
}

// lastingJob makes the tasks of a job last some seconds, so that each step of an upgrade meets
// running tasks.
var lastingJob = []string{"wordcount", "-D", "mapreduce.job.reduces=2", "-D", "mapreduce.input.fileinputformat.split.maxsize=8k",
	"-D", "hammr.debug.record.sleep=10ms", "-D", "hammr.preempt.boundary.timeout=1m"}

// work waits until tasks run. It submits another job when one has ended.
func (u *upgrade) work() {
	u.t.Helper()
	waitUntil(u.t, "tasks run", func() bool {
		if u.running == nil {
			u.submitNext()
		}
		switch u.job(u.running.id).State {
		case report.Succeeded, report.Failed, report.Killed:
			u.finish()
			return false
		}
		return len(u.running.attempts(report.Map, report.Running))+len(u.running.attempts(report.Reduce, report.Running)) > 0
	})
}

// submitNext submits a job, in turn with the client of the last release and with the present one:
// the program of a job is that of its client.
func (u *upgrade) submitNext() {
	u.t.Helper()
	u.out = filepath.Join(u.t.TempDir(), "out")
	c := u.command(slices.Concat([]string{"run"}, lastingJob, []string{u.in, u.out, "--detach"})...)
	if u.jobs++; u.jobs%2 == 1 {
		c.program = u.old
	}
	r := start(u.t, c).wait(u.t)
	r.want(u.t, 0)
	u.running = &preempted{u.engine, strings.TrimSpace(r.stdout)}
}

// finish waits for the job, and checks its attempts and its output.
func (u *upgrade) finish() {
	u.t.Helper()
	u.running.succeeds()
	wantSameTree(u.t, u.out, u.want)
	for _, task := range u.job(u.running.id).Tasks {
		u.ended += len(task.Attempts)
	}
	u.running = nil
}

// masterStatus is what `master status` shows.
type masterStatus struct {
	Leader         string
	ClusterVersion int
	Masters        []struct {
		ID, State, Version string
		FormatVersion      int
	}
}

func (u *upgrade) status() (s masterStatus) {
	u.t.Helper()
	u.json(&s, "master", "status")
	return s
}

// wantVersion checks the cluster version and what the masters support.
func (u *upgrade) wantVersion(version int, upgraded ...string) {
	u.t.Helper()
	s := u.status()
	if s.ClusterVersion != version {
		u.t.Errorf("the cluster has version %d, want %d: %+v", s.ClusterVersion, version, s.Masters)
	}
	for _, m := range s.Masters {
		want := state.FirstVersion
		if slices.Contains(upgraded, m.ID) {
			want = state.FormatVersion
		}
		if m.FormatVersion != want {
			u.t.Errorf("%s supports version %d, want %d: %+v", m.ID, m.FormatVersion, want, s.Masters)
		}
	}
}

// newUpgrade starts three masters and four tasknodes of the last release. They accept faults.
func newUpgrade(t *testing.T) *upgrade {
	t.Helper()
	old := lastRelease(t, "cmd/hammr")
	u := &upgrade{old: old, in: fewWords(t, 8000, 400), want: filepath.Join(t.TempDir(), "want")}
	done(t, "run", "wordcount", "--quiet", "-D", "mapreduce.job.reduces=2", u.in, u.want)
	u.mixedEngine = newMixedEngine(t, old, localcluster.Config{
		Masters: 3, Tasknodes: 4,
		MasterFlags:   []string{"--drills", "--snapshot-entries", "100", "--snapshot-interval", "500ms"},
		TasknodeFlags: []string{"--drills"},
	})
	u.work()
	u.wantVersion(state.FirstVersion)
	return u
}

// TestRollingUpgrade upgrades three masters and four tasknodes of the last release, one after
// the other, while jobs of programs of both releases run. In between leaders of both releases
// die. No attempt runs again, and the cluster version rises when the last tasknode is upgraded.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	u := newUpgrade(t)
	u.upgradeMasters()
	for i := range u.state.Tasknodes {
		u.upgradeTasknode(i, func() {})
	}
	u.usesNewFeatures()
	t.Logf("%d jobs with %d attempts", u.jobs, u.ended)
}

// TestRollingUpgradeUnderFaults upgrades the same cluster. While a tasknode is drained, there is a
// fault elsewhere: the leader dies, another tasknode stops for the time of an election, or its
// disk is slow.
func TestRollingUpgradeUnderFaults(t *testing.T) {
	t.Parallel()
	u := newUpgrade(t)
	u.upgradeMasters()
	for i, during := range []func(other string){u.killLeader, u.stopWhileLeaderDies, u.slowDisk, u.killLeader} {
		other := u.state.Tasknodes[(i+1)%len(u.state.Tasknodes)].Name
		u.upgradeTasknode(i, func() { during(other) })
		u.endSlowDisk(other)
	}
	u.usesNewFeatures()
	t.Logf("%d jobs with %d attempts", u.jobs, u.ended)
}

// upgradeTasknode upgrades a tasknode while a job runs and something else happens.
func (u *upgrade) upgradeTasknode(i int, during func()) {
	u.t.Helper()
	if u.work(); i%2 == 0 { // so that jobs of both clients are there
		u.finish()
		u.work()
	}
	u.replaceEmpty(u.state.Tasknodes[i].Name, during)
}

// replaceEmpty drains a tasknode while something else happens, replaces its program, and gives it
// tasks again.
func (u *upgrade) replaceEmpty(name string, during func()) {
	u.t.Helper()
	began := time.Now()
	drain := start(u.t, u.command("node", "drain", name, "--deadline", "120s"))
	during()
	drain.wait(u.t).want(u.t, 0)
	drained := time.Since(began)
	u.replace(name, hammr)
	u.done("node", "add", name)
	waitUntil(u.t, name+" takes tasks again", func() bool { return strings.Contains(u.done("node", "status", name).stdout, "RUNNING") })
	u.t.Logf("%s: drained in %v, takes tasks again after %v", name, drained.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
}

func (u *upgrade) killLeader(string) { u.crash(u.status().Leader) }

// stopWhileLeaderDies stops a tasknode until there is another leader.
func (u *upgrade) stopWhileLeaderDies(tasknode string) {
	must.Do(u.t, u.cluster.Stop(u.t.Context(), tasknode))
	u.crash(u.status().Leader)
	must.Do(u.t, u.cluster.Continue(u.t.Context(), tasknode))
}

// slowDisk makes each operation of a tasknode and its tasks on local files take longer.
func (u *upgrade) slowDisk(tasknode string) { u.setSlowDisk(tasknode, 50*time.Millisecond) }

func (u *upgrade) endSlowDisk(tasknode string) { u.setSlowDisk(tasknode, 0) }

func (u *upgrade) setSlowDisk(tasknode string, by time.Duration) {
	u.t.Helper()
	p, err := u.cluster.Process(tasknode)
	must.Do(u.t, err)
	token, err := u.cluster.Token()
	must.Do(u.t, err)
	faults := faultrpc.NewClient(token)
	defer faults.Close()
	must.Do(u.t, faults.SlowDisk(u.t.Context(), p.HTTP, by))
}

// upgradeMasters upgrades a follower, then lets an old and a new leader die, and upgrades the
// others. The last one leads until the leadership is transferred.
func (u *upgrade) upgradeMasters() {
	u.t.Helper()
	leader := u.status().Leader
	followers := slices.DeleteFunc(u.masterNames(), func(name string) bool { return name == leader })
	first, second := followers[0], followers[1]

	u.replace(first, hammr)
	u.work()
	u.crash(leader) // an old leader with a new follower
	u.work()
	u.wantVersion(state.FirstVersion, first)
	u.transfer(first) // a new leader with old followers
	u.work()
	u.crash(first)
	u.work()
	u.wantVersion(state.FirstVersion, first)
	u.transfer(leader)
	u.replace(second, hammr)
	u.work()
	u.crash(leader) // an old leader with new followers only
	u.work()
	u.wantVersion(state.FirstVersion, first, second)
	u.transfer(first)
	u.replace(leader, hammr)
	u.wantVersion(state.FirstVersion, u.masterNames()...)
}

// transfer makes a master lead. A master that has just started may still have to catch up.
func (u *upgrade) transfer(to string) {
	u.t.Helper()
	waitUntil(u.t, to+" leads", func() bool {
		return start(u.t, u.command("master", "transfer", to)).wait(u.t).code == 0
	})
}

// keptFiles runs a job in which several stages read the same files.
func (u *upgrade) keptFiles(name string) *process {
	links := newFile(u.t, name, []byte("a\tb\nb\tc\nc\ta\na\tc\n"))
	return start(u.t, u.command("run", "pagerankdag", "--quiet", "1", links, filepath.Join(u.t.TempDir(), name)))
}

// usesNewFeatures waits for the new cluster version, runs another job beside the others, and waits for
// all of them.
func (u *upgrade) usesNewFeatures() {
	u.t.Helper()
	waitUntil(u.t, "the cluster version rises", func() bool { return u.status().ClusterVersion == state.FormatVersion })
	u.work()
	late := u.keptFiles("late")
	u.finish()
	late.wait(u.t).want(u.t, 0)
	u.wantVersion(state.FormatVersion, u.masterNames()...)
}

func (u *upgrade) masterNames() []string {
	names, _ := u.cluster.Names()
	return names
}

// releasedVersion is the cluster version that the last release supports, as far as this program knows its logs; 0: none.
const releasedVersion = 3

// TestOldMasterIsNotAdded adds a master of the last release to a cluster of the present one. It
// is refused, and the cluster works on.
func TestOldMasterIsNotAdded(t *testing.T) {
	t.Parallel()
	if releasedVersion == state.FormatVersion {
		t.Skip("the last release supports the present cluster version")
	}
	old := lastRelease(t, "cmd/hammr")
	e := newEngine(t, "--masters", "1")
	j := e.joinWith(old, "m2")
	start(t, e.command("master", "add", j.id, j.address)).wait(t).
		want(t, 1, "it is another program, an older hammr, or a master with another token")
	if leader, states := e.masters(); leader != "m1" || len(states) != 1 {
		t.Errorf("%s leads %v", leader, states)
	}
	e.done("node", "list")
}

// TestProgramsOfTheLastRelease runs a program of the last release on a cluster of the present
// one, and the other way round.
func TestProgramsOfTheLastRelease(t *testing.T) {
	t.Parallel()
	oldHammr, oldProgram := lastRelease(t, "cmd/hammr"), lastRelease(t, "examples/cmd/wordcount")
	in := proseFile(t, "prose", 200<<10)
	want := filepath.Join(t.TempDir(), "want")
	done(t, "run", "wordcount", "--quiet", "-D", "mapreduce.job.reduces=2", in, want)
	options := []string{"--quiet", "-D", "mapreduce.job.reduces=2", "-D", "mapreduce.input.fileinputformat.split.maxsize=40k"}
	check := func(t *testing.T, e *engine, c command) {
		out := filepath.Join(t.TempDir(), "out")
		c.env = e.cluster.Environ()
		c.args = slices.Concat(c.args, options, []string{in, out})
		start(t, c).wait(t).want(t, 0)
		wantSameTree(t, out, want)
		var list []struct{ JobID string }
		e.json(&list, "job", "list", "--all")
		for _, j := range list {
			(&preempted{e, j.JobID}).succeeds()
		}
	}
	t.Run("old program, new cluster", func(t *testing.T) {
		check(t, newEngine(t, "--tasknodes", "2"), command{program: oldProgram})
	})
	t.Run("new program, old cluster", func(t *testing.T) {
		check(t, newMixedEngine(t, oldHammr, localcluster.Config{Tasknodes: 2}).engine, command{args: []string{"run", "wordcount"}})
	})
}
