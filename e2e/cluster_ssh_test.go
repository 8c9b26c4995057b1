//go:build deploy

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/ops/sshcluster"
	"github.com/hammr/hammr/internal/ops/sshcluster/sshtest"
	"github.com/hammr/hammr/internal/testing/must"
)

// machines are machines with an sshd, which are addresses of this machine, and a hostfile of them.
// Each has a directory of its own below Dir.
type machines struct {
	*sshtest.Machines
	t        *testing.T
	hostfile string
	shell    string
}

// newMachines returns five machines, or as many as given. The test is skipped where there is no
// sshd.
func newMachines(t *testing.T, count int) *machines {
	t.Helper()
	m := startSSHD(t)
	m.writeHostfile(strings.Join(sshtest.Hosts[:count], "\n"), fmt.Sprintf("port=%d staging=file://%s/staging", sshtest.FreePort(t, 1, 10, 11), m.Dir))
	return m
}

// startSSHD starts the machines. The caller writes the hostfile.
func startSSHD(t *testing.T) *machines {
	t.Helper()
	m := &machines{Machines: sshtest.Start(t, len(sshtest.Hosts)), t: t}
	m.hostfile, m.shell = filepath.Join(m.Dir, "hosts"), m.Shell(sshtest.UserKey)
	t.Cleanup(m.end)
	return m
}

// writeHostfile writes the hostfile of some machines, with options of all of them.
func (m *machines) writeHostfile(hosts, options string) {
	must.Do(m.t, os.WriteFile(m.hostfile, fmt.Appendf(nil, "%s\n* dir=%s/{host} slots=2 tasknode.own-user=true tasknode.heartbeat=200ms %s\n", hosts, m.Dir, options), 0o600))
}

// end stops the cluster, if there is one, and checks that no process of it is left.
func (m *machines) end() {
	r := start(m.t, m.command("stop", "--now")).waitOnly(m.t)
	if r.code != 0 {
		m.t.Errorf("the last stop: %s", r.stderr)
	}
	m.wantNoProcesses()
	if m.t.Failed() {
		logs, _ := filepath.Glob(m.Dir + "/127.*/*.log")
		for _, log := range logs {
			text, _ := os.ReadFile(log)
			m.t.Logf("%s:\n%s", log, text[max(0, len(text)-2000):])
		}
	}
}

// wantNoProcesses checks that no daemon, task or script is left. The scripts of a
// command that was interrupted may still run for a moment.
func (m *machines) wantNoProcesses() {
	m.t.Helper()
	waitUntil(m.t, "no process of the machines is left", func() bool {
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		return !slices.ContainsFunc(lines, func(name string) bool {
			line, _ := os.ReadFile(name)
			return strings.Contains(string(line), m.Dir+"/127.")
		})
	})
}

// command returns a command of `hammr cluster`.
func (m *machines) command(verb string, args ...string) command {
	return command{args: slices.Concat([]string{"cluster", verb, "--hostfile", m.hostfile, "--shell", m.shell}, args)}
}

func (m *machines) cluster(verb string, args ...string) result {
	m.t.Helper()
	return start(m.t, m.command(verb, args...)).wait(m.t)
}

// done runs a command of `hammr cluster` that must succeed.
func (m *machines) done(verb string, args ...string) result {
	m.t.Helper()
	r := m.cluster(verb, args...)
	r.want(m.t, 0)
	return r
}

// client runs a command that asks the masters, which must succeed.
func (m *machines) client(masters string, args ...string) result {
	m.t.Helper()
	r := start(m.t, command{args: args, env: []string{"HAMMR_MASTER=" + masters, "HAMMR_TOKEN_FILE=" + m.hostfile + ".token"}}).wait(m.t)
	r.want(m.t, 0)
	return r
}

// status returns the daemons by role and host.
func (m *machines) status() map[string]sshcluster.Row {
	m.t.Helper()
	r := m.cluster("status", "--json")
	var rows []sshcluster.Row
	if err := json.Unmarshal([]byte(r.stdout), &rows); err != nil {
		m.t.Fatalf("%v: %s%s", err, r.stdout, r.stderr)
	}
	byName := make(map[string]sshcluster.Row)
	for _, row := range rows {
		byName[row.Role+" "+row.Host] = row
	}
	return byName
}

