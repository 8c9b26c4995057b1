package counter

import (
	"bytes"
	"os"
	"strconv"
)

// ResidentBytes is how many bytes of this process are in memory; 0 where that is unknown.
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
