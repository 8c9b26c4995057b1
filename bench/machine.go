package bench

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/hammr/hammr/internal/kit/procfs"
)

// Machine is where the figures come from. A value that the system does not report is empty.
// Results of different machines must not be compared; the report has it for each run.
type Machine struct {
	CPU      string `json:"cpu"`
	Cores    int    `json:"cores"`
	MemBytes int64  `json:"memBytes"`
	Kernel   string `json:"kernel"`
	Go       string `json:"go"`
	// Load is the load average of the last minute before the first contest. Above 0.5 other
	// programs run, and the figures are unreliable.
	Load float64 `json:"load"`
}

// ThisMachine describes this machine. It reads /proc.
func ThisMachine() Machine {
	m := Machine{Cores: runtime.NumCPU(), Go: runtime.Version()}
	m.CPU = procfs.Field("/proc/cpuinfo", "model name")
	kib, _, _ := strings.Cut(procfs.Field("/proc/meminfo", "MemTotal"), " ")
	n, _ := strconv.ParseInt(kib, 10, 64)
	m.MemBytes = n << 10
	m.Kernel = strings.TrimSpace(ContentOf("/proc/sys/kernel/ostype") + " " + ContentOf("/proc/sys/kernel/osrelease"))
	load, _, _ := strings.Cut(ContentOf("/proc/loadavg"), " ")
	m.Load, _ = strconv.ParseFloat(load, 64)
	return m
}

// Loads returns the load averages of 1, 5 and 15 minutes.
func Loads() string {
	fields := strings.Fields(ContentOf("/proc/loadavg"))
	return strings.Join(fields[:min(3, len(fields))], " ")
}

// ContentOf returns the text of a system file without blanks at its ends, "" if it cannot be read.
func ContentOf(path string) string {
	data, _ := os.ReadFile(path)
	return strings.TrimSpace(string(data))
}
