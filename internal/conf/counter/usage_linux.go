package counter

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// systemUsage reads CPU time from getrusage and memory from procfs.
func systemUsage() usage {
	var u usage
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) == nil {
		u.cpu = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return u // without procfs, memory stays unknown
	}
	defer f.Close()
	fields := map[string]*int64{
		"VmRSS": &u.rss, "VmSize": &u.virtual, "VmHWM": &u.peakRSS, "VmPeak": &u.peakVirtual,
	}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		if field := fields[name]; field != nil {
			*field = parseKilobytes(rest)
		}
	}
	return u
}

// parseKilobytes reads "  1234 kB" as bytes.
func parseKilobytes(s string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(s, "kB")), 10, 64)
	if err != nil {
		return 0
	}
	return n * 1024
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
