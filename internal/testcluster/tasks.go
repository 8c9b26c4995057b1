package testcluster

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/hammr/hammr/internal/localcluster"
	"github.com/hammr/hammr/internal/procfs"
)

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
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err == nil && parentOf(pid) == parent && procfs.StartTime(pid) != "" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parentOf returns the process that has started another, 0 for none.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name, in parentheses, may hold anything; the second field behind it is the
	// parent.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1]) // 0 for what is no number
	return parent
}
