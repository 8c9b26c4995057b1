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

// state is how far an entry has come. It only grows.
type state int

const (
	absent    state = iota // made by Get; loading follows at once
	unchecked              // a file of a former life, as loadExisting found it; loading follows at the first use
	loading                // being checked or fetched; stored follows, or the entry goes
	stored                 // can be used; the entry goes when it is evicted or dropped
)

func (s state) String() string {
	return [...]string{"absent", "unchecked", "loading", "stored"}[s]
}

// entry is one program. Fields are guarded by the cache's lock but for err,
// which holds once ready is closed.
type entry struct {
	sum    Sum
	state  state
	size   int64  // bytes, of one that is unchecked or stored
	users  int    // that wait for it or hold it
	used   uint64 // the number of the Get that was the last to ask for it
	ready  chan struct{}
	err    error
	cancel context.CancelFunc // ends its loading
}

func newEntry(sum Sum) *entry { return &entry{sum: sum, ready: make(chan struct{})} }

// temporaryPrefix begins the names of files that are being fetched.
const temporaryPrefix = ".fetch-"

// loadExisting enters the files of a former life, in order of their last use, and
// removes what a fetch left unfinished.
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
	for _, info := range infos {
		c.register(info)
	}
	return nil
}

// register enters a file of a former life; files with other names are left
// alone.
func (c *Cache) register(info fs.FileInfo) {
	sum, err := hex.DecodeString(info.Name())
	if err != nil || len(sum) != len(Sum{}) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := newEntry(Sum(sum))
	c.mu.uses++
	e.state, e.size, e.used = unchecked, info.Size(), c.mu.uses
	c.mu.entries[e.sum] = e
	c.mu.bytes += e.size
}

// intact reports whether the file of a stored entry looks as it did.
func (c *Cache) intact(e *entry) bool {
	info, err := os.Stat(c.path(e.sum))
	return err == nil && info.Mode().IsRegular() && info.Size() == e.size
}

// dropLocked forgets a stored entry; those who hold it keep what they have.
func (c *Cache) dropLocked(e *entry) {
	delete(c.mu.entries, e.sum)
	c.mu.bytes -= e.size
}

// evictLocked removes what was used least recently until the rest fits or is in
// use.
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
			c.cfg.Logger.Warn("program stays in the cache", "error", err)
		}
	}
}
