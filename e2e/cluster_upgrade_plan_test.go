//go:build soak

package e2e

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/chaos"
	state "github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/ops/sshcluster/sshtest"
)

// upgradePlan has the faults under which the cluster is upgraded. None is a jump of a clock: attempts
// and faults are compared by their times.
var upgradePlan = []string{
	"masters 3", "tasknodes 4", "limit 100s", "job j2 terasort", "job j3 invertedindex", "job j4 wordcount",
	"fault at 3s do stop jobmaster leader for 1s",
	"fault at 5s do kill jobmaster leader for 1s",
	"fault when j1 map 20% do kill tasknode any for 1s",
	"fault when j1 map 60% do restart jobmaster leader",
	"fault when j1 reduce 0% do slow-disk tasknode any by 10ms for 2s",
	"fault when j2 map 10% do preempt task map by split",
	"fault when j2 map 30% do stop jobmaster leader for 1500ms",
	"fault when j2 map 60% do failpoint tasknode any at task/done by error@1 for 5s",
	"fault when j2 reduce 0% do stop tasknode any for 500ms",
	"fault when j3 map 20% do failpoint tasknode any at task/segment-commit by crash@1 for 5s",
	"fault when j3 map 50% do restart jobmaster leader",
	"fault when j4 map 30% do restart tasknode any",
	"fault when j4 reduce 0% do kill jobmaster leader for 500ms",
}

// plannedUpgrade is an upgrade while `hammr chaos run` plays a plan on the cluster again and again.
//
// A drill ends daemons by their process ids. It starts them by a word into a pipe, which the
// goroutine of serveStarts reads: the daemons are children of the test, which knows the program of
// each one.
type plannedUpgrade struct {
	*upgrade
	args   []string // of `hammr chaos run`, without --report
	drill  *process // nil between two drills
	report string   // directory of drill
	drills int
	faults int
	amid   int        // of faults: those that have hit during a step
	steps  [][2]int64 // when each began and ended, in ms since the epoch
	spans  []faultSpan
	ids    []string         // of all jobs
	lost   []report.Attempt // tasknodes that were lost while they were drained: name and times only
	began  map[string]int64 // when the upgrade of a tasknode began, in ms since the epoch
}

// faultSpan is when a fault may have ended attempts on a tasknode, in ms since the epoch.
type faultSpan struct {
	tasknode string
	from, to int64
}

// newPlannedUpgrade starts the cluster of the last release and writes its hostfile.
func newPlannedUpgrade(t *testing.T) *plannedUpgrade {
	t.Helper()
	u := &plannedUpgrade{upgrade: newUpgradeWith(t, fixedPages(t)), began: make(map[string]int64)}
	u.check = func(id string) { // other than without a plan, attempts may fail
		u.awaitSuccess(id)
		u.ids = append(u.ids, id)
	}
	dir := t.TempDir()
	starts := filepath.Join(dir, "starts")
	must(t, syscall.Mkfifo(starts, 0o600))
	u.serveStarts(starts)
	var hosts strings.Builder
	add := func(role, name string, p localcluster.Process) {
		fmt.Fprintf(&hosts, "%s %s %s here echo %s >%s\n", role, name, p.HTTP, name, starts)
	}
	for _, m := range u.state.Masters {
		add("jobmaster", m.ID, m.Process)
	}
	for _, n := range u.state.Tasknodes {
		add("tasknode", n.Name, n.Process)
	}
	u.args = []string{
		"chaos", "run", "--shrink", "0", "--plan", planned(t, upgradePlan...), "--hostfile", newFile(t, "hosts", []byte(hosts.String())),
		"--shell", "sh " + newFile(t, "fake-ssh", []byte(fakeSSH)) + " {host}",
		"--master", strings.Join(u.cluster.Addresses(), ","), "--token-file", u.cluster.TokenFile(),
	}
	return u
}

