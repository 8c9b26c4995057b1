//go:build deploy

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/minihdfs"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/sshcluster"
)

// machines are five hosts with an sshd, which are loopback addresses of this machine. Each has
// a directory of its own.
type machines struct {
	t        *testing.T
	dir      string
	port     string // of sshd
	hostfile string
	shell    string
}

// sshHosts are their names.
var sshHosts = []string{"127.0.1.1", "127.0.1.2", "127.0.1.3", "127.0.1.4", "127.0.1.5"}

// newMachines starts an sshd with keys of its own. The test is skipped where there is none.
func newMachines(t *testing.T) *machines {
	t.Helper()
	m := startSSHD(t)
	m.writeHostfile(strings.Join(sshHosts, "\n"), fmt.Sprintf("port=%d staging=file://%s/staging", freePorts(t, 1, 10, 11), m.dir))
	return m
}

// startSSHD starts an sshd. The caller writes the hostfile.
func startSSHD(t *testing.T) *machines {
	t.Helper()
	sshd := sshdProgram(t)
	m := &machines{t: t, dir: t.TempDir()}
	for _, key := range []string{"host", "user", "other"} {
		m.system("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(m.dir, key))
	}
	public := readFile(t, filepath.Join(m.dir, "user.pub"))
	must(t, os.WriteFile(filepath.Join(m.dir, "authorized"), public, 0o600))
	ports := freePorts(t, 0)
	m.port = strconv.Itoa(ports)
	m.trust("host")
	var config strings.Builder
	for _, host := range sshHosts {
		fmt.Fprintf(&config, "ListenAddress %s:%s\n", host, m.port)
	}
	fmt.Fprintf(&config, "HostKey %s\nAuthorizedKeysFile %s\nPidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nMaxStartups 100\n",
		filepath.Join(m.dir, "host"), filepath.Join(m.dir, "authorized"))
	must(t, os.WriteFile(filepath.Join(m.dir, "sshd_config"), []byte(config.String()), 0o600))
	p := prepare(t, command{program: sshd, args: []string{"-D", "-e", "-f", filepath.Join(m.dir, "sshd_config")}})
	p.cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM
	inLastingThread(func() { p.begin(t) })
	for _, host := range sshHosts {
		waitUntil(t, "sshd listens on "+host, func() bool { return listens(net.JoinHostPort(host, m.port)) })
	}
	m.hostfile = filepath.Join(m.dir, "hosts")
	m.shell = fmt.Sprintf("ssh -F /dev/null -p %s -i %s/user -l %s -o IdentitiesOnly=yes -o UserKnownHostsFile=%s/known -o BatchMode=yes {host}", m.port, m.dir, userName(t), m.dir)
	t.Cleanup(m.end)
	return m
}

// writeHostfile writes the hostfile of some machines, with options of all of them.
func (m *machines) writeHostfile(hosts, options string) {
	must(m.t, os.WriteFile(m.hostfile, fmt.Appendf(nil, "%s\n* dir=%s/{host} slots=2 tasknode.own-user=true tasknode.heartbeat=200ms %s\n", hosts, m.dir, options), 0o600))
}

// sshdProgram returns sshd, or skips the test.
func sshdProgram(t *testing.T) string {
	t.Helper()
	file, err := exec.LookPath("sshd")
	if err != nil {
		file, err = exec.LookPath("/usr/sbin/sshd")
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no sshd; install openssh-server")
		}
		t.Skip("no sshd; install openssh-server to run this test")
	}
	if os.Getuid() == 0 { // sshd of root needs it; its package makes it at boot
		must(t, os.MkdirAll("/run/sshd", 0o755))
	}
	return file
}

func userName(t *testing.T) string {
	t.Helper()
	u, err := user.Current()
	must(t, err)
	return u.Username
}

func (m *machines) system(program string, args ...string) {
	m.t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		m.t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
}

// trust writes a known_hosts file with one key for all machines.
func (m *machines) trust(key string) {
	m.t.Helper()
	words := strings.Fields(string(readFile(m.t, filepath.Join(m.dir, key+".pub"))))
	var known bytes.Buffer
	for _, host := range sshHosts {
		fmt.Fprintf(&known, "[%s]:%s %s %s\n", host, m.port, words[0], words[1])
	}
	must(m.t, os.WriteFile(filepath.Join(m.dir, "known"), known.Bytes(), 0o600))
}

