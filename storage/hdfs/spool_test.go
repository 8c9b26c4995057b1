package hdfs

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"testing"

	"pgregory.net/rapid"
)

// TestSpool compares a spool with a bytes.Buffer.
func TestSpool(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := spool{limit: rapid.IntRange(0, 40).Draw(t, "limit"), dir: dir}
		defer s.close()
		var twin bytes.Buffer
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			if rapid.IntRange(0, 5).Draw(t, "step") == 0 {
				s.reset()
				twin.Reset()
			}
			p := rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(t, "bytes")
			if err := s.add(p); err != nil {
				t.Fatal(err)
			}
			twin.Write(p)
			var got bytes.Buffer
			if err := s.copyTo(&got); err != nil {
				t.Fatal(err)
			}
			if s.size() != int64(twin.Len()) || !bytes.Equal(got.Bytes(), twin.Bytes()) {
				t.Fatalf("spool holds %q, want %q", got.Bytes(), twin.Bytes())
			}
		}
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

func TestSpoolNamesItsFolder(t *testing.T) {
	s := spool{dir: t.TempDir() + "/none"}
	if err := s.add([]byte("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("spool in a folder that is not there: %v", err)
	}
}
