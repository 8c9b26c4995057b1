//go:build deploy

package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/testing/must"
)

// cgroupConf makes Slurm keep each job in control groups of version 1, with its processors and its
// memory.
const cgroupConf = `CgroupPlugin=cgroup/v1
CgroupAutomount=no
ConstrainCores=yes
ConstrainRAMSpace=yes
`

// slurmControllers are the hierarchies of control groups that Slurm uses.
var slurmControllers = []string{"freezer", "cpuset", "memory", "devices", "cpuacct"}

// inGroups runs a daemon in groups of its own, below those of the test, as if they were the roots of
// the hierarchies: all nodes are one machine, and each has its own groups.
const inGroups = `name=$1 && shift &&
for c in ` + "%s" + `; do
	group=/sys/fs/cgroup/$c$(sed -n "s/^[0-9]*:$c://p" /proc/self/cgroup) && mkdir "$group/$name" || exit
	if [ $c = cpuset ]; then
		cat "$group/cpuset.cpus" >"$group/$name/cpuset.cpus" && cat "$group/cpuset.mems" >"$group/$name/cpuset.mems" || exit
	fi
	echo $$ >"$group/$name/cgroup.procs" || exit
done
exec unshare --cgroup sh -c 'for c in ` + "%[1]s" + `; do umount /sys/fs/cgroup/$c && mount -t cgroup -o $c none /sys/fs/cgroup/$c || exit; done; exec "$@"' sh "$@"`

// withCgroups makes the nodes of a Slurm keep jobs in control groups, and jobs get memory as well as
// processors. It skips the test if no cgroup v1 hierarchies are mounted.
func withCgroups(t *testing.T) slurmOptions {
	t.Helper()
	for _, c := range slurmControllers {
		if _, err := os.Stat(filepath.Join("/sys/fs/cgroup", c, "cgroup.procs")); err != nil {
			t.Skipf("it needs control groups of version 1: %v", err)
		}
	}
	return slurmOptions{
		conf: strings.NewReplacer("ProctrackType=proctrack/linuxproc", "ProctrackType=proctrack/cgroup", "TaskPlugin=task/none", "TaskPlugin=task/cgroup",
			"SelectTypeParameters=CR_CPU", "SelectTypeParameters=CR_CPU_Memory"),
		files: map[string]string{"cgroup.conf": cgroupConf},
		node: func(name string) []string {
			return []string{"sh", "-c", fmt.Sprintf(inGroups, strings.Join(slurmControllers, " ")), "sh", name}
		},
	}
}

// groupsOf returns the directories of the control groups of a node, in each hierarchy the deepest
// ones first.
func groupsOf(t *testing.T, node string) (groups []string) {
	t.Helper()
	for _, c := range slurmControllers {
		roots, err := filepath.Glob(filepath.Join("/sys/fs/cgroup", c) + ownGroup(t, c) + "/" + node)
		must.Do(t, err)
		for _, root := range roots {
			var found []string
			must.Do(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
				if err == nil && e.IsDir() {
					found = append(found, path)
				}
				return err
			}))
			slices.Reverse(found)
			groups = append(groups, found...)
		}
	}
	return groups
}

// ownGroup returns the group of the test in a hierarchy.
func ownGroup(t *testing.T, controller string) string {
	t.Helper()
	for line := range strings.Lines(string(readFile(t, "/proc/self/cgroup"))) {
		if fields := strings.SplitN(strings.TrimSpace(line), ":", 3); len(fields) == 3 && fields[1] == controller {
			return strings.TrimSuffix(fields[2], "/")
		}
	}
	t.Fatalf("this process has no group for %s", controller)
	return ""
}

// removeGroups removes the control groups of a node, which have no process any more.
func removeGroups(t *testing.T, node string) {
	t.Helper()
	waitUntil(t, "no process is in the groups of "+node, func() bool {
		for _, group := range groupsOf(t, node) {
			if os.Remove(group) != nil {
				return false
			}
		}
		return true
	})
}

// memoryOfJob returns the memory limit of a job on a node, and whether a tasknode runs in its group.
func memoryOfJob(t *testing.T, node, job string) (limit string, tasknode bool) {
	t.Helper()
	for _, group := range groupsOf(t, node) {
		if !strings.HasPrefix(group, "/sys/fs/cgroup/memory/") || !strings.Contains(group, "/job_"+job) {
			continue
		}
		if filepath.Base(group) == "job_"+job {
			limit = strings.TrimSpace(string(readFile(t, filepath.Join(group, "memory.limit_in_bytes"))))
		}
		for _, pid := range strings.Fields(string(readFile(t, filepath.Join(group, "cgroup.procs")))) {
			line, _ := os.ReadFile("/proc/" + pid + "/cmdline") // the process may have ended
			tasknode = tasknode || strings.HasPrefix(string(line), hammr+"\x00tasknode\x00")
		}
	}
	return limit, tasknode
}

// TestSlurmCgroups runs a wordcount in two allocations of a Slurm that keeps jobs in control groups.
// Tasknodes are in the group of the job on their node, with its memory limit, and no process is left
// there when the job has ended. A signal ends the first allocation while maps and reduces run.
func TestSlurmCgroups(t *testing.T) {
	s := newSlurmWith(t, withCgroups(t))
	in, dir := fewWords(t, 30_000, 1500), t.TempDir()
	out, want := filepath.Join(dir, "out"), filepath.Join(dir, "want")
	args := []string{"wordcount", "-D", "mapreduce.job.reduces=3", "-D", "mapreduce.input.fileinputformat.split.maxsize=50k",
		"-D", "mapreduce.map.memory.mb=300", "-D", "mapreduce.reduce.memory.mb=300"} // so that two maps and a reduce fit into the memory of a job
	done(t, slices.Concat([]string{"run", "--quiet"}, args, []string{in, want})...)
	a := &allocations{t: t, state: filepath.Join(dir, "state")}
	job, output := s.batch("cgroups", "--time=60 --mem=1500 --signal=B:USR1@120",
		slices.Concat([]string{"--state", a.state, "--"}, args, []string{"-D", "hammr.debug.record.sleep=10ms", in, out})...)
	a.running(report.Reduce, 4)
	for _, node := range slurmNodes {
		if limit, tasknode := memoryOfJob(t, node, job); limit != fmt.Sprint(1500<<20) || !tasknode {
			t.Errorf("the group of job %s on %s has a memory limit of %s and a tasknode: %v; groups %q", job, node, limit, tasknode, groupsOf(t, node))
		}
	}
	s.try("scancel", "--batch", "--signal=USR1", job)
	text := s.completed(job, output)
	for _, want := range []string{"suspending all jobs and saving them", "as job " + job + " has saved it", "completed successfully"} {
		if !strings.Contains(text, want) {
			t.Errorf("the output has no %q", want)
		}
	}
	wantSameTree(t, out, want)
	once(t, a.state, 1)
}