// fixedPages gives each tasknode the same address of its page at each start, as a hostfile demands.
// Those of masters are fixed already.
func fixedPages(t *testing.T) func(name, dir string, cmd *exec.Cmd) error {
	t.Helper()
	pages := make(map[string]string)
	for _, name := range []string{"n1", "n2", "n3", "n4"} {
		pages[name] = fmt.Sprintf("127.0.0.1:%d", sshtest.FreePort(t))
	}
	return func(name, _ string, cmd *exec.Cmd) error {
		if page := pages[name]; page != "" {
			cmd.Args = append(cmd.Args, "--http", page)
		}
		return nil
	}
}

// serveStarts starts the daemons whose names come through a pipe, until the test ends.
func (u *plannedUpgrade) serveStarts(pipe string) {
	u.t.Helper()
	in, err := os.OpenFile(pipe, os.O_RDWR, 0) // as a writer too, so that it does not end
	must(u.t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for names := bufio.NewScanner(in); names.Scan(); {
			if err := u.cluster.Start(u.t.Context(), names.Text()); err != nil {
				u.t.Logf("start of %s for the drill: %v", names.Text(), err)
			}
		}
	}()
	u.t.Cleanup(func() { // before the end of the cluster
		must(u.t, in.Close())
		<-ended
	})
}

// step upgrades a daemon while a drill is under way, and a job of the test.
func (u *plannedUpgrade) step(name string, do func()) {
	u.t.Helper()
	if u.drill != nil && !u.engine.running(u.drill.cmd.Process.Pid) {
		u.endDrill()
	}
	if u.drill == nil {
		u.beginDrill()
	}
	if u.running != nil && u.job(u.running.id).State != report.Running {
		u.finish()
	}
	if u.running == nil {
		u.submitNext()
	}
	began := time.Now()
	do()
	u.steps = append(u.steps, [2]int64{began.UnixMilli(), time.Now().UnixMilli()})
	u.t.Logf("%s: upgraded in %v, in drill %d", name, time.Since(began).Round(time.Millisecond), u.drills)
}

// beginDrill starts a drill and waits until its jobs are submitted.
func (u *plannedUpgrade) beginDrill() {
	u.t.Helper()
	before := len(u.allJobs())
	u.drills++
	u.report = u.t.TempDir()
	u.drill = start(u.t, command{args: append(slices.Clone(u.args), "--report", u.report)})
	waitUntil(u.t, "the jobs of the drill are there", func() bool { return len(u.allJobs()) >= before+4 })
}

func (u *plannedUpgrade) allJobs() (list []struct{ JobID string }) {
	u.t.Helper()
	u.json(&list, "job", "list", "--all")
	return list
}

// endDrill waits for a drill, whose verdict must be good, and notes when its faults may have ended
// attempts.
func (u *plannedUpgrade) endDrill() {
	u.t.Helper()
	r := u.drill.wait(u.t)
	u.drill = nil
	dir := filepath.Join(u.report, "run-001")
	if r.code != 0 {
		u.t.Fatalf("drill %d: exit code %d\n%s%s", u.drills, r.code, r.stdout, r.stderr)
	}
	v, err := chaos.ParseVerdict(readFile(u.t, filepath.Join(dir, "verdict.json")))
	must(u.t, err)
	plan, err := chaos.Parse("plan", readFile(u.t, filepath.Join(dir, "plan")))
	must(u.t, err)
	u.t.Logf("drill %d: %d of %d faults, %d bytes compared, %d lost, %d attempts again\n%v",
		u.drills, v.Injected(), len(v.Faults), v.Bytes, v.Lost, v.ExtraAttempts, v)
	if v.Injected() == 0 || v.Lost != 0 || v.Bytes == 0 {
		u.t.Errorf("drill %d: %+v", u.drills, v)
	}
	u.faults += v.Injected()
	for _, j := range v.Jobs {
		u.ids = append(u.ids, j.ID)
	}
	began := u.job(v.Jobs[0].ID).StartTime
	for i, f := range v.Faults {
		u.noteSpan(plan.Faults[i], f, began)
		if !f.Injected {
			continue
		}
		if at := began + f.At; slices.ContainsFunc(u.steps, func(s [2]int64) bool { return s[0] <= at && at <= s[1] }) {
			u.amid++
		}
	}
}

