package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// drilled runs drills, all of which must pass, and returns the rows of their table. On a busy machine a
// fault may come too late to count, since what it needs is over; the drill says so.
func drilled(t *testing.T, args ...string) []chaos.Row {
	t.Helper()
	dir := t.TempDir()
	r := start(t, command{args: append([]string{"chaos", "run", "--shrink", "0", "--report", dir}, args...)}).wait(t)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the drill says:\n%s", r.stdout) // also why a fault did not count
		}
	})
	r.want(t, 0)
	f, err := os.Open(filepath.Join(dir, "drills.csv"))
	must.Do(t, err)
	defer f.Close()
	rows, err := chaos.ReadTable(f, "drills.csv")
	must.Do(t, err)
	for _, r := range rows {
		if r.Lost != 0 || r.Bytes == 0 || r.Verdict != "good" {
			t.Errorf("drill %+v", r)
		}
	}
	return rows
}

// planned writes a plan for a wordcount with the given faults to a file.
func planned(t *testing.T, lines ...string) string {
	t.Helper()
	return newFile(t, "plan", []byte("hammr-plan 1\nseed 1\njob j1 wordcount\n"+strings.Join(lines, "\n")+"\n"))
}

// TestDrill kills a tasknode, the leader and a task, and corrupts a byte, in one job.
func TestDrill(t *testing.T) {
	t.Parallel()
	rows := drilled(t, "--plan", planned(t,
		"fault when j1 map 20% do kill task map",
		"fault when j1 map 40% do kill tasknode 1 for 1s",
		"fault when j1 map 60% do kill jobmaster leader for 1s",
		"fault when j1 spill 4 do corrupt tasknode 2",
		"fault when j1 reduce 0% do stop machine 3 for 500ms"))
	if len(rows) != 1 || rows[0].Planned != 5 || rows[0].Faults < 3 || rows[0].ExtraAttempts == 0 {
		t.Errorf("drills %+v", rows)
	}
}

// TestDrillOnHDFS injects every kind of fault on a real HDFS, and kills a whole machine with
// its DataNode, which cannot be stopped afterwards.
//
// Gate: TestDrill, chaos/simulate.TestRandomPlansEndWell
func TestDrillOnHDFS(t *testing.T) {
	testlevel.Nightly(t)
	cluster(t) // skips the test if HDFS is not available
	t.Parallel()
	faults := []string{
		"fault at 100ms do slow-disk tasknode 3 by 5ms for 1s",
		"fault at 200ms do clock jobmaster leader by 1h",
		"fault at 200ms do failpoint tasknode 1 at task/spill by error@1",
		"fault when j1 map 5% do preempt task map by split",
		"fault when j1 map 10% do stop namenode for 500ms",
		"fault when j1 map 15% do partition datanode 1 for 1s",
		"fault when j1 map 30% do kill machine 2",
		"fault when j1 map 40% do io-error tasknode 4 for 500ms",
		"fault when j1 map 50% do stop datanode 2 for 200ms",
		"fault when j1 spill 3 do corrupt tasknode any",
		"fault when j1 reduce 0% do restart jobmaster leader",
		"fault when j1 commit 0 do stop jobmaster leader for 300ms",
	}
	if rig.CanIsolate() == nil {
		faults = append(faults, "fault when j1 map 20% do full-disk tasknode 3 for 500ms")
	}
	rows := drilled(t, "--plan", planned(t, append(faults, "hdfs")...))
	if len(rows) != 1 || rows[0].Planned != len(faults) || rows[0].Faults < len(faults)/2 {
		t.Errorf("drills %+v", rows)
	}
}

// TestDrillOfNetworks partitions a tasknode and the leader, and fills a disk.
//
// Gate: TestDrill, sim.TestPartitionedTasknode
func TestDrillOfNetworks(t *testing.T) {
	testlevel.Nightly(t)
	if err := rig.CanIsolate(); err != nil {
		t.Skip(err)
	}
	t.Parallel()
	rows := drilled(t, "--plan", planned(t,
		"fault at 500ms do partition tasknode 1 for 2s",
		"fault at 1s do full-disk tasknode 2 for 1s",
		"fault at 300ms do loss machine 3 by 20% for 1s",
		"fault at 300ms do bandwidth machine 4 by 20mbit for 1s",
		"fault when j1 map 30% do one-way jobmaster follower by out for 1s",
		"fault when j1 map 50% do partition jobmaster leader for 2s"))
	if len(rows) != 1 || rows[0].Planned != 6 || rows[0].Faults < 5 {
		t.Errorf("drills %+v", rows)
	}
}

