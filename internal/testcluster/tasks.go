package testcluster

import (
	"slices"
	"syscall"

	"github.com/hammr/hammr/internal/localcluster"
	"github.com/hammr/hammr/internal/procfs"
	"github.com/hammr/hammr/internal/wire"
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
