//go:build deploy

package systemdtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestPackageOnMachines takes the package through its life on three machines. Each step continues
// from the one before.
func TestPackageOnMachines(t *testing.T) {
	l := newLab(t)
	runSteps(t, []step{
		{"install", l.install},
		{"settings", l.configure},
		{"start", l.start},
		{"jobs of alice", l.runJobs},
		{"memory", l.limitMemory},
		{"reload", l.reload},
		{"restart", l.restart},
		{"kill", l.kill},
		{"watchdog", l.hang},
		{"upgrade", l.upgrade},
		{"remove", l.remove},
		{"rpm", l.installRPM},
		{"shutdown", l.shutDown},
	})
}

// install installs the package. It starts nothing.
func (l *lab) install(t *testing.T) {
	for _, m := range l.machines {
		m.do(t, "dpkg", "--install", "/root/old.deb")
		if got := m.do(t, "hammr", "version"); !strings.HasPrefix(got, "hammr v"+oldVersion+" ") {
			t.Errorf("version %s", got)
		}
		m.do(t, "getent", "passwd", "hammr")
		m.do(t, "ls", "/usr/share/man/man1/hammr-node-drain.1.gz")
		for _, unit := range []string{masterUnit, tasknodeUnit} {
			active, _ := m.try("systemctl", "is-active", unit) // they fail if the answer is no
			enabled, _ := m.try("systemctl", "is-enabled", unit)
			if active != "inactive" || enabled != "disabled" {
				t.Errorf("%s is %s and %s", unit, active, enabled)
			}
		}
	}
	m := l.machines[0]
	if out := m.shell(t, "systemd-analyze verify --man=no "+masterUnit+" "+tasknodeUnit+" 2>&1"); out != "" {
		t.Errorf("systemd-analyze verify:\n%s", out)
	}
	for unit, most := range map[string]string{masterUnit: "20", tasknodeUnit: "75"} { // tenths of points
		out, err := m.try("systemd-analyze", "security", "--no-pager", "--threshold="+most, unit)
		if err != nil {
			t.Error(err)
		}
		t.Log(out[strings.LastIndex(out, "\n")+1:])
	}
}

// start starts and enables all daemons. The first master is not ready before the second one.
func (l *lab) start(t *testing.T) {
	for _, m := range l.machines {
		m.do(t, "systemctl", "enable", masterUnit)
	}
	l.machines[0].do(t, "systemctl", "start", "--no-block", masterUnit)
	l.machines[0].until(t, "the first master waits", func() bool {
		return l.machines[0].property(t, masterUnit, "StatusText") == "looks for a leader"
	})
	l.machines[1].do(t, "systemctl", "start", masterUnit) // waits for a leader
	l.machines[2].do(t, "systemctl", "start", masterUnit)
	for _, m := range l.machines[:2] {
		m.do(t, "systemctl", "enable", "--now", tasknodeUnit)
	}
	l.eachDaemon(func(m *machine, unit string) {
		got := m.daemon(t, unit)
		if got.active != "active" {
			t.Errorf("%s on %s is %s", unit, m.name, got.active)
		}
		t.Logf("%s on %s: %s", unit, m.name, m.property(t, unit, "StatusText"))
	})
	for _, m := range l.machines[:2] {
		l.untilAccepts(t, m)
	}
}

// runJobs runs wordcount and terasort as alice, on the cluster and in one process.
func (l *lab) runJobs(t *testing.T) {
	l.makeInput(t)
	m := l.machines[2]
	m.client(t, append([]string{"run", "wordcount", "--quiet"}, append(jobFlags, hdfs+"/words", hdfs+"/counts")...)...)
	if got := l.sum(t, "/counts"); got != l.want {
		t.Errorf("wordcount: %s, want %s", got, l.want)
	}
	m.client(t, "run", "teragen", "--quiet", "-D", "mapreduce.job.maps=3", "100000", hdfs+"/rows")
	sort := []string{"run", "terasort", "--quiet", "-D", "mapreduce.job.reduces=2", hdfs + "/rows"}
	m.client(t, append(sort, hdfs+"/sorted")...)
	m.do(t, asAlice(append(append([]string{"hammr"}, sort...), hdfs+"/sorted-here")...)...)
	if got, want := l.sum(t, "/sorted"), l.sum(t, "/sorted-here"); got != want {
		t.Errorf("terasort: %s, want %s", got, want)
	}
	for _, line := range strings.Split(m.client(t, "fs", "-ls", hdfs+"/counts"), "\n") {
		if strings.Contains(line, "part-r-") && !strings.Contains(line, " alice ") {
			t.Errorf("output of a task of alice: %s", line)
		}
	}
}

