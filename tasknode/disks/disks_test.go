package disks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a Set of two directories whose disks are faked.
type rig struct {
	t    *testing.T
	dirs []string // a and b
	set  *Set
	end  context.CancelFunc
	ran  sync.WaitGroup

	mu   sync.Mutex
	errs map[string]error         // of writes, by directory
	hang map[string]chan struct{} // writes wait until it is closed
	free map[string]int64         // bytes
	time map[string]time.Duration // that a write takes
}

func newRig(t *testing.T) *rig {
	dir := t.TempDir()
	return &rig{
		t: t, dirs: []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")},
		errs: make(map[string]error), hang: make(map[string]chan struct{}), time: make(map[string]time.Duration), free: map[string]int64{"a": 100, "b": 90},
	}
}

// withRig runs a test with directories that are probed every second.
func withRig(t *testing.T, play func(r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		must.Do(t, r.open())
		defer r.close()
		play(r)
	})
}

func (r *rig) open() (err error) {
	r.set, err = Open(Config{
		Dirs: r.dirs, MinFree: 10, Interval: time.Second, WriteTimeout: 5 * time.Second, SlowProbe: 2 * time.Second,
		Probe: func(dir string) error {
			r.mu.Lock()
			hang, err, delay := r.hang[filepath.Base(dir)], r.errs[filepath.Base(dir)], r.time[filepath.Base(dir)]
			r.mu.Unlock()
			time.Sleep(delay)
			if hang != nil {
				<-hang
			}
			return err
		},
		Space: func(dir string) (free, total int64, err error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.free[filepath.Base(dir)], 1000, nil
		},
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.t.Context())
	r.end = cancel
	r.ran.Go(func() { r.set.Run(ctx) })
	return nil
}

func (r *rig) close() {
	r.end()
	r.ran.Wait()
	if err := r.set.Close(); err != nil {
		r.t.Error(err)
	}
}

// change changes the disks and waits for the next probe.
func (r *rig) change(what func()) {
	r.mu.Lock()
	what()
	r.mu.Unlock()
	time.Sleep(time.Second)
	synctest.Wait()
}

// take acquires a directory for an attempt and compares its name; "" means none.
func (r *rig) take(want string) (release func()) {
	r.t.Helper()
	dir, release, err := r.set.Acquire()
	if want == "" {
		if err == nil || r.set.Check() == nil {
			r.t.Errorf("attempt got %s, want no directory", dir)
		}
		return nil
	}
	if err != nil || filepath.Base(dir) != want || r.set.Check() != nil {
		r.t.Errorf("attempt got %q, %v; want %s", dir, err, want)
	}
	return release
}

func TestAttemptsGoWhereMostSpaceIsFree(t *testing.T) {
	withRig(t, func(r *rig) {
		release := r.take("a") // 100 against 90
		r.take("b")            // 50 against 90
		r.take("a")            // 50 against 45
		r.take("b")            // 33 against 45
		release()
		r.take("a") // 50 against 30
		r.change(func() { r.free["b"] = 500 })
		r.take("b") // 33 against 166
	})
}

func TestBrokenDirectoryIsNotUsedUntilItRecovers(t *testing.T) {
	withRig(t, func(r *rig) {
		r.change(func() { r.errs["a"] = syscall.EROFS })
		r.take("b")
		if s := r.set.States()[0]; !errors.Is(s.Err, syscall.EROFS) || !strings.Contains(s.Err.Error(), r.dirs[0]) || s.Full {
			t.Errorf("state %+v", s)
		}
		r.change(func() { r.errs["b"] = syscall.EIO })
		r.take("")
		if err := r.set.Check(); !errors.Is(err, syscall.EROFS) || !errors.Is(err, syscall.EIO) {
			t.Errorf("Check: %v, want the errors of both directories", err)
		}
		r.change(func() { delete(r.errs, "a") })
		r.take("a")
	})
}

func TestFullDirectoryTakesNoMore(t *testing.T) {
	withRig(t, func(r *rig) {
		r.change(func() { r.free["a"], r.free["b"] = 9, 10 })
		r.take("b")
		s := r.set.States()
		if !s[0].Full || s[0].Free != 9 || s[0].Total != 1000 || !strings.Contains(s[0].Err.Error(), "too full") || s[1].Err != nil {
			t.Errorf("states %+v", s)
		}
		r.change(func() { r.free["b"] = 0 })
		r.take("")
		r.change(func() { r.free["a"] = 11 })
		r.take("a")
		r.set.SetMinFree(12)
		r.take("")
		r.set.SetMinFree(11)
		r.take("a")
	})
}

// probes lets n probes of a slow directory pass.
func (r *rig) probes(n int, delay time.Duration) {
	time.Sleep(time.Duration(n) * max(delay, time.Second))
	synctest.Wait()
}

func (r *rig) slow(name string, delay time.Duration) { r.change(func() { r.time[name] = delay }) }

func TestSlowDirectoryIsNotUsedUntilItIsFast(t *testing.T) {
	withRig(t, func(r *rig) {
		const slow = 3 * time.Second
		r.slow("a", slow)
		r.probes(2, slow)
		r.take("a")() // two slow probes may be a busy disk
		r.probes(2, slow)
		r.take("b")()
		s := r.set.States()[0]
		if !s.Slow || s.Latency != slow || s.Full || s.Err == nil || !strings.Contains(s.Err.Error(), r.dirs[0]+": too slow: 3 writes in a row took longer than 2s; the latest took 3s") {
			t.Errorf("state %+v", s)
		}
		if s := r.set.States()[1]; s.Slow || s.Err != nil || s.Latency != 0 {
			t.Errorf("state of the other %+v", s)
		}
		r.slow("a", 1500*time.Millisecond) // below the limit, and above its half
		r.probes(10, 2*time.Second)
		r.take("b")()
		r.slow("a", time.Second)
		r.probes(2, time.Second)
		r.take("b")()
		r.probes(5, time.Second)
		r.take("a")()
		if s := r.set.States()[0]; s.Slow || s.Err != nil {
			t.Errorf("state %+v", s)
		}
	})
}

func TestSomeSlowProbesExcludeNoDirectory(t *testing.T) {
	withRig(t, func(r *rig) {
		for range 5 {
			r.slow("a", 3*time.Second)
			r.probes(2, 3*time.Second)
			r.slow("a", 0)
			r.probes(4, time.Second)
			r.take("a")()
		}
	})
}

func TestLastDirectoryIsUsedAlsoIfItIsSlow(t *testing.T) {
	withRig(t, func(r *rig) {
		const slow = 3 * time.Second
		r.slow("a", slow)
		r.slow("b", slow)
		r.probes(6, slow)
		r.take("a")
		r.take("b")
		for _, s := range r.set.States() {
			if !s.Slow || s.Err != nil {
				t.Errorf("state %+v, want slow and in use", s)
			}
		}
		r.slow("b", 0)
		r.probes(8, time.Second)
		r.take("b")
		r.take("b")
		r.change(func() { r.errs["b"] = syscall.EIO })
		r.take("a") // slow is better than broken
		r.change(func() { delete(r.errs, "b"); r.free["b"] = 5 })
		r.take("a") // and better than full
	})
}

func TestHangingDiskBlocksNoOther(t *testing.T) {
	withRig(t, func(r *rig) {
		proceed := make(chan struct{})
		r.change(func() { r.hang["a"] = proceed })
		r.take("a") // it may only be slow
		time.Sleep(6 * time.Second)
		r.take("b")
		if err := r.set.States()[0].Err; err == nil || !strings.Contains(err.Error(), "has not ended after 5s") {
			t.Errorf("state error %v", err)
		}
		r.change(func() { delete(r.hang, "a"); close(proceed) })
		r.take("a") // 50 against 45
	})
}

func TestDirectoryThatRecoversIsEmptied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		if err := os.WriteFile(r.dirs[0], nil, 0o600); err != nil { // a file is in the way
			t.Fatal(err)
		}
		must.Do(t, r.open())
		defer r.close()
		r.take("b")
		r.change(func() {
			if err := errors.Join(os.Remove(r.dirs[0]), os.MkdirAll(filepath.Join(r.dirs[0], "job_1_0001", "attempt"), 0o700),
				os.Mkdir(filepath.Join(r.dirs[0], "other"), 0o700)); err != nil {
				t.Fatal(err)
			}
		})
		r.take("a")
		if _, err := os.Stat(filepath.Join(r.dirs[0], "job_1_0001")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("job directory: %v, want none", err)
		}
		if _, err := os.Stat(filepath.Join(r.dirs[0], "other")); err != nil {
			t.Errorf("other directory: %v", err)
		}
	})
}

