//go:build deploy

package systemdtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/ops/sshcluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestClusterOverSSH runs `hammr cluster` against three machines with the package and an sshd. The
// units run the daemons, and then, in a directory of its own, the same machines run them without
// units. n3 is also the machine of the administrator. Each step continues from the one before.
func TestClusterOverSSH(t *testing.T) {
	l := newLab(t)
	runSteps(t, []step{
		{"install", l.installForSSH},
		{"start", l.startOverSSH},
		{"jobs of alice", l.runWordcount},
		{"upgrade", l.upgradeOverSSH},
		{"stop and start", l.stopOverSSH},
		{"without units", l.startWithoutUnits},
		{"shutdown", l.shutDown},
	})
}

// hostfiles of clusters on all machines, in /root of n3: by the units, and in a directory.
const (
	unitHosts = "hosts"
	ownHosts  = "own"
)

// installForSSH installs the package, makes an account of alice, and lets root of n3 log in everywhere.
func (l *lab) installForSSH(t *testing.T) {
	admin := l.machines[2]
	admin.shell(t, "mkdir -p -m 700 /root/.ssh; ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519")
	key := admin.shell(t, "cat /root/.ssh/id_ed25519.pub")
	var hosts, known strings.Builder
	for _, m := range l.machines {
		m.do(t, "dpkg", "--install", "/root/old.deb")
		m.addAlice(t, "")
		m.shell(t, "mkdir -p -m 700 /root/.ssh")
		m.write(t, "/root/.ssh/authorized_keys", key+"\n", 0o600)
		hosts.WriteString(m.name + "\n")
		known.WriteString(m.name + " " + m.shell(t, "cut -d ' ' -f 1,2 /etc/ssh/ssh_host_ed25519_key.pub") + "\n")
	}
	admin.write(t, "/root/.ssh/known_hosts", known.String(), 0o600)
	hosts.WriteString("* slots=2 staging=" + hdfs + "/hammr/staging\n")
	admin.write(t, "/root/"+unitHosts, hosts.String(), 0o644)
	admin.write(t, "/root/"+ownHosts, hosts.String()+"* dir=/srv/own\n", 0o644)
}

// overSSH runs a command of `hammr cluster` as root of n3, and logs how long it took.
func (l *lab) overSSH(t *testing.T, hosts, verb string, args ...string) (string, error) {
	t.Helper()
	began := time.Now()
	out, err := l.machines[2].try(append([]string{"hammr", "cluster", verb, "--hostfile", "/root/" + hosts}, args...)...)
	t.Logf("hammr cluster %s: %.1f s", strings.Join(append([]string{verb}, args...), " "), time.Since(began).Seconds())
	return out, err
}

// doOverSSH is overSSH for commands that must succeed.
func (l *lab) doOverSSH(t *testing.T, hosts, verb string, args ...string) string {
	t.Helper()
	out, err := l.overSSH(t, hosts, verb, args...)
	must.Do(t, err)
	return out
}

// wantRows checks the status of a cluster: each machine has a jobmaster and a tasknode in a state.
func (l *lab) wantRows(t *testing.T, hosts string, want sshcluster.State) (rows []sshcluster.Row) {
	t.Helper()
	out, err := l.overSSH(t, hosts, "status", "--json")
	if (err == nil) != (want == sshcluster.Running) {
		t.Errorf("status: %v; want an error unless all daemons run", err)
	}
	if err != nil { // the output is in the error too
		out, _ = l.machines[2].try("sh", "-c", "hammr cluster status --json --hostfile /root/"+hosts+" || :")
	}
	must.Do(t, json.Unmarshal([]byte(out), &rows))
	if len(rows) != 2*len(l.machines) {
		t.Fatalf("%d daemons: %+v", len(rows), rows)
	}
	for _, r := range rows {
		if r.State != want {
			t.Errorf("%s on %s is %s, want %s", r.Role, r.Host, r.State, want)
		}
	}
	return rows
}

// wantUnits checks the states of both units on all machines, and returns the states of the daemons.
func (l *lab) wantUnits(t *testing.T, active, enabled string) (daemons []daemonState) {
	t.Helper()
	for _, m := range l.machines {
		for _, unit := range units[0] {
			d := m.daemon(t, unit)
			e, _ := m.try("systemctl", "is-enabled", unit) // it fails if the answer is no
			if d.active != active || e != enabled {
				t.Errorf("%s on %s is %s and %s, want %s and %s", unit, m.name, d.active, e, active, enabled)
			}
			daemons = append(daemons, d)
		}
	}
	return daemons
}

// giveSecret gives alice the secret that `hammr cluster start` has made.
func (l *lab) giveSecret(t *testing.T, hosts string) {
	t.Helper()
	secret, err := os.ReadFile(filepath.Join(l.machines[2].root, "root", hosts+".token"))
	must.Do(t, err)
	l.machines[2].giveAlice(t, string(secret))
}

