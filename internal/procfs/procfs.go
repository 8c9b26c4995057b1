// Package procfs identifies and starts processes of Linux. A process id alone is reused;
// with the start time in /proc it names one process for as long as the machine runs.
package procfs

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// StartTime is when a process was started, in clock ticks since the machine was; "" if
// there is no such process, or only its exit status remains. A process whose first thread
// has ended exists until its last one has: until then its files and ports are open.
func StartTime(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name, in parentheses, may hold anything; behind it stand the third
	// field, the state, and the others.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	state, threads := fields[0], fields[17]
	if state == "X" || state == "Z" && threads == "1" {
		return ""
	}
	return fields[19]
}