func TestDirectoriesAtTheStart(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	first, err := Open(Config{Dirs: []string{filepath.Join(dir, "a"), file}})
	must.Do(t, err)
	if s := first.States(); s[0].Err != nil || s[0].Free == 0 || s[0].Total < s[0].Free || s[1].Err == nil {
		t.Errorf("states %+v", s)
	}
	if _, err := Open(Config{Dirs: []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}}); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), dir+"/a") {
		t.Errorf("directory of another tasknode: %v", err)
	}
	must.Do(t, first.Close())
	again, err := Open(Config{Dirs: []string{filepath.Join(dir, "a")}})
	must.Do(t, err)
	must.Do(t, again.Close())
	if _, err := Open(Config{Dirs: []string{file}}); !errors.Is(err, syscall.ENOTDIR) || !strings.Contains(err.Error(), file) {
		t.Errorf("only directory is broken: %v", err)
	}
	_, err = Open(Config{Dirs: []string{"x", "x/"}, MinFree: -1, Interval: -1, SlowProbes: -1})
	for _, want := range []string{"x/ is given twice", "negative MinFree", "negative time", "negative number of probes"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in %v", want, err)
		}
	}
}

// TestLockOfAKilledProcessIsAwaited locks a file whose owner is about to close it.
func TestLockOfAKilledProcessIsAwaited(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.Create(name)
		must.Do(t, err)
		t.Cleanup(func() { f.Close() })
		return f
	}
	first, second := open(), open()
	must.Do(t, Lock(first))
	done := make(chan error)
	go func() { done <- Lock(second) }()
	must.Do(t, first.Close())
	if err := <-done; err != nil {
		t.Error(err)
	}
}
