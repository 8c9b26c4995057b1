package fault

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/mem"
	"github.com/hammr/hammr/storage/storagetest"
)

func TestWithoutRulesNothingChanges(t *testing.T) {
	storagetest.Run(t, func(t testing.TB) (storage.FS, string) {
		return New(mem.New(mem.Options{}), Options{}, Rule{Path: "/elsewhere", Err: ErrInjected}), "/"
	})
}

func newMem(t *testing.T, files map[string][]byte) *mem.FS {
	m := mem.New(mem.Options{})
	for name, data := range files {
		storagetest.Write(t, m, name, data)
	}
	return m
}

func TestNthCall(t *testing.T) {
	f := New(newMem(t, map[string][]byte{"/d/f": nil, "/d/g": nil}), Options{},
		Rule{Op: Stat, Path: "/d/*", Nth: 2, Times: 1, Err: fs.ErrPermission})
	for i, want := range []error{nil, fs.ErrPermission, nil, nil} {
		name := []string{"/d/f", "/d/g"}[i%2]
		if _, err := f.Stat(t.Context(), name); !errors.Is(err, want) {
			t.Errorf("call %d: %v, want %v", i+1, err, want)
		}
		if _, err := f.List(t.Context(), "/d"); err != nil {
			t.Errorf("another call: %v", err)
		}
	}
	if f.Calls() != 8 {
		t.Errorf("counted %d calls", f.Calls())
	}
}

func TestReadFailsAtOffset(t *testing.T) {
	data := storagetest.Pattern(100)
	f := New(newMem(t, map[string][]byte{"/f": data}), Options{}, Rule{Op: Read, Offset: 42, Err: ErrInjected})
	r, err := f.Open(t.Context(), "/f")
	must.Do(t, err)
	got, err := io.ReadAll(r)
	if !errors.Is(err, ErrInjected) || !bytes.Equal(got, data[:42]) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
	buf := make([]byte, 10)
	if n, err := r.ReadAt(buf, 30); n != 10 || err != nil {
		t.Errorf("before the offset: %d, %v", n, err)
	}
	if n, err := r.ReadAt(buf, 40); n != 2 || !errors.Is(err, ErrInjected) {
		t.Errorf("over the offset: %d, %v", n, err)
	}
	if n, err := r.ReadAt(buf, 50); n != 0 || !errors.Is(err, ErrInjected) {
		t.Errorf("behind the offset: %d, %v", n, err)
	}
}

func TestShortWrite(t *testing.T) {
	m := mem.New(mem.Options{})
	f := New(m, Options{}, Rule{Op: Write, Offset: 5, Err: io.ErrShortWrite})
	w, err := f.Create(t.Context(), "/f", storage.CreateOptions{})
	must.Do(t, err)
	if n, err := w.Write([]byte("abc")); n != 3 || err != nil {
		t.Errorf("first write: %d, %v", n, err)
	}
	if n, err := w.Write([]byte("defg")); n != 2 || !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("second write: %d, %v", n, err)
	}
	must.Do(t, w.Close())
	if got := storagetest.Read(t, m, "/f"); string(got) != "abcde" {
		t.Errorf("written: %q", got)
	}
}

func TestCorruption(t *testing.T) {
	data := storagetest.Pattern(50)
	spoilt := bytes.Clone(data)
	spoilt[17] = ^spoilt[17]

	f := New(newMem(t, map[string][]byte{"/f": data}), Options{}, Rule{Op: Read, Offset: 17, Corrupt: true, Times: 1})
	if got := storagetest.Read(t, f, "/f"); !bytes.Equal(got, spoilt) {
		t.Error("the first read is not spoilt at 17")
	}
	if got := storagetest.Read(t, f, "/f"); !bytes.Equal(got, data) {
		t.Error("the second read is spoilt")
	}

	m := mem.New(mem.Options{})
	written := bytes.Clone(data)
	storagetest.Write(t, New(m, Options{}, Rule{Op: Write, Offset: 17, Corrupt: true}), "/f", written)
	if got := storagetest.Read(t, m, "/f"); !bytes.Equal(got, spoilt) {
		t.Error("the file is not spoilt at 17")
	}
	if !bytes.Equal(written, data) {
		t.Error("the caller's bytes changed")
	}
}

func TestCrash(t *testing.T) {
	for _, after := range []bool{false, true} {
		f := New(newMem(t, map[string][]byte{"/f": nil}), Options{}, Rule{Op: Rename, Crash: true, After: after})
		if _, err := f.Stat(t.Context(), "/f"); err != nil {
			t.Fatal(err)
		}
		if err := f.Rename(t.Context(), "/f", "/g"); !errors.Is(err, ErrCrashed) || !f.Crashed() {
			t.Errorf("rename: %v", err)
		}
		if _, err := f.Stat(t.Context(), "/f"); !errors.Is(err, ErrCrashed) {
			t.Errorf("after the crash: %v", err)
		}
		if got := storagetest.Exists(t, f.Unwrap(), "/g"); got != after {
			t.Errorf("after=%v: renamed is %v", after, got)
		}
	}
}

func TestCrashKeepsWhatWasWritten(t *testing.T) {
	f := New(mem.New(mem.Options{}), Options{}, Rule{Op: Close, Crash: true})
	w, err := f.Create(t.Context(), "/f", storage.CreateOptions{})
	must.Do(t, err)
	if err := errors.Join(w.Close(), w.Abort()); !errors.Is(err, ErrCrashed) {
		t.Errorf("close: %v", err)
	}
	if !storagetest.Exists(t, f.Unwrap(), "/f") {
		t.Error("a crashed process removed its file")
	}
}

func TestLatency(t *testing.T) {
	var slept time.Duration
	sleep := func(ctx context.Context, d time.Duration) error { slept += d; return ctx.Err() }
	f := New(newMem(t, map[string][]byte{"/f": []byte("x")}), Options{Sleep: sleep},
		Rule{Op: Open, Latency: time.Second}, Rule{Latency: time.Minute})
	storagetest.Read(t, f, "/f")
	if want := time.Second + 3*time.Minute; slept != want { // open, read, read at the end of the file
		t.Errorf("slept %v, want %v", slept, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Stat(ctx, "/f"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while waiting: %v", err)
	}
}

// TestAskedAtEveryCall delays and fails calls through Options.Ask.
func TestAskedAtEveryCall(t *testing.T) {
	var late time.Duration
	var asked []Op
	f := New(newMem(t, map[string][]byte{"/f": []byte("abc")}), Options{
		Sleep: func(_ context.Context, d time.Duration) error { late += d; return nil },
		Ask: func(op Op, path string) (time.Duration, error) {
			asked = append(asked, op)
			if len(asked) == 3 && path == "/f" {
				return 0, ErrInjected
			}
			return time.Second, nil
		},
	})
	r, err := f.Open(t.Context(), "/f")
	must.Do(t, err)
	got := make([]byte, 2)
	if n, err := r.Read(got); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := r.Read(got); n != 0 || !errors.Is(err, ErrInjected) {
		t.Errorf("it does not fail: %d, %v", n, err)
	}
	if n, err := r.Read(got); n != 1 || err != nil || late != 3*time.Second {
		t.Errorf("%d, %v, late by %v", n, err, late)
	}
}