// TestClusterOverSSH starts a cluster on five machines and compares the output of programs with
// that of other tools. Then it kills a tasknode and the leader under a job, and starts them again.
func TestClusterOverSSH(t *testing.T) {
	m := newMachines(t, 5)
	in, out := proseFile(t, "prose", 4<<20), t.TempDir()
	rows := filepath.Join(out, "rows")
	done(t, "run", "teragen", "-D", "mapreduce.job.maps=3", "30000", rows)
	var unsorted []byte
	for _, name := range mapParts(t, rows, 3) {
		unsorted = append(unsorted, readFile(t, name)...)
	}
	words := shell(t, toolWordcount, in)

	first := m.done("start") // copies the program
	t.Logf("the first start took %v\n%s", first.took, first.stderr)
	m.done("stop")
	r := m.done("start")
	masters := strings.TrimSpace(r.stdout)
	t.Logf("a start without a copy took %v\n%s", r.took, r.stderr)
	if len(strings.Split(masters, ",")) != 3 || !strings.Contains(r.stderr, "export HAMMR_MASTER="+masters+"\nexport HAMMR_TOKEN_FILE='"+m.hostfile+".token'\n") {
		t.Errorf("start printed %q and\n%s", masters, r.stderr)
	}
	if r := m.done("start"); strings.Count(r.stderr, "runs already") != 8 {
		t.Errorf("the second start:\n%s", r.stderr)
	}
	counts, sorted := filepath.Join(out, "counts"), filepath.Join(out, "sorted")
	m.client(masters, "run", "wordcount", "-D", "mapreduce.job.reduces=3", in, counts)
	wantSame(t, sortedLines(parts(t, counts, 3)), words)
	m.client(masters, "run", "terasort", "-D", "mapreduce.job.reduces=3", rows, sorted)
	wantSame(t, parts(t, sorted, 3), sortedRows(unsorted))

	m.reloads()
	m.disturbJob(masters)
	m.done("stop")
	m.wantNoProcesses()
	for name, row := range m.status() {
		if row.State != sshcluster.Stopped {
			t.Errorf("%s after the stop: %+v", name, row)
		}
	}
}

// reloads changes a setting of all tasknodes while they run. A dry run changes none.
func (m *machines) reloads() {
	m.t.Helper()
	before := m.status()
	changed := func() (n int) {
		for _, host := range sshtest.Hosts {
			if bytes.Contains(readFile(m.t, filepath.Join(m.Dir, host, "tasknode.log")), []byte("object=log-level from=info to=debug")) {
				n++
			}
		}
		return n
	}
	if r := m.done("reload", "--set", "tasknode.log-level=debug", "--dry-run"); !strings.Contains(r.stdout, "reload tasknode") || changed() > 0 {
		m.t.Errorf("%d tasknodes were reloaded by a dry run:\n%s", changed(), r.stdout)
	}
	m.done("reload", "--set", "tasknode.log-level=debug")
	waitUntil(m.t, "all tasknodes have another log level", func() bool { return changed() == len(sshtest.Hosts) })
	for name, row := range m.status() {
		if row.PID != before[name].PID {
			m.t.Errorf("%s was %+v and is %+v", name, before[name], row)
		}
	}
}

