//go:build deploy

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/ops/sshcluster/sshtest"
	"github.com/hammr/hammr/internal/testing/must"
)

// slurm is a Slurm of munged, slurmctld and a slurmd on each of three nodes. The nodes are this
// machine with other names: each slurmd has a UTS namespace, and a mount namespace in which
// /etc/hosts has all nodes.
type slurm struct {
	t         *testing.T
	dir       string
	options   slurmOptions
	processes []*process
}

// slurmOptions are what a test changes in a Slurm.
type slurmOptions struct {
	conf  *strings.Replacer          // of slurmConf; nil for none
	files map[string]string          // further files of the configuration, by name
	node  func(name string) []string // command line before that of the slurmd of a node; nil for none
}

// slurmNodes are the names of the nodes; each has two processors, whatever this machine has.
var slurmNodes = []string{"n1", "n2", "n3"}

// slurmConf configures it. Limits of time are in minutes, and are checked every 30 s.
const slurmConf = `ClusterName=hammr
SlurmctldHost=ctl(127.0.2.9)
SlurmctldPort=%[2]d
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=%[1]s/munge.socket,cred_expire=5
StateSaveLocation=%[1]s/ctl
SlurmdSpoolDir=%[1]s/spool.%%n
SlurmctldPidFile=%[1]s/ctl.pid
SlurmdPidFile=%[1]s/%%n.pid
SlurmctldLogFile=%[1]s/ctl.log
SlurmdLogFile=%[1]s/%%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=5
MinJobAge=3600
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

// newSlurm starts Slurm. The test is skipped without its packages, or without root.
func newSlurm(t *testing.T) *slurm {
	t.Helper()
	return newSlurmWith(t, slurmOptions{})
}

// newSlurmWith starts a Slurm that differs by some options.
func newSlurmWith(t *testing.T, options slurmOptions) *slurm {
	t.Helper()
	for _, tool := range []string{"munged", "slurmctld", "slurmd", "sbatch", "unshare"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%v: apt-get install munge slurmctld slurmd slurm-client", err)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("it needs root, to give each node a name of its own")
	}
	dir, err := os.MkdirTemp("", "slurm-") // names of sockets are short
	must.Do(t, err)
	s := &slurm{t: t, dir: dir, options: options}
	t.Cleanup(func() { must.Do(t, os.RemoveAll(dir)) })
	must.Do(t, os.Chmod(dir, 0o755))
	must.Do(t, os.WriteFile(s.path("munge.key"), []byte(strings.Repeat("a key for tests ", 8)), 0o600))
	must.Do(t, os.Mkdir(s.path("ctl"), 0o755))
	conf, hosts := fmt.Sprintf(slurmConf, dir, sshtest.FreePort(t)), "127.0.0.1 localhost\n127.0.2.9 ctl\n"
	for i, node := range slurmNodes {
		conf += fmt.Sprintf("NodeName=%s NodeAddr=127.0.2.%d Port=%d CPUs=2 RealMemory=2000 State=UNKNOWN\n", node, i+1, sshtest.FreePort(t))
		hosts += fmt.Sprintf("127.0.2.%d %s\n", i+1, node)
	}
	if options.conf != nil {
		conf = options.conf.Replace(conf)
	}
	must.Do(t, os.WriteFile(s.path("slurm.conf"), []byte(conf), 0o644))
	for name, text := range options.files {
		must.Do(t, os.WriteFile(s.path(name), []byte(text), 0o644))
	}
	must.Do(t, os.WriteFile(s.path("hosts"), []byte(hosts), 0o644))
	s.begin("", "munged", "--foreground", "--force", "--socket="+s.path("munge.socket"), "--key-file="+s.path("munge.key"),
		"--pid-file="+s.path("munge.pid"), "--log-file="+s.path("munge.log"), "--seed-file="+s.path("munge.seed"))
	waitUntil(t, "munged serves", func() bool { _, err := os.Stat(s.path("munge.socket")); return err == nil })
	s.begin("ctl", "slurmctld", "-D", "-f", s.path("slurm.conf"))
	for _, node := range slurmNodes {
		must.Do(t, os.Mkdir(s.path("spool."+node), 0o755))
		line := []string{"slurmd", "-D", "-f", s.path("slurm.conf")}
		if options.node != nil {
			line = append(options.node(node), line...)
			t.Cleanup(func() { removeGroups(t, node) })
		}
		s.begin(node, line[0], line[1:]...)
	}
	t.Cleanup(s.end) // it runs before the daemons are killed
	waitUntil(t, "all nodes are idle", func() bool { return strings.Count(s.try("sinfo", "-hN", "-o", "%T"), "idle") == len(slurmNodes) })
	return s
}

func (s *slurm) path(name string) string { return filepath.Join(s.dir, name) }

// begin starts a daemon on a node, "" for this machine.
func (s *slurm) begin(node, program string, args ...string) {
	s.t.Helper()
	c := command{program: program, args: args, env: s.env(), limit: time.Hour}
	if node != "" {
		script := `mount --bind "$1" /etc/hosts && hostname "$2" && shift 2 && exec "$@"`
		c = command{program: "unshare", args: slices.Concat([]string{"--mount", "--uts", "sh", "-c", script, "sh", s.path("hosts"), node, program}, args), env: s.env(), limit: time.Hour}
	}
	p := prepare(s.t, c)
	p.cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM
	inLastingThread(func() { p.begin(s.t) })
	s.processes = append(s.processes, p)
}

// env is the environment of commands.
func (s *slurm) env() []string { return []string{"SLURM_CONF=" + s.path("slurm.conf")} }

// end cancels all jobs, ends the daemons, latest first, and checks that nothing is left.
func (s *slurm) end() {
	s.try("scancel", "--user=root")
	waitUntil(s.t, "no job runs", func() bool { return s.try("squeue", "-h") == "" })
	for _, p := range slices.Backward(s.processes) {
		must.Do(s.t, p.cmd.Process.Signal(syscall.SIGTERM))
		p.waitOnly(s.t)
	}
	if s.t.Failed() {
		logs, _ := filepath.Glob(s.path("*.log"))
		for _, log := range logs {
			text, _ := os.ReadFile(log)
			s.t.Logf("%s:\n%s", log, text[max(0, len(text)-4000):])
		}
	}
	for _, cluster := range s.clusters() {
		if left, _ := filepath.Glob("/tmp/hammr-*-" + cluster + "-*"); len(left) > 0 {
			s.t.Errorf("left: %q", left)
		}
	}
}

// clusters returns the ids of the clusters that jobs have started, as their output names them.
func (s *slurm) clusters() (ids []string) {
	outputs, _ := filepath.Glob(s.path("*.out"))
	for _, output := range outputs {
		text, _ := os.ReadFile(output)
		for _, match := range regexp.MustCompile(`cluster (\d+) is ready`).FindAllSubmatch(text, -1) {
			ids = append(ids, string(match[1]))
		}
	}
	return ids
}

// try runs a command of Slurm and returns its output.
func (s *slurm) try(program string, args ...string) string {
	s.t.Helper()
	r := start(s.t, command{program: program, args: args, env: s.env()}).wait(s.t)
	if r.code != 0 {
		s.t.Logf("%s %v: %s", program, args, r.stderr)
	}
	return strings.TrimSpace(r.stdout)
}

// batch submits a script that runs hammr, and returns the job's id and the file of its output.
func (s *slurm) batch(name, options string, args ...string) (job, output string) {
	s.t.Helper()
	script, output := s.path(name+".sh"), s.path(name+".out")
	text := fmt.Sprintf("#!/bin/sh\n#SBATCH --nodes=3 --ntasks-per-node=1 --cpus-per-task=2 --requeue --open-mode=append --output=%s\n#SBATCH %s\nexec %s slurm run", output, options, hammr)
	for _, arg := range args {
		text += " '" + arg + "'"
	}
	must.Do(s.t, os.WriteFile(script, []byte(text+"\n"), 0o755))
	return s.submit(script), output
}

// submit submits a script and returns the job's id.
func (s *slurm) submit(script string, options ...string) (job string) {
	s.t.Helper()
	if job = s.try("sbatch", slices.Concat([]string{"--parsable"}, options, []string{script})...); job == "" {
		s.t.Fatal("sbatch prints no job")
	}
	return job
}

// state returns the state of a job.
func (s *slurm) state(job string) string {
	return s.try("squeue", "-h", "-t", "all", "-j", job, "-o", "%T")
}

// completed waits for the end of a job, and returns its output.
func (s *slurm) completed(job, output string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 15*time.Minute)
	defer cancel()
	err := syncutil.Poll(ctx, time.Second, func(context.Context) (bool, error) {
		state := s.state(job)
		if slices.Contains([]string{"FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL"}, state) {
			return false, fmt.Errorf("job %s is %s", job, state)
		}
		return state == "COMPLETED", nil
	})
	if err != nil {
		text, _ := os.ReadFile(output)
		s.t.Fatalf("%v; its output:\n%s", err, text)
	}
	text := string(readFile(s.t, output))
	s.t.Logf("output of job %s:\n%s", job, regexp.MustCompile(`(?m)^.* map \d+% .*\n`).ReplaceAllString(text, ""))
	return text
}

// TestSlurmWalltime runs a wordcount that needs more time than one allocation of two minutes gives.
func TestSlurmWalltime(t *testing.T) {
	text := newSlurm(t).runOverWalltime()
	if !regexp.MustCompile(`saved 1 jobs, [1-9]\d* files and [1-9]\d* bytes of 3 tasknodes`).MatchString(text) {
		t.Error("no files of tasknodes were saved")
	}
}

// TestSlurmLocalInState does the same with local files in the state directory, so that none is
// copied.
func TestSlurmLocalInState(t *testing.T) {
	text := newSlurm(t).runOverWalltime("--local-in-state")
	if !strings.Contains(text, "saved 1 jobs, 0 files and 0 bytes of 3 tasknodes") {
		t.Error("files of tasknodes were copied")
	}
}

// runOverWalltime runs a wordcount in allocations of two minutes with more flags, and returns the
// output of its job. Nothing is left in the state directory but logs and reports.
func (s *slurm) runOverWalltime(flags ...string) (text string) {
	t := s.t
	t.Helper()
	in, dir := fewWords(t, 60_000, 1500), t.TempDir()
	out, want, state := filepath.Join(dir, "out"), filepath.Join(dir, "want"), filepath.Join(dir, "state")
	done(t, "run", "wordcount", "-D", "mapreduce.job.reduces=3", "--quiet", in, want)
	job, output := s.batch("walltime", "--time=2 --signal=B:USR1@30", slices.Concat([]string{"--state", state, "--save-before", "20s"}, flags, []string{"--",
		"wordcount", "-D", "mapreduce.job.reduces=3", "-D", "hammr.debug.record.sleep=10ms", "-D", "mapreduce.input.fileinputformat.split.maxsize=50k", in, out})...)
	text = s.completed(job, output)
	if n := strings.Count(text, "is ready after"); n < 2 {
		t.Errorf("%d allocations", n)
	}
	for _, want := range []string{"suspending all jobs and saving them", "as job " + job + " has saved it", "3 tasknodes on 3 nodes of Slurm job " + job, "completed successfully"} {
		if !strings.Contains(text, want) {
			t.Errorf("the output has no %q", want)
		}
	}
	wantSameTree(t, out, want)
	once(t, state, 1)
	for _, name := range []string{"local", "staging", "state.json"} {
		if _, err := os.Stat(filepath.Join(state, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	return text
}

// TestSlurmSignal ends two allocations of a terasort by signals, one while maps run and one while
// reduces run. Then the script is submitted again, for fewer nodes.
func TestSlurmSignal(t *testing.T) {
	s := newSlurm(t)
	dir := t.TempDir()
	rows, out, want := filepath.Join(dir, "rows"), filepath.Join(dir, "out"), filepath.Join(dir, "want")
	done(t, "run", "teragen", "-D", "mapreduce.job.maps=3", "6000", rows)
	args := []string{"terasort", "-D", "mapreduce.job.reduces=3", "-D", "mapreduce.input.fileinputformat.split.maxsize=50k"}
	done(t, slices.Concat([]string{"run", "--quiet"}, args, []string{rows, want})...)
	a := &allocations{t: t, state: filepath.Join(dir, "state")}
	job, output := s.batch("signal", "--time=60 --signal=B:USR1@120", slices.Concat([]string{"--state", a.state, "--"}, args, []string{"-D", "hammr.debug.record.sleep=10ms", rows, out})...)
	for i, kind := range []report.Kind{report.Map, report.Reduce} {
		a.running(kind, 1+8*i)
		s.try("scancel", "--batch", "--signal=USR1", job)
		waitUntil(t, "the job waits to run again", func() bool { return slices.Contains([]string{"PENDING", "REQUEUED"}, s.state(job)) })
		waitUntil(t, "the cluster has ended", func() bool { _, err := os.Stat(filepath.Join(a.state, "masters")); return err != nil })
	}
	s.try("scancel", job)
	job = s.submit(s.path("signal.sh"), "--nodes=2", "--ntasks=2")
	text := s.completed(job, output)
	for _, want := range []string{"3 tasknodes on 3 nodes of Slurm", "3 tasknodes on 2 nodes of Slurm", "n3 on node n1 has "} {
		if !strings.Contains(text, want) {
			t.Errorf("the output has no %q", want)
		}
	}
	wantSameTree(t, out, want)
	once(t, a.state, 1)
}
