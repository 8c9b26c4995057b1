//go:build deploy

package systemdtest

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/docs/report/reporttest"
	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/ops/netns"
	"github.com/hammr/hammr/internal/testing/must"
)

// Units of the packages.
const (
	masterUnit   = "hammr-jobmaster.service"
	tasknodeUnit = "hammr-tasknode.service"
)

// units are the units of a machine by its number: three masters and two tasknodes.
var units = [][]string{{masterUnit, tasknodeUnit}, {masterUnit, tasknodeUnit}, {masterUnit}}

// Addresses. The NameNode has that of the bridge, and a DataNode that of its machine.
const (
	network = "10.77.0"
	hdfs    = "hdfs://" + network + ".1:8020"
)

// step is a part of a test.
type step struct {
	name string
	do   func(*testing.T)
}

// runSteps runs steps, each of which continues from the one before.
func runSteps(t *testing.T, steps []step) {
	t.Helper()
	for _, s := range steps {
		began := time.Now()
		if !t.Run(s.name, s.do) {
			return
		}
		t.Logf("%s: %.1f s", s.name, time.Since(began).Seconds())
	}
}

// lab is three machines with an HDFS:
//
//	n1  master m1, tasknode, DataNode; control groups of version 1
//	n2  master m2, tasknode, DataNode; control groups of version 2
//	n3  master m3; the machine from which alice submits jobs
type lab struct {
	machines []*machine
	want     string // checksum of the output of alice's program in one process
	jobs     int
}

// newLab connects and boots the machines, and starts HDFS.
func newLab(t *testing.T) *lab {
	t.Helper()
	work := os.Getenv(workVariable)
	bridge, err := netns.New("lab", network+".1")
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, bridge.Remove()) })
	l := new(lab)
	hosts := "127.0.0.1 localhost\n"
	for i := range units {
		name, address := fmt.Sprintf("n%d", i+1), fmt.Sprintf("%s.%d", network, 11+i)
		must.Do(t, bridge.AddMachine(name, address))
		l.machines = append(l.machines, newMachine(t, filepath.Join(work, "machines", t.Name()), name, address))
		hosts += address + " " + name + "\n"
	}
	for i, m := range l.machines {
		m.write(t, "/etc/hosts", hosts, 0o644)
		for _, version := range []string{"old", "new"} {
			for _, extension := range []string{".deb", ".rpm"} {
				data, err := os.ReadFile(packageFile(t, version, extension))
				must.Do(t, err)
				m.write(t, "/root/"+version+extension, string(data), 0o644)
			}
		}
		m.boot(t, 1+i%2)
		t.Cleanup(func() { l.explain(t, m) })
	}
	h, err := minihdfs.Start(t.Context(), minihdfs.Config{Dir: filepath.Join(work, "hdfs-"+t.Name()), DataNodes: 2, Namespaces: []string{"n1", "n2"}, Network: network})
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, h.Close()) })
	return l
}

// explain logs what a machine knows of a failure.
func (l *lab) explain(t *testing.T, m *machine) {
	if !t.Failed() {
		return
	}
	for _, args := range [][]string{{"systemctl", "--failed", "--no-pager"}, {"journalctl", "--no-pager", "--lines=60", "--output=short-precise"}} {
		out, err := m.try(args...)
		t.Logf("%s: %q: %v\n%s", m.name, args, err, out)
	}
}

// eachDaemon calls visit for each unit of each machine.
func (l *lab) eachDaemon(visit func(m *machine, unit string)) {
	for i, m := range l.machines {
		for _, unit := range units[i] {
			visit(m, unit)
		}
	}
}