// disturbJob stops the cluster under a job and starts it again, then kills a tasknode that runs a task
// of it, and the leader. A start brings both back, and the job writes the same bytes.
func (m *machines) disturbJob(masters string) {
	t := m.t
	t.Helper()
	in := fewWords(t, 10_000, 600)
	slow := filepath.Join(t.TempDir(), "slow")
	id := strings.TrimSpace(m.client(masters, "run", "wordcount", "--detach", "-D", "mapreduce.job.reduces=3",
		"-D", "mapreduce.input.fileinputformat.split.maxsize=8000", "-D", "hammr.input.combine=false", "-D", "hammr.debug.record.sleep=20ms", in, slow).stdout)
	victim := ""
	attemptRuns := func() bool {
		attempts := m.attempts(masters, id)
		i := slices.IndexFunc(attempts, func(a report.Attempt) bool { return a.State == report.Running })
		if i >= 0 {
			victim = "tasknode " + attempts[i].Tasknode
		}
		return i >= 0
	}
	waitUntil(t, "an attempt runs", attemptRuns)
	m.done("stop")
	if r := m.done("start"); !strings.Contains(r.stderr, "resumes job "+id) {
		t.Errorf("the start after the job was suspended:\n%s", r.stderr)
	}
	waitUntil(t, "an attempt runs again", attemptRuns)
	for _, a := range m.attempts(masters, id) {
		if a.State == report.Killed || a.State == report.Failed {
			t.Errorf("%s on %s is %s after the stop", a.ID, a.Tasknode, a.State)
		}
	}
	rows, leader := m.running(), ""
	for name, row := range rows {
		if row.Member == "leader" {
			leader = name
		}
	}
	for _, name := range []string{victim, leader} {
		must.Do(t, syscall.Kill(rows[name].PID, syscall.SIGKILL))
	}
	waitUntil(t, "both are shown as stopped", func() bool {
		now := m.status()
		return now[victim].State == sshcluster.Stopped && now[leader].State == sshcluster.Stopped
	})
	r := m.done("start")
	if strings.Count(r.stderr, "runs already") != 6 || strings.Count(r.stderr, "is ready,")+strings.Count(r.stderr, "is ready;") != 2 {
		t.Errorf("the start after %s and %s were killed:\n%s", victim, leader, r.stderr)
	}
	m.client(masters, "job", "wait", id)
	wantSame(t, sortedLines(parts(t, slow, 3)), shell(t, toolWordcount, in))
}

// running returns the daemons, which must all run. It waits until the masters know all tasknodes and
// a leader; only the leader knows the state of the others.
func (m *machines) running() (rows map[string]sshcluster.Row) {
	m.t.Helper()
	waitUntil(m.t, "the leader knows all daemons", func() bool {
		rows = m.status()
		known := 0
		for name, row := range rows {
			if row.State != sshcluster.Running || row.PID == 0 {
				m.t.Errorf("%s: %+v", name, row)
			}
			if row.Member == "leader" || row.Role == "tasknode" && row.Member != "" {
				known++
			}
		}
		return known == 1+len(sshtest.Hosts)
	})
	return rows
}

// attempts returns the attempts of a job.
func (m *machines) attempts(masters, id string) (attempts []report.Attempt) {
	m.t.Helper()
	var doc report.Report
	must.Do(m.t, json.Unmarshal([]byte(m.client(masters, "job", "status", id, "--json").stdout), &doc))
	for _, task := range doc.Tasks {
		attempts = append(attempts, task.Attempts...)
	}
	return attempts
}

// TestClusterOverSSHRefuses checks that machines which cannot be used are named with the
// remedy, and that nothing is started then.
func TestClusterOverSSHRefuses(t *testing.T) {
	m := newMachines(t, 5)
	good, hosts := m.shell, readFile(t, m.hostfile)
	m.shell = m.Shell(sshtest.OtherKey)
	m.cluster("start").want(t, 1, "127.0.1.1: ", "Permission denied", "the machine accepts no key of yours", "127.0.1.5: ")
	m.shell = good
	m.Trust("127.0.1.3", "127.0.1.1")
	m.Trust("127.0.1.4", "")
	m.StopServer("127.0.1.5")
	m.cluster("start").want(t, 1, "127.0.1.3: ", "the machine has another key than in known_hosts", "127.0.1.4: ", "the machine's key is not in known_hosts",
		"127.0.1.5: ssh: connect to host 127.0.1.5", "start the machine and its sshd, or remove its line from the hostfile")
	r := m.cluster("status")
	if r.code != 1 || !strings.Contains(r.stdout, "unknown") || !strings.Contains(r.stdout, "absent") {
		t.Errorf("status with exit code %d:\n%s", r.code, r.stdout)
	}
	for _, host := range []string{"127.0.1.3", "127.0.1.4"} {
		m.Trust(host, host)
	}
	m.StartServer("127.0.1.5")
	must.Do(t, os.WriteFile(m.hostfile, append([]byte("127.0.1.1\n"), hosts...), 0o600))
	m.cluster("start").want(t, 2, m.hostfile+":2: 127.0.1.1 appears twice, first on line 1")
	must.Do(t, os.WriteFile(m.hostfile, hosts, 0o600))
	m.cluster("start", "--set", "tasknode.map-slot=2").want(t, 1, `127.0.1.1: settings of the tasknode: no setting "map-slot"`)
	m.wantNoProcesses()
	for _, host := range sshtest.Hosts {
		if _, err := os.Stat(filepath.Join(m.Dir, host)); !os.IsNotExist(err) {
			t.Errorf("%s was changed: %v", host, err)
		}
	}
}

