package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// tokenFile returns the file with the secret of the cluster.
func (e *engine) tokenFile() string { return filepath.Join(e.dir, localcluster.TokenFile) }

// backUp backs up the masters.
func (e *engine) backUp() (file string) {
	e.t.Helper()
	file = filepath.Join(e.t.TempDir(), "backup")
	r := e.done("master", "backup", file)
	r.want(e.t, 0)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || !strings.HasPrefix(r.stdout, "Backed up cluster "+e.state.ID+" up to log entry ") {
		e.t.Errorf("%v, %v\n%s", info, err, r.stdout)
	}
	return file
}

// destroy kills masters and removes their directories.
func (c *rigged) destroy(names ...string) {
	c.t.Helper()
	for _, name := range names {
		must.Do(c.t, c.rig.Kill(c.t.Context(), name))
	}
	for _, name := range names {
		must.Do(c.t, os.RemoveAll(filepath.Join(c.dir, name)))
	}
}

// restore makes m1 from a backup.
func (c *rigged) restore(backup string) command {
	return command{args: []string{"master", "restore", backup, "--id", "m1", "--dir", filepath.Join(c.dir, "m1"), "--token-file", c.tokenFile()}}
}

// doorsJob is a job whose maps wait at doors.
type doorsJob struct {
	*watched
	*doors
	want string
}

// startAtDoors starts a job with n maps, and returns when all of them wait at their doors.
func (c *rigged) startAtDoors(n int) *doorsJob {
	c.t.Helper()
	in := newFile(c.t, "lines", []byte(strings.Repeat("some lines\n", 100*n)))
	j := &doorsJob{&watched{rigged: c, out: filepath.Join(c.t.TempDir(), "out")}, newDoors(c.t, n), ""}
	j.want = j.doors.peace(in)
	j.id = j.submit(c.engine, in, j.out)
	for i := range n {
		j.doors.wait(i)
	}
	return j
}

// succeeds waits for the job and compares its output with that of an undisturbed run.
func (j *doorsJob) succeeds() {
	j.rigged.t.Helper()
	j.awaitSuccess(j.id)
	wantSameTree(j.rigged.t, j.out, j.want)
}

// TestClusterIsRestoredFromABackup destroys all masters while two jobs run. One master is restored
// from a backup, and others join it. Attempts that run in the backup and on a tasknode continue.
func TestClusterIsRestoredFromABackup(t *testing.T) {
	t.Parallel()
	c := newRigged(t, 2)
	in := proseFile(t, "prose", 120<<10)
	want := peace(t, in)
	j := c.startAtDoors(3)
	w := c.watch("job_"+c.state.ID+"_0002", in)
	backup := c.backUp()
	start(t, c.restore(backup)).wait(t).want(t, 1, "cluster "+c.state.ID+" lives: master m")
	masters, _ := c.rig.Names()
	c.destroy(masters...)
	r := start(t, c.restore(backup)).wait(t)
	r.want(t, 0)
	if !strings.Contains(r.stdout, "Master m1 is the only master now, at "+c.state.Masters[0].Address) {
		t.Errorf("restored:\n%s", r.stdout)
	}
	start(t, c.restore(backup)).wait(t).want(t, 1, "is not empty, it has ")
	must.Do(t, c.rig.Start(t.Context(), "m1"))
	for _, id := range []string{"m4", "m5"} {
		m := c.join(id)
		c.done("master", "add", m.id, m.address)
	}
	j.open(0, 1, 2)
	j.succeeds()
	j.once()
	w.process.wait(t).want(t, 0)
	wantSameTree(t, w.out, want)
	leader, states := c.masters()
	if leader == "" || len(states) != 3 || states["m1"] == "" || states["m4"] == "" || states["m5"] == "" {
		t.Errorf("%s leads %v", leader, states)
	}
}

// TestLostMajorityIsRecovered destroys two of three masters. The third continues alone with the
// running job, and two new ones join it.
func TestLostMajorityIsRecovered(t *testing.T) {
	t.Parallel()
	c := newRigged(t, 2)
	j := c.startAtDoors(2)
	leader := c.leads()
	masters, _ := c.rig.Names()
	left := slices.DeleteFunc(slices.Clone(masters), func(name string) bool { return name == leader })[0]
	dead := slices.DeleteFunc(slices.Clone(masters), func(name string) bool { return name == left })
	recovery := command{args: []string{"master", "recover", "--dir", filepath.Join(c.dir, left), "--token-file", c.tokenFile()}}
	start(t, recovery).wait(t).want(t, 1, "is in use by another process")
	must.Do(t, c.rig.Kill(t.Context(), left))
	start(t, recovery).wait(t).want(t, 1, "the cluster lives: master ")
	c.destroy(dead...)
	start(t, recovery).wait(t).want(t, 0)
	must.Do(t, c.rig.Start(t.Context(), left))
	start(t, c.command("master", "add", "m4", c.state.Tasknodes[0].Address)).wait(t).want(t, 1, "start it first")
	for _, id := range []string{"m4", "m5"} {
		m := c.join(id)
		c.done("master", "add", m.id, m.address)
	}
	j.open(0, 1)
	j.succeeds()
	j.once()
	if _, states := c.masters(); len(states) != 3 || states[left] == "" || states["m4"] == "" || states["m5"] == "" {
		t.Errorf("masters %v", states)
	}
}

// TestMastersAreReplaced replaces the leader and a follower while a job runs. A repeated command
// has no effect.
//
// Gate: TestMastersAreAddedAndRemoved
func TestMastersAreReplaced(t *testing.T) {
	testlevel.Nightly(t)
	t.Parallel()
	e := newEngine(t, "--masters", "3", "--tasknodes", "2")
	j := startSlowJob(t, e)
	leader, _ := e.masters()
	follower := map[string]string{"m1": "m2", "m2": "m3", "m3": "m1"}[leader]
	for old, id := range map[string]string{leader: "m4", follower: "m5"} {
		next := e.join(id)
		for range 2 {
			if out := e.done("master", "replace", old, next.id+"="+next.address).stdout; !strings.Contains(out, "Added master "+next.id) {
				t.Errorf("replacing %s:\n%s", old, out)
			}
		}
	}
	if leader, states := e.masters(); len(states) != 3 || states["m4"] == "" || states["m5"] == "" || leader == "" {
		t.Errorf("%s leads %v", leader, states)
	}
	start(t, e.command("master", "replace", leader, "m9=127.0.0.1:1")).wait(t).want(t, 1, "Could not find master "+leader)
	if again := j.succeeds(t); again != 0 {
		t.Errorf("%d attempts were made again", again)
	}
}
