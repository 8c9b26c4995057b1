package procfs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ClockTick is the unit of CPU time in /proc, the same on all of Linux.
const ClockTick = 10 * time.Millisecond

// Process is what the kernel reports of a process. CPU times have a resolution of ClockTick.
type Process struct {
	PID, Parent int
	Group       int           // id of its process group
	Started     string        // as StartTime returns it
	CPU         time.Duration // of the process
	Children    time.Duration // CPU time of its children that have ended
	RSSBytes    int64
}

// Find returns a process by its number.
func Find(pid int) (p Process, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, err
	}
	p, ok := parseStat(stat)
	if !ok {
		return p, fmt.Errorf("/proc/%d/stat: %q is none of a process", pid, stat)
	}
	return p, nil
}

// All returns the processes of the machine. It reads a file of each.
func All() (all []Process) {
	names, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is valid
	for _, name := range names {
		if stat, err := os.ReadFile(name); err == nil { // otherwise the process has ended
			if p, ok := parseStat(stat); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// Field returns the first value of a name in a file of "name: value" lines, such as
// /proc/1/status. It returns "" if the file or the line is missing, as on some virtual machines.
func Field(file, name string) string {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		if n, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(n) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// parseStat parses a process's stat line in /proc. The name may contain blanks and brackets. A
// process exists until its last thread has ended, because its files and ports are open until then.
//
//	pid (name) state ppid group … utime stime cutime cstime … threads … start … rss
//	           0     1    2       11    12    13     14       17        19      21
func parseStat(stat []byte) (p Process, ok bool) {
	end := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[end+1:])
	before, _, found := bytes.Cut(stat, []byte(" "))
	if end < 0 || len(fields) < 22 || !found {
		return p, false
	}
	ok = true
	number := func(text []byte) int64 {
		n, err := strconv.ParseInt(string(text), 10, 64)
		ok = ok && err == nil
		return n
	}
	p = Process{
		PID: int(number(before)), Parent: int(number(fields[1])), Group: int(number(fields[2])),
		RSSBytes: number(fields[21]) * int64(os.Getpagesize()),
	}
	p.CPU = time.Duration(number(fields[11])+number(fields[12])) * ClockTick
	p.Children = time.Duration(number(fields[13])+number(fields[14])) * ClockTick
	if state := string(fields[0]); state != "X" && (state != "Z" || string(fields[17]) != "1") {
		p.Started = string(fields[19])
	}
	return p, ok
}
