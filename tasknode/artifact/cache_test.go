package artifact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// store is a storage of programs by name.
type store struct {
	programs map[string][]byte
	fetches  atomic.Int64
	block    chan struct{} // if not nil, a fetch waits until it is closed or its context ends
}

func (s *store) fetch(ctx context.Context, name string) (io.ReadCloser, error) {
	s.fetches.Add(1)
	if s.block != nil {
		select {
		case <-s.block:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	data, ok := s.programs[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(iotest.OneByteReader(bytes.NewReader(data))), nil
}

func sumOf(s *store, name string) []byte {
	sum := sha256.Sum256(s.programs[name])
	return sum[:]
}

func openCache(t *testing.T, dir string, s *store, maxBytes int64) *Cache {
	t.Helper()
	c, err := Open(Config{Dir: dir, Fetch: s.fetch, MaxBytes: maxBytes})
	must.Do(t, err)
	t.Cleanup(c.Close)
	return c
}

// get gets a program from the cache and checks the file.
func get(t *testing.T, c *Cache, s *store, name string) (path string, release func()) {
	t.Helper()
	path, release, err := c.Get(t.Context(), name, sumOf(s, name))
	must.Do(t, err)
	data, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(data, s.programs[name]) {
		t.Errorf("program %s is %q, %v", name, data, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o555 {
		t.Errorf("mode of %s: %v, %v", path, info.Mode(), err)
	}
	return path, release
}

func (s *store) wantFetches(t *testing.T, want int64) {
	t.Helper()
	if got := s.fetches.Load(); got != want {
		t.Errorf("%d fetches, want %d", got, want)
	}
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.Do(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func abc() *store {
	return &store{programs: map[string][]byte{"a": []byte("aaaa"), "b": []byte("bbbb"), "c": []byte("cccc")}}
}

func TestProgramIsFetchedOnceAndSurvivesARestart(t *testing.T) {
	s, dir := abc(), t.TempDir()
	c := openCache(t, dir, s, 100)
	for range 3 {
		_, release := get(t, c, s, "a")
		release()
		release() // has no effect
	}
	s.wantFetches(t, 1)
	c.Close()
	must.Do(t, os.WriteFile(filepath.Join(dir, temporaryPrefix+"x"), []byte("half"), 0o600))
	c = openCache(t, dir, s, 100)
	_, release := get(t, c, s, "a")
	release()
	s.wantFetches(t, 1)
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("files are %v", got)
	}
}

func TestDamagedProgramIsFetchedAgain(t *testing.T) {
	s, dir := abc(), t.TempDir()
	c := openCache(t, dir, s, 100)
	path, release := get(t, c, s, "a")
	release()
	damage := func(data string) {
		t.Helper()
		must.Do(t, errors.Join(os.Chmod(path, 0o700), os.WriteFile(path, []byte(data), 0o700)))
	}
	damage("shrunk to nothing, or grown")
	_, release = get(t, c, s, "a")
	release()
	s.wantFetches(t, 2)
	must.Do(t, os.Remove(path))
	_, release = get(t, c, s, "a")
	release()
	s.wantFetches(t, 3)
	c.Close()
	damage("aaab") // the size is the same, so only a restart notices
	c = openCache(t, dir, s, 100)
	_, release = get(t, c, s, "a")
	release()
	s.wantFetches(t, 4)
	if c.mu.bytes != 4 {
		t.Errorf("%d bytes counted, want 4", c.mu.bytes)
	}
}

func TestLeastRecentlyUsedIsEvictedButNothingInUse(t *testing.T) {
	s, dir := abc(), t.TempDir()
	c := openCache(t, dir, s, 8)
	_, releaseA := get(t, c, s, "a")
	_, releaseB := get(t, c, s, "b")
	_, releaseC := get(t, c, s, "c") // beyond the limit, but all are in use
	if got := names(t, dir); len(got) != 3 {
		t.Errorf("files in use: %v", got)
	}
	releaseC()
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("files: %v", got)
	}
	releaseB()
	releaseA()
	_, releaseA = get(t, c, s, "a")
	releaseA()
	_, releaseC = get(t, c, s, "c") // evicts b
	releaseC()
	s.wantFetches(t, 4)
	_, releaseA = get(t, c, s, "a")
	releaseA()
	s.wantFetches(t, 4)
}

func TestOrderOfUseSurvivesARestart(t *testing.T) {
	s, dir := abc(), t.TempDir()
	c := openCache(t, dir, s, 100)
	for i, name := range []string{"b", "c", "a"} {
		path, release := get(t, c, s, name)
		release()
		used := time.Unix(int64(1000+i), 0)
		must.Do(t, os.Chtimes(path, used, used))
	}
	c.Close()
	c = openCache(t, dir, s, 8)
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("files: %v", got)
	}
	for _, name := range []string{"a", "c"} {
		_, release := get(t, c, s, name)
		release()
	}
	s.wantFetches(t, 3)
}

func TestConcurrentGetsShareOneFetch(t *testing.T) {
	s := abc()
	synctest.Test(t, func(t *testing.T) {
		s.block = make(chan struct{})
		c := openCache(t, t.TempDir(), s, 100)
		var waiting sync.WaitGroup
		for range 10 {
			waiting.Go(func() {
				_, release := get(t, c, s, "a")
				release()
			})
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := c.Get(cancelled, "a", sumOf(s, "a")); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		synctest.Wait()
		s.wantFetches(t, 1)
		close(s.block)
		waiting.Wait()
		s.wantFetches(t, 1)
	})
}

func TestAbandonedFetchIsCancelled(t *testing.T) {
	s := abc()
	synctest.Test(t, func(t *testing.T) {
		s.block = make(chan struct{})
		dir := t.TempDir()
		c := openCache(t, dir, s, 100)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := c.Get(ctx, "a", sumOf(s, "a")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		c.fetches.Wait() // hangs if the fetch was not cancelled
		close(s.block)
		_, release := get(t, c, s, "a")
		release()
		s.wantFetches(t, 2)
	})
}

// TestAbandonedFilesAreCounted gives up while a file of an earlier start is being checked, and while one is
// being fetched. The cache counts all files that it keeps.
func TestAbandonedFilesAreCounted(t *testing.T) {
	s, dir := abc(), t.TempDir()
	c := openCache(t, dir, s, 100)
	_, release := get(t, c, s, "a")
	release()
	c.Close()
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		c := openCache(t, dir, s, 100)
		for _, name := range []string{"a", "b"} {
			if _, release, err := c.Get(done, name, sumOf(s, name)); err == nil {
				release()
			}
		}
		c.fetches.Wait()
		var bytes int64
		for _, name := range names(t, dir) {
			info, err := os.Stat(filepath.Join(dir, name))
			must.Do(t, err)
			bytes += info.Size()
		}
		if bytes < 4 || c.mu.bytes != bytes {
			t.Fatalf("the cache counts %d bytes of %d", c.mu.bytes, bytes)
		}
		c.Close()
	}
}

func TestErrorsNameTheProgramAndLeaveNoFile(t *testing.T) {
	s, dir := abc(), t.TempDir()
	c := openCache(t, dir, s, 100)
	for _, f := range []struct {
		name string
		sum  []byte
		want string
	}{
		{"a", sumOf(s, "b"), "changed since the job was submitted"},
		{"none", sumOf(s, "b"), "file does not exist"},
		{"a", []byte{1}, "a checksum of 1 bytes, not 32"},
	} {
		_, _, err := c.Get(t.Context(), f.name, f.sum)
		if err == nil || !strings.Contains(err.Error(), f.want) || !strings.Contains(err.Error(), "program "+f.name) {
			t.Errorf("error %v, want %q", err, f.want)
		}
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("files: %v", got)
	}
	_, release := get(t, c, s, "b") // an error is not cached
	release()
	if _, err := Open(Config{MaxBytes: -1}); err == nil || strings.Count(err.Error(), "artifact: ") != 3 {
		t.Errorf("error %v", err)
	}
}

// TestConcurrentUseRespectsTheLimit gets programs at random. Every file has the
// requested content, and the cache is within its limit at the end.
func TestConcurrentUseRespectsTheLimit(t *testing.T) {
	s := &store{programs: make(map[string][]byte)}
	for i := range 8 {
		s.programs[string(rune('a'+i))] = bytes.Repeat([]byte{byte(i)}, i+1)
	}
	dir := t.TempDir()
	c := openCache(t, dir, s, 12)
	var users sync.WaitGroup
	for seed := range uint64(4) {
		users.Go(func() {
			random := rand.New(rand.NewPCG(seed, 1))
			for range 200 {
				_, release := get(t, c, s, string(rune('a'+random.IntN(8))))
				release()
			}
		})
	}
	users.Wait()
	var bytes int64
	for _, name := range names(t, dir) {
		info, err := os.Stat(filepath.Join(dir, name))
		must.Do(t, err)
		bytes += info.Size()
	}
	if bytes > 12 || bytes != c.mu.bytes {
		t.Errorf("%d bytes in files, %d counted", bytes, c.mu.bytes)
	}
}