// limitMemory runs tasks that need more memory than they may use. The machine with control groups of
// version 1 has the kernel end them; the other one has no memory controller, and its tasknode ends
// them. The daemons continue.
func (l *lab) limitMemory(t *testing.T) {
	m := l.machines[0]
	id, out := l.submit(t, "3ms", "n1", "n2")
	groups := m.shell(t, `cd /sys/fs/cgroup/memory/system.slice/`+tasknodeUnit+` && for g in */attempt_*; do echo $(cat $g/memory.limit_in_bytes) $(for p in $(cat $g/cgroup.procs); do stat --format=%U /proc/$p; done); done`)
	for _, group := range strings.Split(groups, "\n") {
		if group != "1073741824 alice" {
			t.Errorf("limit and users of a task's control group: %q", groups)
		}
	}
	l.wantOnce(t, id, out)

	var before []daemonState
	l.eachDaemon(func(m *machine, unit string) { before = append(before, m.daemon(t, unit)) })
	kills := l.outOfMemoryKills(t)
	_, err := l.machines[2].try(asAlice(append([]string{"HAMMR_MASTER=n1,n2,n3", "hammr", "run", "wordcount", "--quiet", "-D", "mapreduce.map.memory.mb=2", "-D", "hammr.debug.record.sleep=3ms",
		"--report", "/home/alice/report"}, append(jobFlags, hdfs+"/words", hdfs+"/none")...)...)...)
	if err == nil || !strings.Contains(err.Error(), "ran out of its memory of 2 MiB (mapreduce.map.memory.mb)") {
		t.Errorf("a job without memory: %v", err)
	}
	var doc report.Report
	data, err := os.ReadFile(filepath.Join(l.machines[2].root, "home/alice/report"))
	must.Do(t, err)
	must.Do(t, json.Unmarshal(data, &doc))
	failures := make(map[string]int)
	for _, f := range doc.Failures {
		failures[f.Tasknode]++
	}
	now := l.outOfMemoryKills(t)
	if failures["n1"] == 0 || now == kills {
		t.Errorf("failures %v; the kernel counted %s tasks that ran out of memory, %s before", failures, now, kills)
	}
	t.Logf("failures %v, out-of-memory kills of the kernel: %s, then %s", failures, kills, now)
	var after []daemonState
	l.eachDaemon(func(m *machine, unit string) { after = append(after, m.daemon(t, unit)) })
	if !slices.Equal(before, after) {
		t.Errorf("daemons were %v and are %v", before, after)
	}
	t.Logf("n2: %s", l.machines[1].shell(t, "journalctl --no-pager --output=cat --unit="+tasknodeUnit+" | grep -i 'control group\\|cgroup' | head -n 1"))
}

// outOfMemoryKills returns how many processes the kernel has killed since it started.
func (l *lab) outOfMemoryKills(t *testing.T) string {
	t.Helper()
	return l.machines[0].shell(t, "sed -n 's/^oom_kill //p' /proc/vmstat")
}

// reload changes a setting. The process stays.
func (l *lab) reload(t *testing.T) {
	m := l.machines[0]
	before := m.daemon(t, tasknodeUnit)
	m.replace(t, "/etc/hammr/tasknode.yaml", "map-slots: 2", "map-slots: 5")
	m.do(t, "systemctl", "reload", tasknodeUnit, masterUnit)
	m.until(t, "the tasknode offers five slots", func() bool { return l.tasknode(t, "n1").MapSlots == 5 })
	if now := m.daemon(t, tasknodeUnit); now != before {
		t.Errorf("the tasknode was %v and is %v", before, now)
	}
	if log := m.journal(t, tasknodeUnit); !strings.Contains(log, "call=Reload object=map-slots from=2 to=5 result=done") {
		t.Errorf("log of the tasknode:\n%s", log)
	}
}

