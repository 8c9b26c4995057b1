package hdfs

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage/hdfs/pipeline"
)

// failingWriter fails the next calls of Write as a pipeline whose DataNode has died. Blocks that are
// written again succeed.
type failingWriter struct{ failures int }

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.failures > 0 {
		w.failures--
		return 0, &pipeline.Error{Nodes: []*pipeline.DatanodeInfo{{}}, Cause: errors.New("DataNode died")}
	}
	return len(p), nil
}

func (w *failingWriter) addBlock() error         { return nil }
func (w *failingWriter) abandonBlock() error     { return nil }
func (w *failingWriter) complete() (bool, error) { return true, nil }
func (w *failingWriter) abort()                  {}
func (w *failingWriter) release()                {}

// newUpload returns an upload to a writer, with blocks of 1 MiB.
func newUpload(t *testing.T, w *failingWriter) *upload {
	fsys := &FS{cfg: Config{RetryTimeout: time.Minute}, log: slog.New(slog.DiscardHandler)}
	return &upload{
		fs: fsys, ctx: t.Context(), target: "/f", path: "/f", blockSize: 1 << 20, writer: w,
		spool: spool{memory: &spoolMemory{limit: 1 << 20}, dir: t.TempDir()},
	}
}

// TestUploadSurvivesFailuresInOneBlock loses a DataNode every two minutes while one block is written slowly.
func TestUploadSurvivesFailuresInOneBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(failingWriter)
		u := newUpload(t, w)
		for i := range 10 {
			w.failures = 1
			if err := u.write(make([]byte, 1000)); err != nil {
				t.Fatalf("failure %d: %v", i+1, err)
			}
			time.Sleep(2 * time.Minute)
		}
		if size := u.spool.size(); size != 10_000 {
			t.Errorf("%d bytes are written", size)
		}
	})
}

// TestUploadWithoutProgressEnds writes to DataNodes of which none works.
func TestUploadWithoutProgressEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(failingWriter)
		u := newUpload(t, w)
		must.Do(t, u.write(make([]byte, 1000)))
		w.failures = 1 << 30
		began := time.Now()
		if err := u.write(make([]byte, 1000)); err == nil {
			t.Fatal("written without DataNodes")
		}
		if took := time.Since(began); took < time.Minute || took > time.Minute+5*time.Second {
			t.Errorf("given up after %v", took)
		}
	})
}
