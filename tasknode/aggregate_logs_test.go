package tasknode

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/mem"
)

func TestLogsAreAggregated(t *testing.T) {
	dir, kept := t.TempDir(), mem.New(mem.Options{})
	k := &LogAggregator{
		Local: func(s *taskproc.Start) string { return filepath.Join(dir, s.AttemptId) },
		Resolve: func(_ context.Context, name string) (storage.FS, string, error) {
			return kept, strings.TrimPrefix(name, "mem://"), nil
		},
	}
	start := &taskproc.Start{AttemptId: attemptID, LogDir: "mem:///logs/job_1_0001"}
	if err := k.Aggregate(t.Context(), start); err != nil {
		t.Errorf("attempt without logs: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, attemptID), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"stdout": "hello\n", "stderr": ""} {
		if err := os.WriteFile(filepath.Join(dir, attemptID, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Aggregate(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	list, err := kept.List(t.Context(), "/logs/job_1_0001/"+attemptID)
	if err != nil || len(list) != 1 {
		t.Fatalf("kept %v, %v; want what was printed and no empty file", list, err)
	}
	f, err := kept.Open(t.Context(), list[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := io.ReadAll(f); string(text) != "hello\n" || err != nil {
		t.Errorf("aggregated %q, %v", text, err)
	}
	if err := k.Aggregate(t.Context(), start); err == nil || !strings.Contains(err.Error(), "mem:///logs/job_1_0001/"+attemptID+"/stdout") {
		t.Errorf("unwritable log: %v", err)
	}
}

func TestJobFilesStayUntilLogsAreAggregated(t *testing.T) {
	run(t, func(b *rig) {
		b.keep = make(chan struct{})
		task := b.start(taskproc.Kind_MAP)
		task.end(nil)
		<-b.reports // the last one does not wait for the logs
		b.removeJob()
		synctest.Wait()
		if got := b.files(); len(got) == 0 {
			t.Error("files removed before the logs were aggregated")
		}
		close(b.keep)
		synctest.Wait()
		if got := b.files(); len(got) != 0 {
			t.Errorf("files after the job: %v", got)
		}
	})
}