// TestDrillOfPowerLoss cuts the power of a tasknode, of the leader, and of all masters: nothing that
// was committed is lost, and no byte is wrong.
//
// Gate: TestDrill, chaos/rig.TestPowerLoss
func TestDrillOfPowerLoss(t *testing.T) {
	testlevel.Nightly(t)
	if err := rig.CanIsolate(); err != nil || os.Geteuid() != 0 {
		t.Skip(err, "and root")
	}
	t.Parallel()
	rows := drilled(t, "--plan", planned(t,
		"fault when j1 map 20% do power-loss tasknode 1 for 500ms",
		"fault when j1 map 40% do power-loss jobmaster leader for 500ms",
		"fault when j1 map 70% do power-loss jobmaster all for 500ms"))
	if len(rows) != 1 || rows[0].Planned != 3 || rows[0].Faults < 2 || !strings.Contains(rows[0].Reached, string(chaos.Election)) {
		t.Errorf("drills %+v", rows)
	}
}

// TestDrillOfFailpoints makes failpoints fail, wait and crash. A failpoint that is never
// reached does not count as a fault.
//
// Gate: TestDrill, TestLeaderLostInCommit, chaos/simulate.TestEachKind
func TestDrillOfFailpoints(t *testing.T) {
	testlevel.Nightly(t)
	t.Parallel()
	rows := drilled(t, "--plan", planned(t,
		"fault at 0s do failpoint tasknode 1 at task/spill by crash@1",
		"fault at 0s do failpoint tasknode 2 at task/segment-commit by error@1",
		"fault at 0s do failpoint tasknode 2 at task/done by delay=50ms",
		"fault at 0s do failpoint tasknode 3 at tasknode/launch by crash@1",
		"fault at 0s do failpoint tasknode 4 at task/checkpoint-write by crash",
		"fault at 0s do failpoint jobmaster all at jobmaster/snapshot by error",
		"fault at 0s do failpoint jobmaster all at jobmaster/commit-end by delay=50ms",
		"fault when j1 map 30% do failpoint jobmaster leader at jobmaster/log-append by error@1 for 2s"))
	if len(rows) != 1 || rows[0].Faults < 4 || rows[0].Faults > 7 || rows[0].Planned != 8 || rows[0].ExtraAttempts == 0 {
		t.Errorf("drills %+v", rows)
	}
}

// fakeSSH takes a host and a command of any number of words, as ssh does.
const fakeSSH = `test "$1" = here || exit 255
shift
exec sh -c "$*"
`

// hostfile starts a cluster that keeps running, and returns the arguments for a drill on it.
func hostfile(t *testing.T, drills string) (args []string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cluster")
	env := []string{"HAMMR_DRILLS=" + drills}
	t.Cleanup(func() { done(t, "down", "--dir", dir) })
	up := start(t, command{env: env, args: []string{
		"up", "--dir", dir, "--detach", "--masters", "3", "--tasknodes", "2", "--expiry", "5s", "--heartbeat", "200ms",
	}}).wait(t)
	up.want(t, 0)
	state, err := localcluster.ReadState(dir)
	must.Do(t, err)
	var hosts strings.Builder
	// A second 'hammr up' does not wait for the first.
	again := fmt.Sprintf("here for i in 1 2 3 4 5 6 7 8 9; do env %s %s up --dir %s --detach && break; sleep 0.5; done", env[0], hammr, dir)
	for _, m := range state.Masters {
		fmt.Fprintf(&hosts, "jobmaster %s %s %s\n", m.ID, m.HTTP, again)
	}
	for _, n := range state.Tasknodes {
		fmt.Fprintf(&hosts, "tasknode %s %s here\n", n.Name, n.HTTP)
	}
	return []string{
		"--hostfile", newFile(t, "hosts", []byte(hosts.String())), "--shell", "sh " + newFile(t, "fake-ssh", []byte(fakeSSH)) + " {host}",
		"--master", strings.TrimSpace(up.stdout), "--token-file", filepath.Join(dir, localcluster.TokenFile),
	}
}