// restart restarts a tasknode and then the leader during a job. The work moves, and nothing runs
// again.
func (l *lab) restart(t *testing.T) {
	id, out := l.submit(t, "10ms", "n1", "n2")
	m := l.machines[0]
	before := m.daemon(t, tasknodeUnit)
	began := time.Now()
	m.do(t, "systemctl", "restart", tasknodeUnit)
	t.Logf("restart of the tasknode: %.1f s", time.Since(began).Seconds())
	m.untilRestarted(t, tasknodeUnit, before)
	if log := m.journal(t, tasknodeUnit); !strings.Contains(log, "Drained node n1") {
		t.Errorf("log of the tasknode:\n%s", log)
	}
	l.untilAccepts(t, m)
	leader := slices.IndexFunc(l.machines, func(m *machine) bool { return strings.HasPrefix(m.property(t, masterUnit, "StatusText"), "leads ") })
	if leader < 0 {
		t.Fatal("no unit says that its master leads")
	}
	before = l.machines[leader].daemon(t, masterUnit)
	l.machines[leader].do(t, "systemctl", "restart", masterUnit)
	l.machines[leader].untilRestarted(t, masterUnit, before)
	l.wantOnce(t, id, out)
}

// kill kills daemons. systemd starts them again.
func (l *lab) kill(t *testing.T) { l.signal(t, "KILL") }

// hang stops daemons. The watchdog ends them, and they write their stacks to the journal.
func (l *lab) hang(t *testing.T) {
	l.signal(t, "STOP")
	for _, unit := range units[0] {
		log := l.machines[0].journal(t, unit)
		if !strings.Contains(log, "Watchdog timeout") || !strings.Contains(log, "SIGABRT: abort") {
			t.Errorf("log of %s:\n%s", unit, log[max(0, len(log)-4000):])
		}
	}
}

// signal sends a signal to both daemons of a machine, and waits until new ones are ready. Jobs run
// as before.
func (l *lab) signal(t *testing.T, signal string) {
	t.Helper()
	m := l.machines[0]
	began := time.Now()
	var before []daemonState
	for _, unit := range units[0] {
		d := m.daemon(t, unit)
		m.shell(t, "kill -s "+signal+" "+d.pid)
		before = append(before, d)
	}
	for i, unit := range units[0] {
		m.untilRestarted(t, unit, before[i])
	}
	l.untilAccepts(t, m)
	t.Logf("both daemons are ready %.1f s after SIG%s", time.Since(began).Seconds(), signal)
	id, out := l.submit(t, "0")
	l.wantOnce(t, id, out)
}

// upgrade installs a newer version on one machine after the other, during a job. Settings that
// were changed stay, daemons that run are restarted, and nothing runs again.
func (l *lab) upgrade(t *testing.T) {
	id, out := l.submit(t, "20ms", "n1", "n2")
	for i, m := range slices.Backward(l.machines) {
		before := make(map[string]daemonState)
		for _, unit := range units[i] {
			before[unit] = m.daemon(t, unit)
		}
		settings := m.shell(t, "cat /etc/hammr/*.yaml")
		began := time.Now()
		m.do(t, "dpkg", "--install", "/root/new.deb")
		t.Logf("upgrade of %s: %.1f s", m.name, time.Since(began).Seconds())
		if now := m.shell(t, "cat /etc/hammr/*.yaml"); now != settings {
			t.Errorf("settings were\n%sand are\n%s", settings, now)
		}
		if left := m.shell(t, "ls /etc/hammr"); left != "jobmaster.yaml\ntasknode.yaml\ntoken" {
			t.Errorf("files in /etc/hammr: %q", left)
		}
		for _, unit := range units[i] {
			m.untilRestarted(t, unit, before[unit])
			program := m.shell(t, "readlink /proc/"+m.property(t, unit, "MainPID")+"/exe")
			if program != "/usr/bin/hammr" {
				t.Errorf("%s runs %s", unit, program)
			}
		}
		if i < 2 {
			l.untilAccepts(t, m)
		}
	}
	l.wantOnce(t, id, out)
	if got := l.machines[2].client(t, "master", "status"); strings.Count(got, "v"+newVersion) != len(l.machines) {
		t.Errorf("masters:\n%s", got)
	}
}

