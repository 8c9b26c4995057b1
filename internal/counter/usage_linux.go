package counter

import (
	"bufio"
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
		return u // A machine without procfs: memory stays unknown.
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
