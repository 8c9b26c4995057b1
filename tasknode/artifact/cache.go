package artifact

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/kit/validate"
)

// DefaultMaxBytes is the default of Config.MaxBytes.
const DefaultMaxBytes = 4 << 30

// DefaultMaxProgramBytes is the default of Config.MaxProgramBytes.
const DefaultMaxProgramBytes = 1 << 30

// Config is the configuration of a Cache.
type Config struct {
	// Dir is the cache's own directory. It is made if it does not exist. There is no
	// default.
	Dir string
	// Fetch opens a program in storage by its full name; there is no default.
	Fetch func(ctx context.Context, name string) (io.ReadCloser, error)
	// MaxBytes is the size above which programs that are not in use are evicted;
	// default DefaultMaxBytes.
	MaxBytes int64
	// MaxProgramBytes is the largest program that is fetched; default DefaultMaxProgramBytes.
	MaxProgramBytes int64
	// Logger logs damaged programs; default none.
	Logger *slog.Logger
}

// EnsureDefaults sets the fields that are zero to their defaults.
func (c *Config) EnsureDefaults() {
	c.MaxBytes = cmp.Or(c.MaxBytes, DefaultMaxBytes)
	c.MaxProgramBytes = cmp.Or(c.MaxProgramBytes, DefaultMaxProgramBytes)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
}

// Validate reports every error of the configuration at once.
func (c *Config) Validate() error {
	return errors.Join(
		validate.That(c.Dir != "", "artifact: no Dir"),
		validate.That(c.Fetch != nil, "artifact: no Fetch function"),
		validate.That(c.MaxBytes >= 0 && c.MaxProgramBytes >= 0, "artifact: limit below 0"),
	)
}

// Sum is the SHA-256 of a program.
type Sum [sha256.Size]byte

func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// Cache is a cache of programs. Any goroutine may call its methods. Files are read and
// written without the lock. This is safe, because the state of an entry says whether its
// file is complete, and a file with users is not evicted.
type Cache struct {
	cfg     Config
	ctx     context.Context // ends when Close is called
	close   context.CancelFunc
	fetches sync.WaitGroup
	mu      struct {
		sync.Mutex
		entries map[Sum]*entry
		bytes   int64  // sum of the sizes of unchecked and stored entries
		uses    uint64 // number of calls of Get, used as the time in entry.used
	}
}

// Open opens the cache in a directory and registers the programs in it.
func Open(cfg Config) (*Cache, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	// Users may run the programs in the directory, but not list it. A user who can name a
	// program has its checksum, and so had the program before.
	if err := errors.Join(os.MkdirAll(cfg.Dir, 0o711), os.Chmod(cfg.Dir, 0o711)); err != nil {
		return nil, fmt.Errorf("cache of programs: %w", err)
	}
	c := &Cache{cfg: cfg}
	c.ctx, c.close = context.WithCancel(context.Background())
	c.mu.entries = make(map[Sum]*entry)
	if err := c.loadExisting(); err != nil {
		return nil, fmt.Errorf("cache of programs: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.evictLocked()
	return c, nil
}

// Close cancels the fetches in progress and waits for them. The files stay.
func (c *Cache) Close() {
	c.close()
	c.fetches.Wait()
}

// Get returns the path of the program whose SHA-256 is sum. If the program is not in the
// cache, Get fetches it from storage by its full name. The file stays until the caller calls
// release. Get returns early if ctx ends.
func (c *Cache) Get(ctx context.Context, name string, sum []byte) (path string, release func(), err error) {
	if len(sum) != sha256.Size {
		return "", nil, fmt.Errorf("program %s: a checksum of %d bytes, not %d", name, len(sum), sha256.Size)
	}
	e := c.acquire(Sum(sum), name)
	select {
	case <-e.ready:
		err = e.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		c.release(e)
		return "", nil, fmt.Errorf("program %s: %w", name, err)
	}
	return c.path(e.sum), sync.OnceFunc(func() { c.release(e) }), nil
}

// acquire adds a user to a program, and starts a check or a fetch if needed.
func (c *Cache) acquire(sum Sum, name string) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.mu.entries[sum]
	if e != nil && e.state == stored && !c.intact(e) {
		c.cfg.Logger.Warn("cached program changed, checking it again", "path", c.path(sum))
		c.dropLocked(e)
		e = nil
	}
	if e == nil {
		e = newEntry(sum)
		c.mu.entries[sum] = e
	}
	if e.state == unchecked || e.state == absent {
		c.loadLocked(e, name)
	}
	c.mu.uses++
	e.used = c.mu.uses
	e.users++
	return e
}

// loadLocked starts the check or the fetch of the entry's file in the background.
func (c *Cache) loadLocked(e *entry, name string) {
	if e.state == unchecked {
		c.mu.bytes -= e.size // finish adds the size again
	}
	e.state = loading
	var ctx context.Context
	ctx, e.cancel = context.WithCancel(c.ctx)
	c.fetches.Go(func() {
		defer e.cancel()
		size, err := c.checkOrFetch(ctx, e.sum, name)
		c.finish(e, size, err)
	})
}

// finish stores the result of a check or a fetch, and wakes the callers that wait for it. In
// the meantime the entry may have been dropped, or replaced by a newer entry.
func (c *Cache) finish(e *entry, size int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(e.ready)
	current := c.mu.entries[e.sum]
	switch {
	case current == e && err == nil:
		e.state, e.size = stored, size
		c.mu.bytes += size
		c.evictLocked()
	case current == e:
		delete(c.mu.entries, e.sum)
	case current == nil: // the last caller has given up before; the file may be there, complete or not yet checked
		if info, err := os.Lstat(c.path(e.sum)); err == nil {
			c.registerLocked(info)
			c.evictLocked()
		}
	}
	e.err = err
}

// release removes a user from a program. If a fetch has no users left, it cancels the fetch.
func (c *Cache) release(e *entry) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	e.users--
	if e.users > 0 || c.mu.entries[e.sum] != e {
		return
	}
	if e.state == loading {
		delete(c.mu.entries, e.sum)
		e.cancel()
		return
	}
	// At its next start the daemon restores the order of use from these times.
	_ = os.Chtimes(c.path(e.sum), now, now)
	c.evictLocked()
}

// path returns the path of a program's file.
func (c *Cache) path(sum Sum) string { return filepath.Join(c.cfg.Dir, sum.String()) }
