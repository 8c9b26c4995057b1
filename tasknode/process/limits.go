package process

import (
	"fmt"
	"strconv"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/tasknode"
)

// limits are the limits of a task's process. If cgroup version 2 enforces a limit, all its
// steps are in this file:
//
//	property ── limitsOf ──► limits ─┬─ cgroupFiles ──► the task's cgroup, or the memoryWatcher without one
//	                                 ├─ gcLimit ──────► GOMEMLIMIT, for the program's own collector
//	                                 └─ exceededText ─► the user
//
// To limit another resource, cpu time for example: add a field here and in tasknode.Limits, with its property in
// LimitsOf, enable its controller in cgroupControllers, and write its files in
// cgroupFiles. Processes with other limits do not share tasks, since limits are part
// of the processClass. Three kinds of limits need more:
//
//   - Version 1 has a directory for each controller. cgroup and CreateCgroup know only the
//     directory of the memory controller. The file in which a tasknode records its group
//     contains only this directory too.
//   - A controller that may be missing is enabled by a separate write, in openCgroup
//     (cgroup.go): a machine may delegate memory and not cpu, and one write of both fails
//     as a whole. The files of that controller must then be optional; otherwise newGroup
//     refuses every task.
//   - An rlimit is no file: startProcess (start_process.go) sets it, and remedy
//     (internal/task/failure.go) explains the error, since a system call fails instead of
//     the process.
type limits struct {
	memory int64 // bytes
}

// limitsOf reads the limits of a task from start. tasks is how many tasks its process may
// run; negative means any number.
func limitsOf(start *taskproc.Start) (_ limits, tasks int, err error) {
	l, err := tasknode.LimitsOf(start)
	return limits{memory: l.MemoryMB << 20}, l.ProcessTasks, err
}

// cgroupControllers are the controllers of cgroup version 2 that a task's cgroup needs.
const cgroupControllers = "+memory"

// cgroupFile is a setting of a cgroup.
type cgroupFile struct {
	name, text string
	optional   bool // some kernels do not have this file
}

// cgroupFiles returns the settings that enforce the limits in a cgroup of a version. In
// version 1 each controller has its own directory; a cgroup uses only the directory of the
// memory controller.
func (l limits) cgroupFiles(version int) []cgroupFile {
	memory := strconv.FormatInt(l.memory, 10)
	if version == 1 {
		return []cgroupFile{{name: "memory.limit_in_bytes", text: memory}}
	}
	return []cgroupFile{
		{name: "memory.max", text: memory},
		{name: "memory.oom.group", text: "1"},
		{name: "memory.swap.max", text: "0", optional: true}, // exists only if the kernel accounts for swap
	}
}

// gcLimit returns the heap size in bytes above which Go's collector works harder. It leaves
// memory that the collector does not count, such as the program's own pages.
func (l limits) gcLimit() int64 { return l.memory / 10 * 9 }

// exceededText returns the error text for users: a task of a kind has exceeded its memory.
func (l limits) exceededText(kind taskproc.Kind) string {
	return fmt.Sprintf("the task ran out of its memory of %d MiB (%s): raise it, or let the task hold less at a time", l.memory>>20, tasknode.MemoryProperty(kind))
}