// Tests that run at the same time get different ports.
var nextPorts atomic.Int64

const portsStep = 60

// freePorts returns a port that is free on all machines, together with the ports at the given
// distances. It is below the range of outgoing connections.
func freePorts(t *testing.T, distances ...int) int {
	t.Helper()
	for {
		port := int(nextPorts.Add(portsStep)) + 18000 + os.Getpid()%100*portsStep
		if port > 31000 {
			break
		}
		if !slices.ContainsFunc(append(distances, 0), func(d int) bool { return taken(port + d) }) {
			return port
		}
	}
	t.Fatal("no free ports")
	return 0
}

// taken reports whether a port is in use on any machine.
func taken(port int) bool {
	return slices.ContainsFunc(sshHosts, func(host string) bool {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil {
			l.Close()
		}
		return err != nil
	})
}

func listens(address string) bool {
	conn, err := net.Dial("tcp", address)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// end stops the cluster, if there is one, and checks that no process of it is left.
func (m *machines) end() {
	r := start(m.t, m.command("stop", "--now")).waitOnly(m.t)
	if r.code != 0 {
		m.t.Errorf("the last stop: %s", r.stderr)
	}
	m.wantNoProcesses()
	if m.t.Failed() {
		logs, _ := filepath.Glob(m.dir + "/127.*/*.log")
		for _, log := range logs {
			text, _ := os.ReadFile(log)
			m.t.Logf("%s:\n%s", log, text[max(0, len(text)-2000):])
		}
	}
}

// wantNoProcesses checks that no daemon, task or connection is left.
func (m *machines) wantNoProcesses() {
	m.t.Helper()
	var left []string
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		text, _ := os.ReadFile(name)
		line := strings.ReplaceAll(string(text), "\x00", " ")
		if strings.Contains(line, m.dir+"/127.") || strings.Contains(line, "hammr-ssh-") && strings.Contains(line, m.dir) {
			left = append(left, line)
		}
	}
	if len(left) > 0 {
		m.t.Errorf("processes are left: %q", left)
	}
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

// TestClusterOverSSH starts a cluster on five machines, compares the output of programs with
// that of a run in one process, kills a tasknode under a job, and stops the cluster.
func TestClusterOverSSH(t *testing.T) {
	t.Parallel()
	m := newMachines(t)
	in, out := proseFile(t, "prose", 1<<20), t.TempDir()
	rows := filepath.Join(out, "rows")
	done(t, "run", "teragen", "-D", "mapreduce.job.maps=3", "10000", rows)
	programs := map[string][]string{
		"wordcount": {"wordcount", "-D", "mapreduce.job.reduces=3", in}, "terasort": {"terasort", "-D", "mapreduce.job.reduces=3", rows},
	}
	for name, args := range programs {
		done(t, slices.Concat([]string{"run"}, args, []string{filepath.Join(out, name+"-want")})...)
	}

	m.done("start") // copies the program
	m.done("stop")
	r := m.done("start")
	masters := strings.TrimSpace(r.stdout)
	t.Logf("start without a copy took %v\n%s", r.took, r.stderr)
	if len(strings.Split(masters, ",")) != 3 || !strings.Contains(r.stderr, "export HAMMR_MASTER="+masters+"\nexport HAMMR_TOKEN_FILE='"+m.hostfile+".token'\n") {
		t.Errorf("start printed %q and\n%s", masters, r.stderr)
	}
	if r := m.done("start"); strings.Count(r.stderr, "runs already") != 8 {
		t.Errorf("the second start:\n%s", r.stderr)
	}
	for name, args := range programs {
		m.client(masters, slices.Concat([]string{"run"}, args, []string{filepath.Join(out, name)})...)
		wantSameTree(t, filepath.Join(out, name), filepath.Join(out, name+"-want"))
	}

	before := m.status()
	if len(before) != 8 {
		t.Fatalf("%d daemons: %v", len(before), before)
	}
	for name, row := range before {
		if row.State != sshcluster.Running || row.PID == 0 || row.Member == "" {
			t.Errorf("%s: %+v", name, row)
		}
	}
	slow := filepath.Join(out, "slow")
	id := strings.TrimSpace(m.client(masters, "run", "wordcount", "--detach", "-D", "mapreduce.job.reduces=3", "-D", "hammr.debug.record.sleep=1", in, slow).stdout)
	victim := before["tasknode 127.0.1.5"]
	must(t, syscall.Kill(victim.PID, syscall.SIGKILL))
	m.client(masters, "job", "wait", id)
	wantSameTree(t, slow, filepath.Join(out, "wordcount-want"))
	if row := m.status()["tasknode 127.0.1.5"]; row.State != sshcluster.Stopped {
		t.Errorf("the tasknode that was killed: %+v", row)
	}
	if r := m.done("start"); strings.Count(r.stderr, "runs already") != 7 {
		t.Errorf("the start after a tasknode was killed:\n%s", r.stderr)
	}
	m.done("stop")
	m.wantNoProcesses()
	for name, row := range m.status() {
		if row.State != sshcluster.Stopped {
			t.Errorf("%s after the stop: %+v", name, row)
		}
	}
}

// TestClusterOverSSHRefuses checks that machines which cannot be used are named with the
// remedy, and that nothing is started then.
func TestClusterOverSSHRefuses(t *testing.T) {
	t.Parallel()
	m := newMachines(t)
	good, hosts := m.shell, readFile(t, m.hostfile)
	m.shell = strings.Replace(good, "/user ", "/other ", 1)
	m.cluster("start").want(t, 1, "127.0.1.1: ", "Permission denied", "the machine accepts no key of yours", "127.0.1.5: ")
	m.shell = good
	m.trust("other")
	m.cluster("start").want(t, 1, "127.0.1.3: ", "the machine has another key than in known_hosts")
	must(t, os.WriteFile(filepath.Join(m.dir, "known"), nil, 0o600))
	m.cluster("start").want(t, 1, "127.0.1.3: ", "the machine's key is not in known_hosts")
	m.trust("host")
	must(t, os.WriteFile(m.hostfile, append([]byte("127.0.1.9\n"), hosts...), 0o600))
	m.shell = strings.Replace(good, "-o BatchMode", "-o StrictHostKeyChecking=accept-new -o BatchMode", 1)
	m.cluster("start").want(t, 1, "127.0.1.9: ssh: connect to host 127.0.1.9", "start the machine and its sshd, or remove its line from the hostfile")
	r := m.cluster("status")
	if r.code != 1 || !strings.Contains(r.stdout, "unknown") || !strings.Contains(r.stdout, "absent") {
		t.Errorf("status with exit code %d:\n%s", r.code, r.stdout)
	}
	must(t, os.WriteFile(m.hostfile, append([]byte("127.0.1.1\n"), hosts...), 0o600))
	m.cluster("start").want(t, 2, m.hostfile+":2: 127.0.1.1 appears twice, first on line 1")
	must(t, os.WriteFile(m.hostfile, hosts, 0o600))
	m.cluster("start", "--set", "tasknode.map-slot=2").want(t, 1, `127.0.1.1: settings of the tasknode: no setting "map-slot"`)
	m.wantNoProcesses()
	for _, host := range sshHosts {
		if _, err := os.Stat(filepath.Join(m.dir, host)); !os.IsNotExist(err) {
			t.Errorf("%s was changed: %v", host, err)
		}
	}
}

// TestInterruptedClusterStart interrupts a start in its midst. No daemon stays, and the next
// start works.
func TestInterruptedClusterStart(t *testing.T) {
	t.Parallel()
	m := newMachines(t)
	p := start(t, m.command("start"))
	waitUntil(t, "a jobmaster runs", func() bool {
		files, _ := filepath.Glob(m.dir + "/127.*/jobmaster.pid")
		return len(files) > 0
	})
	must(t, p.cmd.Process.Signal(os.Interrupt))
	p.wait(t).want(t, 130, "Interrupted; 'hammr cluster status --hostfile "+m.hostfile+"' shows what runs.")
	waitUntil(t, "no daemon runs", func() bool {
		return !slices.ContainsFunc(sshHosts, func(host string) bool {
			files, _ := filepath.Glob(filepath.Join(m.dir, host, "*.pid"))
			return len(files) > 0
		})
	})
	m.wantNoProcesses()
	m.done("start")
}

// TestClusterRun runs a program on a cluster of its own, from fresh machines.
func TestClusterRun(t *testing.T) {
	t.Parallel()
	m := newMachines(t)
	in, dir := proseFile(t, "prose", 100<<10), t.TempDir()
	out, results := filepath.Join(dir, "out"), filepath.Join(dir, "results")
	done(t, "run", "wordcount", in, filepath.Join(dir, "want"))
	r := m.done("run", "--out", results, "--", "wordcount", in, out)
	wantSameTree(t, out, filepath.Join(dir, "want"))
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

// TestClusterUpgrade replaces the program of all daemons while a job runs. No attempt runs
// again.
func TestClusterUpgrade(t *testing.T) {
	t.Parallel()
	m := newMachines(t)
	in, dir := proseFile(t, "prose", 1<<20), t.TempDir()
	out, want := filepath.Join(dir, "out"), filepath.Join(dir, "want")
	done(t, "run", "wordcount", "-D", "mapreduce.job.reduces=3", in, want)
	masters := strings.TrimSpace(m.done("start").stdout)
	id := strings.TrimSpace(m.client(masters, "run", "wordcount", "--detach", "-D", "mapreduce.job.reduces=3", "-D", "mapreduce.input.fileinputformat.split.maxsize=100000",
		"-D", "hammr.debug.record.sleep=5", in, out).stdout)
	newer := filepath.Join(dir, "hammr")
	must(t, os.WriteFile(newer, append(readFile(t, hammr), "newer"...), 0o755))
	before := m.status()
	m.cluster("start", "--program", newer).want(t, 1, "127.0.1.1: its jobmaster runs another program")
	r := m.done("upgrade", "--program", newer)
	t.Logf("the upgrade took %v\n%s", r.took, r.stderr)
	for name, row := range m.status() {
		if old := before[name]; row.State != sshcluster.Running || row.Program == old.Program || row.PID == old.PID {
			t.Errorf("%s was %+v and is %+v", name, old, row)
		}
	}
	m.client(masters, "job", "wait", id)
	wantSameTree(t, out, want)
	var doc report.Report
	must(t, json.Unmarshal([]byte(m.client(masters, "job", "status", id, "--json").stdout), &doc))
	for _, task := range doc.Tasks {
		for _, a := range task.Attempts {
			if a.State == report.Killed || a.State == report.Failed {
				t.Errorf("%s on %s is %s", a.ID, a.Tasknode, a.State)
			}
		}
	}
}

// TestClusterWithHDFS runs a program on a cluster with an HDFS of its own. All DataNodes have
// the same address for the NameNode, as they are on one machine, so their ports differ.
func TestClusterWithHDFS(t *testing.T) {
	t.Parallel()
	if err := minihdfs.CheckAvailable(t.Context()); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	m := startSSHD(t)
	base := freePorts(t, 1, 10, 11, 20, 21, 22, 23, 24, 30, 31, 40, 41, 52, 53, 54)
	m.writeHostfile(fmt.Sprintf("%s port=%d\n%s port=%d", sshHosts[0], base, sshHosts[1], base+30), "hdfs=true")
	in, dir := proseFile(t, "prose", 1<<20), t.TempDir()
	done(t, "run", "wordcount", in, filepath.Join(dir, "want"))
	r := m.done("start")
	t.Logf("%s", r.stderr)
	masters := strings.TrimSpace(r.stdout)
	if len(m.status()) != 6 {
		t.Errorf("daemons: %v", m.status())
	}
	hdfs := func(args ...string) result {
		r := start(t, command{args: args, env: []string{"HAMMR_MASTER=" + masters, "HAMMR_TOKEN_FILE=" + m.hostfile + ".token", "HADOOP_CONF_DIR=" + m.hostfile + ".hadoop"}}).wait(t)
		r.want(t, 0)
		return r
	}
	hdfs("fs", "-put", in, "/prose")
	hdfs("run", "wordcount", "/prose", "/out")
	hdfs("fs", "-get", "/out", filepath.Join(dir, "out"))
	wantSameTree(t, filepath.Join(dir, "out"), filepath.Join(dir, "want"))
	m.done("stop")
	m.wantNoProcesses()
	m.done("start")
	hdfs("fs", "-test", "-e", "/out/_SUCCESS")
}