// startOverSSH starts the cluster: the units run the daemons, and the program of the package is used.
// A second start changes nothing.
func (l *lab) startOverSSH(t *testing.T) {
	t.Log(l.doOverSSH(t, unitHosts, "init"))
	if out := l.doOverSSH(t, unitHosts, "start"); out != "n1:7070,n2:7070,n3:7070" {
		t.Errorf("start prints %q", out)
	}
	l.giveSecret(t, unitHosts)
	before := l.wantUnits(t, "active", "enabled")
	for i, r := range l.wantRows(t, unitHosts, sshcluster.Running) {
		if strconv.Itoa(r.PID) != before[i].pid || r.Version != "v"+oldVersion || r.Member != "RUNNING" && r.Role == "tasknode" {
			t.Errorf("%+v; the process of the unit is %s", r, before[i].pid)
		}
	}
	for _, m := range l.machines {
		if copied, err := m.try("ls", "-d", "/var/lib/hammr/bin", "/var/lib/hammr-cluster"); copied != "" || err == nil {
			t.Errorf("on %s beside the package: %s", m.name, copied)
		}
		if got := m.do(t, "stat", "--format=%U %a", "/etc/hammr/token"); got != "hammr 600" {
			t.Errorf("owner and mode of the secret on %s: %s", m.name, got)
		}
	}
	l.doOverSSH(t, unitHosts, "start")
	if after := l.wantUnits(t, "active", "enabled"); !slices.Equal(before, after) {
		t.Errorf("a second start: daemons were %v and are %v", before, after)
	}
	l.doOverSSH(t, unitHosts, "doctor")
}

// runWordcount runs a wordcount of alice, whose output is that of one process.
func (l *lab) runWordcount(t *testing.T) {
	l.makeInput(t)
	id, out := l.submit(t, "0")
	l.wantOnce(t, id, out)
}

// upgradeOverSSH installs a newer package, which may restart nothing, and then restarts the
// daemons by `hammr cluster upgrade` during a job. Nothing runs again.
func (l *lab) upgradeOverSSH(t *testing.T) {
	id, out := l.submit(t, "20ms", "n1", "n2", "n3")
	before := l.wantUnits(t, "active", "enabled")
	for _, m := range l.machines {
		m.write(t, "/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n", 0o755)
		m.do(t, "dpkg", "--install", "/root/new.deb")
		m.do(t, "rm", "/usr/sbin/policy-rc.d")
	}
	if after := l.wantUnits(t, "active", "enabled"); !slices.Equal(before, after) {
		t.Errorf("the package may restart nothing: daemons were %v and are %v", before, after)
	}
	if _, err := l.overSSH(t, unitHosts, "start"); err == nil || !strings.Contains(err.Error(), "use 'hammr cluster upgrade'") {
		t.Errorf("a start with another program: %v", err)
	}
	l.doOverSSH(t, unitHosts, "upgrade")
	for i, d := range l.wantUnits(t, "active", "enabled") {
		if d.pid == before[i].pid {
			t.Errorf("process %s was not restarted", d.pid)
		}
	}
	for _, r := range l.wantRows(t, unitHosts, sshcluster.Running) {
		if r.Version != "v"+newVersion || r.Member != "RUNNING" && r.Role == "tasknode" {
			t.Errorf("%+v", r)
		}
	}
	l.wantOnce(t, id, out)
}

// stopOverSSH stops the cluster during a job, and starts it again. Nothing runs again.
func (l *lab) stopOverSSH(t *testing.T) {
	id, out := l.submit(t, "10ms", "n1", "n2", "n3")
	l.doOverSSH(t, unitHosts, "stop")
	l.wantRows(t, unitHosts, sshcluster.Stopped)
	l.wantUnits(t, "inactive", "disabled")
	for _, m := range l.machines {
		l.wantNoDaemons(t, m)
	}
	l.doOverSSH(t, unitHosts, "start")
	l.wantOnce(t, id, out)
	l.submit(t, "10ms", "n1", "n2", "n3")
	l.doOverSSH(t, unitHosts, "stop", "--now")
	l.wantUnits(t, "inactive", "disabled")
	for _, m := range l.machines { // no tasknode was left to drain to
		if log := m.journal(t, tasknodeUnit); strings.Contains(log, "Draining node") || strings.Contains(log, "Drained node") {
			t.Errorf("log of the tasknode:\n%s", log)
		}
	}
}

// startWithoutUnits starts a cluster in a directory that its hostfile names: the daemons are processes
// that outlive their connection, and no unit runs.
func (l *lab) startWithoutUnits(t *testing.T) {
	l.doOverSSH(t, ownHosts, "start")
	l.giveSecret(t, ownHosts)
	l.wantUnits(t, "inactive", "disabled")
	l.wantRows(t, ownHosts, sshcluster.Running)
	id, out := l.submit(t, "0")
	l.wantOnce(t, id, out)
	l.doOverSSH(t, ownHosts, "stop")
	l.wantRows(t, ownHosts, sshcluster.Stopped)
	for _, m := range l.machines {
		l.wantNoDaemons(t, m)
	}
}
