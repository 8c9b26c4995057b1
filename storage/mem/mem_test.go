package mem

import (
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/storagetest"
)

func TestConformance(t *testing.T) {
	storagetest.Run(t, func(t testing.TB) (storage.FS, string) {
		return New(Options{BlockSize: 700, Replication: 2, Place: RoundRobin("a", "b", "c")}), "/"
	})
}

func TestConformanceWithoutConcat(t *testing.T) {
	storagetest.Run(t, func(t testing.TB) (storage.FS, string) {
		f := New(Options{NoConcat: true})
		must.Do(t, f.MkdirAll(t.Context(), "/deep/down"))
		return f, "/deep/down"
	})
}

func TestPlacementIsKeptOverRename(t *testing.T) {
	f := New(Options{BlockSize: 10, Replication: 2, Place: RoundRobin("a", "b", "c")})
	storagetest.Write(t, f, "/f", make([]byte, 35))
	before, err := f.Blocks(t.Context(), "/f", 0, 35)
	if err != nil || len(before) != 4 {
		t.Fatalf("%v, %v", before, err)
	}
	for i, b := range before {
		next := before[(i+1)%3]
		if len(b.Hosts) != 2 || b.Hosts[1] != next.Hosts[0] {
			t.Errorf("block %d on %v, the next one on %v", i, b.Hosts, next.Hosts)
		}
	}
	must.Do(t, f.Rename(t.Context(), "/f", "/g"))
	after, err := f.Blocks(t.Context(), "/g", 0, 35)
	if err != nil || !slices.EqualFunc(before, after, func(a, b storage.Block) bool { return slices.Equal(a.Hosts, b.Hosts) }) {
		t.Errorf("hosts moved from %v to %v, %v", before, after, err)
	}
}

func TestOpenFileOutlivesRemoval(t *testing.T) {
	f := New(Options{})
	storagetest.Write(t, f, "/f", []byte("data"))
	r, err := f.Open(t.Context(), "/f")
	must.Do(t, err)
	must.Do(t, f.Remove(t.Context(), "/f", false))
	buf := make([]byte, 4)
	if _, err := r.ReadAt(buf, 0); err != nil || string(buf) != "data" {
		t.Errorf("read %q, %v", buf, err)
	}
	must.Do(t, r.Close())
	if _, err := r.Read(buf); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("read of a closed file: %v", err)
	}
}

func TestCloseWithoutTheFile(t *testing.T) {
	f := New(Options{})
	w, err := f.Create(t.Context(), "/f", storage.CreateOptions{})
	must.Do(t, err)
	must.Do(t, f.Remove(t.Context(), "/f", false))
	storagetest.Write(t, f, "/f", []byte("another's"))
	if err := w.Close(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("close of a removed file: %v", err)
	}
	must.Do(t, w.Abort())
	if got := storagetest.Read(t, f, "/f"); string(got) != "another's" {
		t.Errorf("abort took another's file: %q", got)
	}
}

func TestConcatKeepsOpenReaders(t *testing.T) {
	f := New(Options{})
	for _, name := range []string{"/a", "/b", "/c"} {
		storagetest.Write(t, f, name, []byte(name))
	}
	if err := f.Concat(t.Context(), "/a", []string{"/b", "/b"}); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a source named twice: %v", err)
	}
	if err := f.Concat(t.Context(), "/a", []string{"/a"}); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("the target as source: %v", err)
	}
	r, err := f.Open(t.Context(), "/a")
	must.Do(t, err)
	must.Do(t, f.Concat(t.Context(), "/a", []string{"/b", "/c"}))
	buf := make([]byte, 10)
	if n, _ := r.Read(buf); string(buf[:n]) != "/a" {
		t.Errorf("an open reader sees %q", buf[:n])
	}
	if got := storagetest.Read(t, f, "/a"); string(got) != "/a/b/c" {
		t.Errorf("joined: %q", got)
	}
}
