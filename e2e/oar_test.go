//go:build deploy

package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/ops/sshcluster/sshtest"
	"github.com/hammr/hammr/internal/testing/must"
)

// oar is an OAR with three nodes of two cores, which are this machine: its server, a PostgreSQL and
// an sshd. testdata/oar.sh sets it up.
type oar struct {
	t    *testing.T
	dir  string
	user string
	uid  int    // of user
	ns   string // process whose namespaces have it
}

// newOAR starts OAR, and makes an account for its time, since OAR takes no jobs of root. The test is
// skipped without its packages, or without root.
func newOAR(t *testing.T) *oar {
	t.Helper()
	for _, tool := range []string{"oarsub", "oar-server", "oarsh", "/usr/sbin/sshd", "unshare", "nsenter"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%v: apt-get install oar-server oar-server-pgsql oar-node oar-user oar-user-pgsql postgresql openssh-server", err)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("it needs root, to make an account and to give the machine other names")
	}
	dir, err := os.MkdirTemp("", "oar-")
	must.Do(t, err)
	o := &oar{t: t, dir: dir, user: "hammr-oar-test"}
	must.Do(t, os.Chmod(dir, 0o755))
	if _, err := user.Lookup(o.user); err != nil {
		o.system("useradd", "--no-create-home", "--home-dir", dir, "--shell", "/bin/sh", o.user)
	}
	t.Cleanup(func() {
		o.system("userdel", o.user)
		must.Do(t, os.RemoveAll(dir))
	})
	o.makeShared()
	script, err := filepath.Abs("testdata/oar.sh")
	must.Do(t, err)
	p := prepare(t, command{program: "unshare", args: []string{"--mount", "--uts", "sh", script, dir, port(t), port(t), port(t), o.user}, limit: time.Hour})
	in, err := p.cmd.StdinPipe()
	must.Do(t, err)
	p.cmd.Stdout = nil
	out, err := p.cmd.StdoutPipe()
	must.Do(t, err)
	p.begin(t)
	o.ns = strconv.Itoa(p.cmd.Process.Pid)
	t.Cleanup(func() { // it runs before the process is killed, and after all jobs have ended
		must.Do(t, in.Close())
		p.waitOnly(t)
		o.showLogs()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("OAR is not ready: %q, %v\n%s\n%s", line, err, p.stderr.String(), readFile(t, filepath.Join(dir, "setup.log")))
	}
	t.Cleanup(o.endJobs)
	return o
}

// shared is the directory in which the user's jobs run.
func (o *oar) shared() string { return filepath.Join(o.dir, "shared") }

// makeShared makes it.
func (o *oar) makeShared() {
	o.t.Helper()
	must.Do(o.t, os.Mkdir(o.shared(), 0o755))
	u, err := user.Lookup(o.user)
	must.Do(o.t, err)
	o.uid, err = strconv.Atoi(u.Uid)
	must.Do(o.t, err)
	must.Do(o.t, os.Chown(o.shared(), o.uid, -1))
	openWay(o.t, filepath.Dir(hammr))
}

// port returns a port that is free.
func port(t *testing.T) string { return strconv.Itoa(sshtest.FreePort(t)) }

func (o *oar) system(program string, args ...string) {
	o.t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		o.t.Errorf("%s %v: %v\n%s", program, args, err, out)
	}
}

// endJobs ends all jobs.
func (o *oar) endJobs() {
	if jobs := regexp.MustCompile(`(?m)^\d+`).FindAllString(o.try("oarstat"), -1); len(jobs) > 0 {
		o.try("oardel " + strings.Join(jobs, " "))
	}
	waitUntil(o.t, "no job runs", func() bool { return o.try("oarstat") == "" })
	if left, _ := filepath.Glob(fmt.Sprintf("/tmp/hammr-%d-*", o.uid)); len(left) > 0 {
		o.t.Errorf("left: %q", left)
	}
}

// showLogs shows the ends of OAR's logs if the test has failed.
func (o *oar) showLogs() {
	if !o.t.Failed() {
		return
	}
	for _, name := range []string{"setup.log", "runtime/oar.log", "sshd.log"} {
		text, _ := os.ReadFile(filepath.Join(o.dir, name))
		o.t.Logf("%s:\n%s", name, text[max(0, len(text)-4000):])
	}
}

// try runs a command of OAR as the user, and returns its output.
func (o *oar) try(script string) string {
	o.t.Helper()
	args := []string{"--target", o.ns, "--mount", "--uts", "--root", "su", o.user, "-c", "cd " + o.shared() + " && " + script}
	cmd := exec.Command("nsenter", args...)
	cmd.Dir = "/"
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		o.t.Logf("%s: %v\n%s%s", script, err, out, exit.Stderr)
	}
	return strings.TrimSpace(string(out))
}

// submit submits a script, and returns the id of its job.
func (o *oar) submit(options, script string) string {
	o.t.Helper()
	text := o.try("oarsub " + options + " " + script)
	match := regexp.MustCompile(`OAR_JOB_ID=(\d+)`).FindStringSubmatch(text)
	if match == nil {
		o.t.Fatalf("oarsub prints no job:\n%s", text)
	}
	return match[1]
}

// state returns the state of a job, such as Terminated.
func (o *oar) state(job string) string {
	match := regexp.MustCompile(`(?m)^\s*state = (\w+)`).FindStringSubmatch(o.try("oarstat -f -j " + job))
	if match == nil {
		return ""
	}
	return match[1]
}