// TestClusterRun runs a program on a cluster of its own, from fresh machines.
func TestClusterRun(t *testing.T) {
	m := newMachines(t, 5)
	in, dir := proseFile(t, "prose", 1<<20), t.TempDir()
	out, results := filepath.Join(dir, "out"), filepath.Join(dir, "results")
	r := m.done("run", "--out", results, "--", "wordcount", in, out)
	t.Logf("the run from fresh machines took %v\n%s", r.took, r.stderr)
	wantSame(t, parts(t, out, 1), shell(t, toolWordcount, in))
	jobs, err := filepath.Glob(results + "/jobs/*.json")
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%q, %v\n%s", jobs, err, r.stderr)
	}
	if doc, err := report.ReadFile(jobs[0]); err != nil || doc.State != report.Succeeded {
		t.Errorf("the report: %+v, %v", doc.State, err)
	}
	if logs, err := filepath.Glob(results + "/logs/*.log"); err != nil || len(logs) != 8 {
		t.Errorf("%q, %v", logs, err)
	}
	m.wantNoProcesses()
	m.cluster("run", "--out", filepath.Join(dir, "again"), "--", "sh", "-c", `test -n "$HAMMR_MASTER" && exit 7`).want(t, 7)
	m.wantNoProcesses()
}

// TestClusterUpgrade replaces the program of three masters and four tasknodes while a job runs. No
// attempt runs again.
func TestClusterUpgrade(t *testing.T) {
	m := newMachines(t, 4)
	in, dir := fewWords(t, 10_000, 1000), t.TempDir()
	out := filepath.Join(dir, "out")
	masters := strings.TrimSpace(m.done("start").stdout)
	// Eight map slots need two minutes for it.
	id := strings.TrimSpace(m.client(masters, "run", "wordcount", "--detach", "-D", "mapreduce.job.reduces=3", "-D", "mapreduce.input.fileinputformat.split.maxsize=2000",
		"-D", "hammr.input.combine=false", "-D", "hammr.debug.record.sleep=100ms", "-D", "hammr.preempt.boundary.timeout=1m", in, out).stdout)
	newer := filepath.Join(dir, "hammr")
	must.Do(t, os.WriteFile(newer, append(readFile(t, hammr), "newer"...), 0o755))
	before := m.status()
	m.cluster("start", "--program", newer).want(t, 1, "127.0.1.1: its jobmaster runs another program")
	waitUntil(t, "tasks run on all tasknodes", func() bool {
		busy := make(map[string]bool)
		for _, a := range m.attempts(masters, id) {
			if a.State == report.Running {
				busy[a.Tasknode] = true
			}
		}
		return len(busy) == 4
	})
	r := m.done("upgrade", "--program", newer)
	t.Logf("the upgrade took %v\n%s", r.took, r.stderr)
	if state := m.jobState(masters, id); state != report.Running {
		t.Errorf("the job is %s after the upgrade; it must run until then", state)
	}
	for name, row := range m.status() {
		if old := before[name]; row.State != sshcluster.Running || row.Program == old.Program || row.PID == old.PID {
			t.Errorf("%s was %+v and is %+v", name, old, row)
		}
	}
	m.client(masters, "job", "wait", id)
	wantSame(t, sortedLines(parts(t, out, 3)), shell(t, toolWordcount, in))
	attempts := m.attempts(masters, id)
	for _, a := range attempts {
		if a.State == report.Killed || a.State == report.Failed {
			t.Errorf("%s on %s is %s", a.ID, a.Tasknode, a.State)
		}
	}
	t.Logf("%d attempts, none killed or failed", len(attempts))
}

// jobState returns the state of a job.
func (m *machines) jobState(masters, id string) report.State {
	m.t.Helper()
	var doc report.Report
	must.Do(m.t, json.Unmarshal([]byte(m.client(masters, "job", "status", id, "--json").stdout), &doc))
	return doc.State
}
