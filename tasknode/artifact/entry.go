package artifact

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// state is the state of an entry. It only grows:
//
//	absent ──────► loading ──► stored ──► evicted or dropped
//	unchecked ───►    └──► failed, or abandoned by its users: removed; a file that is there becomes another entry
type state int

const (
	absent    state = iota // made by Get; becomes loading at once
	unchecked              // a file that this process has not checked, made by registerLocked; becomes loading at the first use
	loading                // being checked or fetched, set by loadLocked; becomes stored
	stored                 // ready for use, set by finish
)

func (s state) String() string {
	return [...]string{"absent", "unchecked", "loading", "stored"}[s]
}

// entry is one program. The cache's lock guards its fields, except err.
type entry struct {
	sum    Sum
	state  state
	size   int64  // bytes; valid in the states unchecked and stored
	users  int    // number of callers that wait for the file or have not released it
	used   uint64 // value of Cache.uses at the last Get
	ready  chan struct{}
	err    error              // valid when ready is closed
	cancel context.CancelFunc // cancels the loading
}

func newEntry(sum Sum) *entry { return &entry{sum: sum, ready: make(chan struct{})} }

// temporaryPrefix begins the names of files whose fetch is not complete.
const temporaryPrefix = ".fetch-"

// loadExisting registers the files of an earlier start, in the order of their last use. It
// removes the files of incomplete fetches.
func (c *Cache) loadExisting() error {
	files, err := os.ReadDir(c.cfg.Dir)
	if err != nil {
		return err
	}
	var infos []fs.FileInfo
	for _, f := range files {
		if strings.HasPrefix(f.Name(), temporaryPrefix) {
			if err := os.Remove(filepath.Join(c.cfg.Dir, f.Name())); err != nil {
				return err
			}
			continue
		}
		info, err := f.Info()
		if err == nil && info.Mode().IsRegular() {
			infos = append(infos, info)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, info := range infos {
		c.registerLocked(info)
	}
	return nil
}

// registerLocked makes an entry for a file without one: of an earlier start, or one whose users have given
// up. It ignores files whose name is no checksum.
func (c *Cache) registerLocked(info fs.FileInfo) {
	sum, err := hex.DecodeString(info.Name())
	if err != nil || len(sum) != len(Sum{}) {
		return
	}
	e := newEntry(Sum(sum))
	c.mu.uses++
	e.state, e.size, e.used = unchecked, info.Size(), c.mu.uses
	c.mu.entries[e.sum] = e
	c.mu.bytes += e.size
}

// intact reports whether the file of a stored entry exists and has the entry's size.
func (c *Cache) intact(e *entry) bool {
	info, err := os.Stat(c.path(e.sum))
	return err == nil && info.Mode().IsRegular() && info.Size() == e.size
}

// dropLocked removes a stored entry. It keeps the file, because users may still need it.
func (c *Cache) dropLocked(e *entry) {
	delete(c.mu.entries, e.sum)
	c.mu.bytes -= e.size
}

// evictLocked removes the least recently used programs, until the remaining programs fit or
// are in use.
func (c *Cache) evictLocked() {
	for c.mu.bytes > c.cfg.MaxBytes {
		var oldest *entry
		for _, e := range c.mu.entries {
			if e.users == 0 && e.state != loading && (oldest == nil || e.used < oldest.used) {
				oldest = e
			}
		}
		if oldest == nil {
			return
		}
		c.dropLocked(oldest)
		if err := os.Remove(c.path(oldest.sum)); err != nil {
			c.cfg.Logger.Warn("cannot remove cached program", "error", err)
		}
	}
}