// The times of a verdict count from the end of the first submission, which the master has noted
// before; a master learns of the end of an attempt later.
const (
	spanBefore = 500 * time.Millisecond
	spanAfter  = 5 * time.Second
)

// noteSpan notes a fault that may have ended attempts of a tasknode. A failpoint may have done so
// although it counts as not injected: a task or a daemon that ended has taken its count with it.
func (u *plannedUpgrade) noteSpan(f chaos.Fault, r chaos.FaultResult, began int64) {
	if f.Target.Role == chaos.Tasknode && (f.EndsDaemon() || f.Kind == chaos.Failpoint) && r.Target != "" {
		at := began + r.At
		u.spans = append(u.spans, faultSpan{tasknode: r.Target, from: at - spanBefore.Milliseconds(), to: at + (f.For + spanAfter).Milliseconds()})
	}
}

// explained reports whether a fault has hit the tasknode of an attempt while the attempt ran. The
// output of an attempt that has succeeded may be lost later.
func (u *plannedUpgrade) explained(a report.Attempt) bool {
	return slices.ContainsFunc(u.spans, func(s faultSpan) bool {
		return s.tasknode == a.Tasknode && a.StartTime <= s.to && (a.State == report.Succeeded || a.FinishTime >= s.from)
	})
}

// needless reports whether an attempt was killed that a fault has started: it was to replace the
// output of an earlier one, whose tasknode came back with it.
func (u *plannedUpgrade) needless(a report.Attempt, task report.Task) bool {
	return a.State == report.Killed && slices.ContainsFunc(task.Attempts, func(earlier report.Attempt) bool {
		return earlier.State == report.Succeeded && slices.ContainsFunc(u.spans, func(s faultSpan) bool {
			return s.tasknode == earlier.Tasknode && earlier.StartTime <= s.to && s.from <= a.StartTime && a.StartTime <= s.to
		})
	})
}

// late reports whether an attempt failed because it did not report for 5 s, which jobs of drills allow:
// a task on an overloaded machine takes longer to start.
func late(doc report.Report, a report.Attempt) bool {
	return slices.ContainsFunc(doc.Failures, func(f report.Failure) bool {
		return f.Attempt == a.ID && strings.Contains(f.Cause, "mapreduce.task.timeout")
	})
}

// oldFault reports whether an attempt failed by a fault of the last release. A tasknode of that release
// that sends an order to a task closes the connection if the task has just sent its last message, and
// loses that message. A drain sends such orders. Tasknodes of this release receive the message
// (tasknode/task_conn.go).
func (u *plannedUpgrade) oldFault(doc report.Report, a report.Attempt) bool {
	drained := u.began[a.Tasknode]
	return drained != 0 && a.StartTime < drained && a.FinishTime < drained+spanAfter.Milliseconds() &&
		slices.ContainsFunc(doc.Failures, func(f report.Failure) bool {
			return f.Attempt == a.ID && strings.HasPrefix(f.Cause, "the task ended without a result")
		})
}