// oarRun is a program in jobs of OAR.
type oarRun struct {
	*oar
	*allocations
	output, out, want string
	script            string
}

// newRun prepares a program, whose arguments are followed by its input and its output. Each record
// takes 10 ms.
func (o *oar) newRun(in string, program ...string) *oarRun {
	o.t.Helper()
	dir := o.shared()
	r := &oarRun{oar: o, allocations: &allocations{t: o.t, state: filepath.Join(dir, "state")},
		output: filepath.Join(dir, "output"), out: filepath.Join(dir, "out"), want: filepath.Join(o.dir, "want"), script: filepath.Join(dir, "script")}
	program = append(program, "-D", "mapreduce.job.reduces=3", "-D", "mapreduce.input.fileinputformat.split.maxsize=50k")
	done(o.t, slices.Concat([]string{"run", "--quiet"}, program, []string{in, r.want})...)
	text := fmt.Sprintf("#!/bin/sh\nexec >>%s 2>&1\nexec %s oar run --state %s --save-before 15s -- %s -D hammr.debug.record.sleep=10ms %s %s\n",
		r.output, hammr, r.allocations.state, strings.Join(program, " "), in, r.out)
	must.Do(o.t, os.WriteFile(r.script, []byte(text), 0o755))
	return r
}

// newWordcount prepares a wordcount that needs about 75 s on six cores.
func (o *oar) newWordcount() *oarRun {
	o.t.Helper()
	in := filepath.Join(o.shared(), "in")
	must.Do(o.t, os.WriteFile(in, readFile(o.t, fewWords(o.t, 45_000, 900)), 0o644))
	return o.newRun(in, "wordcount")
}

// succeeds waits until the program has ended in one of its jobs, and checks its output.
func (r *oarRun) succeeds(allocations int) {
	t := r.oar.t
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	err := syncutil.Poll(ctx, time.Second, func(context.Context) (bool, error) {
		text, _ := os.ReadFile(r.output)
		return strings.Contains(string(text), ": SUCCEEDED, "), nil
	})
	text, _ := os.ReadFile(r.output)
	t.Logf("output of %s:\n%s", r.script, regexp.MustCompile(`(?m)^.* map \d+% .*\n`).ReplaceAll(text, nil))
	if err != nil || strings.Count(string(text), "is ready after") < allocations {
		t.Fatalf("%v; want %d allocations", err, allocations)
	}
	wantSameTree(t, r.out, r.want)
	once(t, r.allocations.state, 1)
}

// runOverWalltime runs a program in jobs of 100 s. After 60 s OAR sends the checkpoint signal, and
// submits the job again when it has ended.
func (r *oarRun) runOverWalltime() {
	t := r.oar.t
	t.Helper()
	job := r.submit("-l /nodes=3,walltime=0:01:40 -t idempotent --checkpoint 40 --signal 12", "'exec "+r.script+"'")
	r.succeeds(2)
	if text := string(readFile(t, r.output)); !strings.Contains(text, "signal user defined signal 2: suspending") || !strings.Contains(text, "as job "+job+" has saved it") {
		t.Error("the first job was not continued after a signal")
	}
}

// TestOARWalltime runs a wordcount that needs more time than a job has.
func TestOARWalltime(t *testing.T) {
	newOAR(t).newWordcount().runOverWalltime()
}

// TestOARTerasort runs a terasort that needs more time than a job has: half a minute for its maps, and
// a minute for its reduces, in which the first job ends.
func TestOARTerasort(t *testing.T) {
	o := newOAR(t)
	rows := filepath.Join(o.shared(), "rows")
	done(t, "run", "teragen", "-D", "mapreduce.job.maps=3", "18000", rows)
	o.newRun(rows, "terasort").runOverWalltime()
}

// TestOARBesteffort runs a wordcount in a besteffort job, whose nodes another job wants after it has
// run for a minute.
func TestOARBesteffort(t *testing.T) {
	o := newOAR(t)
	r := o.newWordcount()
	job := o.submit("-l /nodes=3,walltime=1:00:00 -t besteffort -t idempotent --checkpoint 60 --signal 12", "'exec "+r.script+"'")
	r.running(report.Map, 12)
	other := o.submit("-l /nodes=3,walltime=0:01:00", "'sleep 5'")
	waitUntil(t, "the besteffort job has ended", func() bool { return slices.Contains([]string{"Terminated", "Error"}, o.state(job)) })
	waitUntil(t, "the other job has ended", func() bool { return o.state(other) == "Terminated" })
	r.succeeds(2)
}

// running waits until the first job has done so many maps and runs an attempt of a kind.
func (a *allocations) running(kind report.Kind, done int) {
	a.t.Helper()
	waitUntil(a.t, fmt.Sprintf("%d maps are done and an attempt of a %s runs", done, kind), func() bool {
		job := a.job()
		if job == nil {
			return false
		}
		maps, runs := 0, false
		for _, task := range report.FromStatus(job, nil).Tasks {
			for _, attempt := range task.Attempts {
				if task.Type == report.Map && attempt.State == report.Succeeded {
					maps++
				}
				runs = runs || task.Type == kind && attempt.State == report.Running
			}
		}
		return maps >= done && runs
	})
}
