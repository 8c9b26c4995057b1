package counter

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/kit/meminfo"
)

// systemUsage reads CPU time from getrusage and memory from procfs.
func systemUsage() usage {
	var u usage
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) == nil {
		u.cpu = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	text, _ := os.ReadFile("/proc/self/status") // without procfs, memory stays unknown
	status := string(text)
	u.rss, u.virtual = meminfo.Field(status, "VmRSS"), meminfo.Field(status, "VmSize")
	u.peakRSS, u.peakVirtual = meminfo.Field(status, "VmHWM"), meminfo.Field(status, "VmPeak")
	return u
}

// ResidentBytes returns the size of this process in memory; 0 if it is unknown.
func ResidentBytes() int64 {
	statm, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(statm)
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// ResetPeak resets the peak of resident memory of this process, before it runs
// another attempt. If the kernel refuses, the peak stays.
func ResetPeak() {
	const resetPeak = "5" // resets the peak; see clear_refs in proc(5)
	_ = os.WriteFile("/proc/self/clear_refs", []byte(resetPeak), 0)
}