// remove removes the package from all machines, and then purges it. Nothing of it is left.
func (l *lab) remove(t *testing.T) {
	for i, m := range slices.Backward(l.machines) {
		m.do(t, "dpkg", "--remove", "hammr")
		if i == 1 { // n1 gets its work
			if log := m.journal(t, tasknodeUnit); !strings.Contains(log, "Drained node n2") {
				t.Errorf("log of the tasknode:\n%s", log)
			}
		}
		m.do(t, "ls", "/etc/hammr/token", "/etc/hammr/jobmaster.yaml", "/var/lib/hammr/jobmaster")
		if left, err := m.try("ls", "/usr/bin/hammr"); err == nil {
			t.Errorf("%s is left", left)
		}
		l.wantNoDaemons(t, m)
		m.do(t, "dpkg", "--purge", "hammr")
		m.shell(t, "rm -r /etc/systemd/system/hammr-*.d; systemctl daemon-reload")
		l.wantNothing(t, m)
	}
}

// wantNoDaemons checks that no process of a unit is left.
func (l *lab) wantNoDaemons(t *testing.T, m *machine) {
	t.Helper()
	if left := m.shell(t, `for p in /proc/[0-9]*; do { tr '\0' ' ' <$p/cmdline | grep '[h]ammr' || :; } 2>/dev/null; done`); left != "" {
		t.Errorf("processes on %s: %s", m.name, left)
	}
}

// wantNothing checks that no file of the package or of its daemons is left, and no control group.
func (l *lab) wantNothing(t *testing.T, m *machine) {
	t.Helper()
	left := m.shell(t, `find / /run /tmp -xdev \( -iname '*hammr*' -o -user hammr -o -nouser \) ! -path '/proc/*' -print; find /sys/fs/cgroup -name '*hammr*'`)
	if left != "" {
		t.Errorf("left on %s:\n%s", m.name, left)
	}
}

// installRPM takes the .rpm through its life on one machine, with a master alone. dpkg knows
// nothing of rpm, so dependencies are not checked.
func (l *lab) installRPM(t *testing.T) {
	m := l.machines[2]
	rpm := func(args ...string) { m.do(t, append([]string{"rpm", "--nodeps", "--force-debian"}, args...)...) }
	rpm("--install", "/root/old.rpm")
	if enabled, _ := m.try("systemctl", "is-enabled", masterUnit); enabled != "disabled" {
		t.Errorf("after the installation the unit is %s", enabled)
	}
	m.replace(t, "/etc/hammr/jobmaster.yaml", "#staging: hdfs://namenode:8020", "staging: "+hdfs)
	m.write(t, "/etc/hammr/token", rand16, 0o600)
	m.do(t, "systemd-tmpfiles", "--create", "hammr.conf")
	m.do(t, "systemctl", "enable", "--now", masterUnit)
	before := m.daemon(t, masterUnit)
	rpm("--upgrade", "/root/new.rpm")
	m.untilRestarted(t, masterUnit, before)
	if got := m.do(t, "hammr", "version"); !strings.HasPrefix(got, "hammr v"+newVersion+" ") {
		t.Errorf("version %s", got)
	}
	m.shell(t, "grep -q '^staging: "+hdfs+"' /etc/hammr/jobmaster.yaml")
	rpm("--erase", "hammr")
	l.wantNoDaemons(t, m)
	if left := m.shell(t, "find /etc/hammr /usr /etc/systemd -iname '*hammr*'; ls /etc/hammr"); left != "/etc/hammr\njobmaster.yaml.rpmsave\ntoken" {
		t.Errorf("left:\n%s", left)
	}
}

// rand16 is a secret of 16 bytes, the least that daemons accept.
const rand16 = "0123456789abcdef\n"

// shutDown shuts the machines down. None hangs.
func (l *lab) shutDown(t *testing.T) {
	for _, m := range l.machines {
		m.do(t, "systemctl", "poweroff", "--no-block")
		select {
		case <-m.ended:
		case <-time.After(time.Minute):
			t.Errorf("%s runs a minute after its shutdown began; its console:\n%s", m.name, m.console.String())
		}
	}
}
