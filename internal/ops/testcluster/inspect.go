package testcluster

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Logs returns the directory of the daemons' logs.
func (c *Cluster) Logs() string { return filepath.Join(c.dir, "logs") }

// Histories returns the directory in which masters keep the histories of jobs.
func (c *Cluster) Histories() string { return filepath.Join(c.dir, "history") }

// LogEnds returns the last bytes of each daemon's log, size of each, for people. Tests print it
// when they fail, since the directory is removed afterwards.
func (c *Cluster) LogEnds(size int) string {
	var b strings.Builder
	files, _ := filepath.Glob(filepath.Join(c.Logs(), "*")) // the pattern is valid
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || len(text) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s:\n%s\n", filepath.Base(file), text[max(0, len(text)-size):])
	}
	return b.String()
}

// Processes returns the processes, with their command lines, that have the cluster's
// directory on their command lines: its daemons and tasks. After Close of a cluster
// that was started here, there is none.
func (c *Cluster) Processes() (lines []string) {
	if c.dir == "" {
		return nil
	}
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is valid
	for _, file := range files {
		line, err := os.ReadFile(file)
		pid := filepath.Base(filepath.Dir(file))
		if err == nil && strings.Contains(string(line), c.dir+"/") && pid != fmt.Sprint(os.Getpid()) {
			lines = append(lines, pid+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return lines
}

// Tasks returns the process groups of a tasknode's tasks, by the ids of their leaders. A
// tasknode of another machine has none.
func (c *Cluster) Tasks(name string) []int {
	p, err := c.Process(name)
	if err != nil {
		return nil
	}
	return tasksOf(p)
}

func tasksOf(tasknode localcluster.Process) []int {
	if !tasknode.Alive() {
		return nil
	}
	return children(tasknode.PID)
}

// SignalTask sends a signal to the process group of a task of this tasknode. It ignores
// one that is gone.
func (c *Cluster) SignalTask(name string, pid int, sig syscall.Signal) error {
	if !slices.Contains(c.Tasks(name), pid) {
		return nil
	}
	return signal(-pid, sig)
}

// children returns the running processes that a process has started. Each task is the leader of
// a process group, so a signal to the group reaches what the task itself has started.
func children(parent int) (pids []int) {
	for _, p := range procfs.All() {
		if p.Parent == parent && p.Started != "" {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

// ExtraAttempts returns the number of attempts of a job beyond one for each task. Parts of a
// split map are tasks of their own.
func ExtraAttempts(s *wire.JobStatus) (n int) {
	for _, t := range s.GetTasks() {
		n += max(0, len(t.Attempts)-1)
	}
	return n
}
