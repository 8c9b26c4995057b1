package tasknoded

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hammr/hammr/internal/failpoint"
	"github.com/hammr/hammr/internal/wire"
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
	available, swap = parseMeminfo(string(text))
	if d.cgroup != "" {
		if _, err := os.Stat(filepath.Join(d.cgroup, "cgroup.controllers")); err == nil {
			swap = 0
		}
	}
	return available, swap
}

// parseMeminfo reads the text of /proc/meminfo, whose unit is KiB.
func parseMeminfo(text string) (available, swap int64) {
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, ":")
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		switch {
		case err != nil:
		case name == "MemAvailable":
			available = kib << 10
		case name == "SwapFree":
			swap = kib << 10
		}
	}
	return available, swap
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
