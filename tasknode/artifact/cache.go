package artifact

import (
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
)

// DefaultMaxBytes is how much a cache keeps where nothing else is said.
const DefaultMaxBytes = 4 << 30

// Config says how a Cache works.
type Config struct {
	// Dir is the cache's own directory, made if it does not exist; there is no
	// default.
	Dir string
	// Fetch opens a program in storage by its full name; there is no default.
	Fetch func(ctx context.Context, name string) (io.ReadCloser, error)
	// MaxBytes is how much is kept beyond what is in use; default
	// DefaultMaxBytes.
	MaxBytes int64
	// Logger hears of programs that are dropped; default nobody.
	Logger *slog.Logger
}

// EnsureDefaults fills in what is not set.
func (c *Config) EnsureDefaults() {
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

// Validate reports every fault of the configuration at once.
func (c *Config) Validate() error {
	var faults []error
	if c.Dir == "" {
		faults = append(faults, errors.New("artifact: no Dir"))
	}
	if c.Fetch == nil {
		faults = append(faults, errors.New("artifact: no Fetch function"))
	}
	if c.MaxBytes < 0 {
		faults = append(faults, errors.New("artifact: MaxBytes below 0"))
	}
	return errors.Join(faults...)
}

// Sum is the SHA-256 of a program.
type Sum [sha256.Size]byte

func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// Cache keeps programs. Its methods may be called by any goroutine.
type Cache struct {
	cfg     Config
	ctx     context.Context // ends at Close
	close   context.CancelFunc
	fetches sync.WaitGroup
	mu      struct {
		sync.Mutex
		entries map[Sum]*entry
		bytes   int64  // of the entries that are stored: the sum of their sizes
		uses    uint64 // counts calls of Get
	}
}

// Open opens the cache in a directory with what is in it.
func Open(cfg Config) (*Cache, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
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

// Close ends the fetches under way and waits for them. The files stay.
func (c *Cache) Close() {
	c.close()
	c.fetches.Wait()
}

// Get returns the path of the program with that SHA-256, which storage has
// under name, and fetches it if it is not there. The file stays as it is until
// release is called, once. The end of ctx ends the waiting.
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

// acquire counts one more user of a program and has it fetched where necessary.
func (c *Cache) acquire(sum Sum, name string) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.mu.entries[sum]
	if e != nil && e.state == stored && !c.intact(e) {
		c.cfg.Logger.Warn("program in the cache has changed", "path", c.path(sum))
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

// loadLocked has the entry's file checked or fetched in the background.
func (c *Cache) loadLocked(e *entry, name string) {
	if e.state == unchecked {
		c.mu.bytes -= e.size // which finish counts again
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

// finish tells those who wait for an entry how it went.
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
	case current == nil && err == nil: // it came after nobody waited any more
		_ = os.Remove(c.path(e.sum))
	}
	e.err = err
}

// release counts one user less. A fetch that nobody waits for ends.
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
	// The next life of the daemon reads from this what was used when.
	_ = os.Chtimes(c.path(e.sum), now, now)
	c.evictLocked()
}

// path is where a program is or will be.
func (c *Cache) path(sum Sum) string { return filepath.Join(c.cfg.Dir, sum.String()) }
