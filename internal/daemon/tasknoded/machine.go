package tasknoded

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/kit/meminfo"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// machineStatus returns what a heartbeat says about the machine: clock, load, directories
// and memory.
//
// From this the jobmaster decides whether the machine has memory for suspended tasks.
func (d *Daemon) machineStatus() *wire.Report_Heartbeat {
	h := &wire.Report_Heartbeat{Clock: failpoint.Now().UnixMilli(), Load: loadAverage()}
	for i, state := range d.disks.States() {
		dir := &wire.Report_Heartbeat_Directory{Path: d.cfg.LocalDirs[i], Free: state.Free, Total: state.Total}
		if state.Err != nil {
			dir.Error = state.Err.Error()
		}
		h.Directories = append(h.Directories, dir)
	}
	h.Unhealthy = d.script.reason()
	h.MemoryAvailable, h.SwapFree = d.memory()
	return h
}

// memory returns how many bytes tasks can still allocate, and how many bytes of suspended
// tasks can be swapped out; 0 if unknown. The tasks of a version 2 control group are not
// swapped out.
func (d *Daemon) memory() (available, swap int64) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, 0
	}
	available, swap = meminfo.Field(string(text), "MemAvailable"), meminfo.Field(string(text), "SwapFree")
	if d.cgroup != "" {
		if _, err := os.Stat(filepath.Join(d.cgroup, "cgroup.controllers")); err == nil {
			swap = 0
		}
	}
	return available, swap
}

// reservedMB is the part of a machine's memory that tasks do not get by default: the tasknode,
// the DataNode and the system use it. In MiB.
const reservedMB = 1024

// taskMemoryMB returns the memory that tasks may take together, in MiB: the setting, else that of
// the site's configuration, else the machine's. It is 0 for any amount, if none has one.
func (d *Daemon) taskMemoryMB(set int) int64 {
	if mb := cmp.Or(set, d.cfg.Conf.Int(conf.TasknodeMemoryMB)); mb > 0 {
		return int64(mb)
	}
	machine, _ := os.ReadFile("/proc/meminfo")
	return defaultMemoryMB(string(machine), containerLimit("/sys/fs/cgroup"))
}

// containerLimit returns the text of the memory limit of the container that the tasknode runs in,
// given the directory of control groups; "" or a very large number if it runs in none. The files
// are those of version 2 and of version 1.
func containerLimit(cgroups string) string {
	for _, name := range []string{"memory.max", "memory/memory.limit_in_bytes"} {
		if limit, err := os.ReadFile(filepath.Join(cgroups, name)); err == nil {
			return string(limit)
		}
	}
	return ""
}

// defaultMemoryMB returns the memory of a machine, given the text of /proc/meminfo, or the limit
// of its container if that is less, without the part that is reserved. A machine of less than 2
// GiB keeps half of it for tasks.
func defaultMemoryMB(machine, limit string) int64 {
	total := meminfo.Field(machine, "MemTotal")
	if bytes, err := strconv.ParseInt(strings.TrimSpace(limit), 10, 64); err == nil && bytes > 0 {
		total = min(total, bytes)
	}
	mb := total >> 20
	return max(mb-reservedMB, mb/2)
}

// loadAverage returns the average load of the machine in the last minute, 0 if unknown.
func loadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	value, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return value
}
