package rig

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/chaos/guard"
	"github.com/hammr/hammr/internal/testing/must"
)

// files makes a tasknode's directory with these files.
func files(t *testing.T, names ...string) *Rig {
	t.Helper()
	r := &Rig{cfg: Config{Dir: t.TempDir()}}
	for _, name := range names {
		path := filepath.Join(r.tasksDir("n1"), name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("0123456789"), 0o644)))
	}
	return r
}

// TestCorruptChangesOneByteOfASegment checks that Corrupt does not touch the files of running
// attempts.
func TestCorruptChangesOneByteOfASegment(t *testing.T) {
	r := files(t, "job_1/m_000000/attempt_1/edge0.out", "job_1/m_000000/attempt_1/edge0.out.index", "job_1/m_000000/attempt_1.retained",
		"job_1/m_000000/attempt_2.tmp/edge0.out", "job_1/m_000000/attempt_2.tmp/edge0.out.index",
		"job_1/logs/m_000000/attempt_1/stdout", "job_2/m_000000/attempt_3/x")
	if n := r.Spills("n1", "job_1"); n != 2 {
		t.Errorf("%d spills", n)
	}
	file, err := r.Corrupt("n1", 5)
	if err != nil || filepath.Base(filepath.Dir(file)) != "attempt_1" {
		t.Fatalf("%s: %v", file, err)
	}
	text, err := os.ReadFile(file)
	if err != nil || len(text) != 10 || bytes.Equal(text, []byte("0123456789")) || !bytes.HasPrefix(text, []byte("01234")) || !bytes.HasSuffix(text, []byte("6789")) {
		t.Errorf("%v: %q", err, text)
	}
	if _, err := r.Corrupt("n2", 0); !errors.Is(err, guard.ErrNoSegment) {
		t.Errorf("a tasknode without segments: %v", err)
	}
}

// TestNoNamespaces checks that faults which need namespaces are refused without them.
func TestNoNamespaces(t *testing.T) {
	if Isolated() {
		t.Skip("this process has them")
	}
	r := &Rig{cfg: Config{Network: true}}
	if err := r.isolate(nil); err == nil {
		t.Error("networks are made outside of namespaces")
	}
	if err := EnterIsolation(); err == nil {
		t.Error("namespaces are entered that are not there")
	}
	for name, err := range map[string]error{"partition": r.Partition("n1"), "full disk": r.FillDisk("n1")} {
		if err == nil {
			t.Errorf("%s without namespaces", name)
		}
	}
}
