package hdfs

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestSpool compares two spools with shared memory with a bytes.Buffer each.
func TestSpool(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		memory := &spoolMemory{limit: int64(rapid.IntRange(0, 80).Draw(t, "limit"))}
		spools := [2]spool{{memory: memory, dir: dir}, {memory: memory, dir: dir}}
		var twins [2]bytes.Buffer
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			i := rapid.IntRange(0, 1).Draw(t, "spool")
			s, twin := &spools[i], &twins[i]
			if rapid.IntRange(0, 5).Draw(t, "step") == 0 {
				s.reset()
				twin.Reset()
			}
			p := rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(t, "bytes")
			twin.Write(p)
			if rapid.Bool().Draw(t, "whole") {
				must.Do(t, s.keep(slices.Clone(p)))
			} else if err := s.add(p); err != nil {
				t.Fatal(err)
			}
			clear(p)
			var got bytes.Buffer
			must.Do(t, s.copyTo(&got))
			if s.size() != int64(twin.Len()) || !bytes.Equal(got.Bytes(), twin.Bytes()) {
				t.Fatalf("spool holds %q, want %q", got.Bytes(), twin.Bytes())
			}
			if used := memory.used.Load(); used > memory.limit {
				t.Fatalf("%d bytes of %d are used", used, memory.limit)
			}
		}
		spools[0].close()
		spools[1].close()
		if used := memory.used.Load(); used != 0 {
			t.Fatalf("%d bytes are used after close", used)
		}
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

func TestSpoolNamesItsFolder(t *testing.T) {
	s := spool{memory: &spoolMemory{}, dir: t.TempDir() + "/none"}
	if err := s.add([]byte("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("spool in a folder that is not there: %v", err)
	}
}