// configure writes what an administrator writes: settings, a secret and an account.
func (l *lab) configure(t *testing.T) {
	secret := rand.Text() + "\n"
	for i, m := range l.machines {
		m.replace(t, "/etc/hammr/jobmaster.yaml", "id: m1", fmt.Sprintf("id: m%d", i+1),
			"#masters: [m1=host-a, m2=host-b, m3=host-c]", "masters: [m1=n1, m2=n2, m3=n3]", "#cluster-id:", "cluster-id:",
			"#staging: hdfs://namenode:8020", "staging: "+hdfs)
		m.replace(t, "/etc/hammr/tasknode.yaml", "masters: [localhost]", "masters: [n1, n2, n3]")
		m.write(t, "/etc/hammr/token", secret, 0o600)
		m.do(t, "systemd-tmpfiles", "--create", "hammr.conf")
		if got := m.do(t, "stat", "--format=%U %a", "/etc/hammr/token"); got != "hammr 600" {
			t.Errorf("owner and mode of the secret: %s", got)
		}
		m.addAlice(t, secret)
		for _, unit := range units[i] { // a hang is noticed earlier than in production
			m.write(t, "/etc/systemd/system/"+unit+".d/test.conf", "[Service]\nWatchdogSec=8s\nTimeoutAbortSec=4s\n", 0o644)
		}
		m.do(t, "systemctl", "daemon-reload")
	}
}

// tasknode returns the state of a tasknode as a master shows it.
func (l *lab) tasknode(t *testing.T, name string) (doc apidoc.Tasknode) {
	t.Helper()
	must.Do(t, json.Unmarshal([]byte(l.machines[2].client(t, "node", "status", "--json", name)), &doc))
	return doc
}

// untilAccepts waits until a tasknode accepts tasks.
func (l *lab) untilAccepts(t *testing.T, m *machine) {
	t.Helper()
	m.until(t, "the tasknode accepts tasks", func() bool { return l.tasknode(t, m.name).State == "RUNNING" })
}

// Flags of alice's jobs: their output has two files, and the input several splits.
var jobFlags = []string{"-D", "mapreduce.job.reduces=2", "-D", "mapreduce.input.fileinputformat.split.maxsize=20000"}

// makeInput puts a text of 20,000 lines with 500 different words into HDFS, and computes the
// output of wordcount in one process.
func (l *lab) makeInput(t *testing.T) {
	t.Helper()
	m := l.machines[2]
	m.shell(t, `for i in $(seq 20000); do echo "w$((i % 500)) w$((i * 7 % 500))"; done >/home/alice/words`)
	m.client(t, "fs", "-put", "/home/alice/words", hdfs+"/words")
	m.do(t, asAlice(append([]string{"hammr", "run", "wordcount", "--quiet"}, append(jobFlags, hdfs+"/words", hdfs+"/want")...)...)...)
	l.want = l.sum(t, "/want")
}

// sum returns the checksum of the files of an output.
func (l *lab) sum(t *testing.T, dir string) string {
	t.Helper()
	return l.machines[2].shell(t, "hammr fs -cat '"+hdfs+dir+"/part-r-*' | sha256sum")
}

// submit submits wordcount with a delay for each record, and waits until tasks run on both machines.
func (l *lab) submit(t *testing.T, delay string, nodes ...string) (id, out string) {
	t.Helper()
	l.jobs++
	out = fmt.Sprintf("/slow-%d", l.jobs)
	id = l.machines[2].client(t, append([]string{"submit", "wordcount", "-D", "hammr.debug.record.sleep=" + delay}, append(jobFlags, hdfs+"/words", hdfs+out)...)...)
	id = id[strings.LastIndex(id, "\n")+1:]
	for _, name := range nodes {
		l.machines[2].until(t, "tasks run on "+name, func() bool { return len(l.tasknode(t, name).Attempts) > 0 })
	}
	return id, out
}

// wantOnce waits for a job and checks its output, and that no work was done twice.
func (l *lab) wantOnce(t *testing.T, id, out string) {
	t.Helper()
	m := l.machines[2]
	m.client(t, "job", "wait", "--quiet", id)
	if got := l.sum(t, out); got != l.want {
		t.Errorf("output of %s: %s, want %s", id, got, l.want)
	}
	var doc report.Report
	must.Do(t, json.Unmarshal([]byte(m.client(t, "job", "status", "--json", id)), &doc))
	for _, f := range doc.Failures {
		t.Errorf("%s on %s failed: %s", f.Attempt, f.Tasknode, f.Cause)
	}
	preempted := reporttest.FinishedOnce(t, doc)
	t.Logf("%s: %d tasks, %d attempts preempted, none run again, %.0f s", id, len(doc.Tasks), preempted, doc.ElapsedSeconds)
}
