package bench

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// clockTick is the unit of CPU time in /proc, the same on all of Linux.
const clockTick = 10 * time.Millisecond

// Process is a process in /proc. Its CPU times have a resolution of 10 ms.
type Process struct {
	PID, Parent int
	CPU         time.Duration // of the process
	Children    time.Duration // CPU time of its children that have ended
	RSSBytes    int64
}

// ProcessOf returns a process by its number.
func ProcessOf(pid int) (p Process, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, err
	}
	p, ok := processIn(stat)
	if !ok {
		return p, fmt.Errorf("/proc/%d/stat: %q is none of a process", pid, stat)
	}
	return p, nil
}

// processIn parses a process's stat line in /proc. The name may contain blanks and brackets.
//
//	pid (name) state ppid … utime stime cutime cstime … rss
//	           0     1      11    12    13     14       21
func processIn(stat []byte) (p Process, ok bool) {
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
	p = Process{PID: int(number(before)), Parent: int(number(fields[1])), RSSBytes: number(fields[21]) * int64(os.Getpagesize())}
	p.CPU = time.Duration(number(fields[11])+number(fields[12])) * clockTick
	p.Children = time.Duration(number(fields[13])+number(fields[14])) * clockTick
	return p, ok
}
