package bench

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// The disk of a cluster's logs is measured by repeated writes and syncs of a page, like
// entries of a log.
const (
	syncRounds = 100
	syncBytes  = 4096
)

// syncLatency returns the time in which a disk makes a page durable. It uses fdatasync, as the
// masters' logs do, in the same directory.
func syncLatency(dir string) (s Spread, err error) {
	f, err := os.CreateTemp(dir, "sync-")
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	page := make([]byte, syncBytes)
	var seconds []float64
	for range syncRounds {
		start := time.Now()
		if _, err := f.WriteAt(page, 0); err != nil {
			return s, err
		}
		if err := syscall.Fdatasync(int(f.Fd())); err != nil {
			return s, fmt.Errorf("sync of %s: %w", f.Name(), err)
		}
		seconds = append(seconds, time.Since(start).Seconds())
	}
	return spreadOf(seconds), nil
}

// syncNote returns a note on a disk's latency. The range shows how steady the disk is.
func syncNote(s Spread) string {
	return fmt.Sprintf("the disk syncs a page in %.2f ms (%.2f to %.2f)", s.Median*1e3, s.Min*1e3, s.Max*1e3)
}