// TestDrillByHostfile runs a drill on an existing cluster.
//
// Gate: TestDrill, TestNoDrillWithoutConsent, chaos/drill.TestFaultsOfRunningClusters
func TestDrillByHostfile(t *testing.T) {
	testlevel.Nightly(t)
	t.Parallel()
	args := hostfile(t, "true")
	plan := planned(t, "masters 3", "tasknodes 2",
		"fault when j1 map 10% do slow-disk tasknode 1 by 10ms for 300ms",
		"fault when j1 map 20% do stop tasknode 2 for 300ms",
		"fault when j1 map 30% do kill jobmaster leader for 300ms",
		"fault when j1 map 80% do stop jobmaster leader for 1500ms",
		"fault when j1 reduce 0% do restart jobmaster follower")
	if rows := drilled(t, append(args, "--plan", plan)...); len(rows) != 1 || rows[0].Planned != 5 || rows[0].Faults < 3 {
		t.Errorf("drills %+v", rows)
	}
	if rows := drilled(t, append(args, "--seed", "1", "--runs", "2", "--kinds", "all")...); len(rows) != 2 || rows[0].Planned == 0 {
		t.Errorf("drills of seeds %+v", rows)
	}
	start(t, command{args: append([]string{"chaos", "run", "--report", t.TempDir(), "--plan", planned(t, "masters 3", "tasknodes 2",
		"fault at 1s do partition tasknode 1")}, args...)}).wait(t).want(t, 1,
		"partition tasknode 1: not on a cluster of a hostfile: its daemons have no networks")
	start(t, command{args: append([]string{"chaos", "run", "--report", t.TempDir(), "--seed", "1", "--kinds", "corrupt"}, args...)}).wait(t).want(t, 1,
		"none of these kinds of faults can be injected there")
}

// TestNoDrillWithoutConsent checks that a cluster whose daemons do not allow drills rejects
// a drill.
func TestNoDrillWithoutConsent(t *testing.T) {
	t.Parallel()
	args := append([]string{"chaos", "run", "--report", t.TempDir(), "--plan", planned(t, "masters 3", "tasknodes 2")}, hostfile(t, "false")...)
	start(t, command{args: args}).wait(t).want(t, 1, "m1: failpoints of the daemon at", "it was not started with --drills")
}

// TestDrillInterrupted checks that Ctrl-C leaves no process and no file.
func TestDrillInterrupted(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	p := start(t, command{
		args: []string{"chaos", "run", "--seed", "1", "--runs", "100", "--report", t.TempDir()}, env: []string{"TMPDIR=" + temp},
	})
	waitUntil(t, "daemons run", func() bool {
		found, _ := filepath.Glob(filepath.Join(temp, "hammr-drill-*", "run-*", "cluster", "cluster.json"))
		return len(found) > 0
	})
	must.Do(t, p.cmd.Process.Signal(syscall.SIGINT))
	p.wait(t).want(t, 130)
	if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		if line, err := os.ReadFile(name); err == nil && strings.Contains(string(line), temp) {
			t.Errorf("a process is left: %q", line)
		}
	}
}

// TestInvalidPlans checks that invalid plans are rejected before anything starts.
func TestInvalidPlans(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		code int
		text string
	}{
		"no plan":   {[]string{"--report", "x"}, 2, "expected either --plan or --seed"},
		"no report": {[]string{"--seed", "1"}, 2, "--report is missing"},
		"no file":   {[]string{"--plan", "/no/such", "--report", "x"}, 2, "no such file"},
		"kinds":     {[]string{"--seed", "1", "--kinds", "flood", "--report", "x"}, 2, `--kinds "flood": expected all or some of kill`},
		"line":      {[]string{"--plan", planned(t, "fault at 1s do kill king"), "--report", "x"}, 2, `plan:4: kill of a "king"`},
	} {
		t.Run(name, func(t *testing.T) {
			start(t, command{args: append([]string{"chaos", "run"}, c.args...)}).wait(t).want(t, c.code, c.text)
		})
	}
}
