package e2e

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/hammr/hammr/mr"
)

// TestManyJobsInOneProcess runs many jobs in this process, successful and failing ones. The
// numbers of file descriptors and goroutines must not grow.
func TestManyJobsInOneProcess(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	bad, _ := badLine(t)
	good := newFile(t, "good", []byte("a\nb\na\n"))
	job := func(i int) {
		in, code := good, mr.ExitDone
		if i%5 == 0 {
			in, code = bad, mr.ExitFailed
		}
		out := filepath.Join(t.TempDir(), strconv.Itoa(i))
		if got := mr.Run(t.Context(), programs["fails"](), []string{in, out}, io.Discard, io.Discard); got != code {
			t.Fatalf("job %d: exit code %d, want %d", i, got, code)
		}
	}
	for i := range 5 {
		job(i)
	}
	files, goroutines := openFiles(t), runtime.NumGoroutine()
	for i := range 50 {
		job(i)
	}
	waitUntil(t, "the last job's goroutines have ended", func() bool { return runtime.NumGoroutine() <= goroutines })
	if n := openFiles(t); n > files {
		t.Errorf("%d open files after 50 jobs, %d before", n, files)
	}
	wantNames(t, dir)
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(entries)
}