// wantExplained checks that all tasks of a job have finished, and that a fault explains each
// attempt beyond those that were preempted and the one that finished. It returns the numbers of all
// attempts and of those that a fault explains.
func (u *plannedUpgrade) wantExplained(id string) (attempts, again int) {
	u.t.Helper()
	doc := u.job(id)
	if doc.State != report.Succeeded {
		u.t.Errorf("%s is %s", id, doc.State)
	}
	for _, task := range doc.Tasks {
		finished := -1 // the last one: the output of one before it was lost
		for i, a := range task.Attempts {
			if a.State == report.Succeeded {
				finished = i
			}
		}
		if finished < 0 {
			u.t.Errorf("%s %s has not finished: %+v", id, task.ID, task.Attempts)
		}
		for i, a := range task.Attempts {
			attempts++
			if i == finished || a.State == report.Preempted {
				continue
			}
			if late(doc, a) {
				u.t.Logf("%s on %s did not report in time", a.ID, a.Tasknode)
				continue
			}
			if u.oldFault(doc, a) {
				u.t.Logf("%s on %s lost its last message, as tasknodes of the last release do", a.ID, a.Tasknode)
				continue
			}
			if again++; !u.explained(a) && !u.needless(a, task) {
				u.t.Errorf("%s is %s, and no fault explains it: %+v\ncauses of failed attempts: %+v\nfaults: %+v", a.ID, a.State, task.Attempts, doc.Failures, u.spans)
			}
		}
	}
	return attempts, again
}

// upgradeMaster replaces the program of a master when all masters take part, and waits until they
// do so again, with the upgraded ones at the version of this program.
func (u *plannedUpgrade) upgradeMaster(name string, upgraded ...string) {
	u.t.Helper()
	u.replace(name, hammr)
	waitUntil(u.t, "all masters take part", func() bool {
		s := u.status()
		for _, m := range s.Masters {
			if m.FormatVersion == 0 || slices.Contains(upgraded, m.ID) && m.FormatVersion != state.FormatVersion {
				return false
			}
		}
		return len(s.Masters) == len(u.state.Masters) && s.Leader != ""
	})
}

// upgradeTasknode drains a tasknode, replaces its program and gives it tasks again. The drain fails if a
// fault ends the tasknode meanwhile.
func (u *plannedUpgrade) upgradeTasknode(name string) {
	u.t.Helper()
	began := time.Now().UnixMilli()
	u.began[name] = began
	r := start(u.t, u.command("node", "drain", name, "--deadline", "120s")).wait(u.t)
	if r.code != 0 {
		r.want(u.t, 1, "node "+name+" was lost before it was drained")
		u.lost = append(u.lost, report.Attempt{ID: "drain of " + name, Tasknode: name, State: report.Killed, StartTime: began, FinishTime: time.Now().UnixMilli()})
	}
	u.replaceAndAdd(name)
}

// TestRollingUpgradeUnderAPlan upgrades three masters and four tasknodes of the last release, one
// after the other, while a plan of `hammr chaos` kills, stops and restarts them and lets their
// tasks fail, again and again. All jobs, those of the drills and those of clients of both releases,
// write the same bytes as without faults, and an attempt runs again only if a fault of the plan has
// hit its tasknode.
func TestRollingUpgradeUnderAPlan(t *testing.T) {
	t.Parallel()
	u := newPlannedUpgrade(t)
	masters := u.masterNames()
	for i, name := range masters {
		u.step(name, func() { u.upgradeMaster(name, masters[:i+1]...) })
	}
	for _, n := range u.state.Tasknodes {
		u.step(n.Name, func() { u.upgradeTasknode(n.Name) })
	}
	u.endDrill()
	u.usesNewFeatures()
	attempts, again := 0, 0
	for _, id := range u.ids {
		n, repeated := u.wantExplained(id)
		attempts, again = attempts+n, again+repeated
	}
	for _, drain := range u.lost {
		if !u.explained(drain) {
			t.Errorf("no fault explains that %s failed: %+v", drain.ID, drain)
		}
	}
	if u.amid == 0 {
		t.Errorf("none of %d faults has hit while a daemon was upgraded", u.faults)
	}
	t.Logf("%d drills with %d faults, %d of them while a daemon was upgraded; %d jobs with %d attempts, of which faults ended %d; %d drains failed",
		u.drills, u.faults, u.amid, len(u.ids), attempts, again, len(u.lost))
}
