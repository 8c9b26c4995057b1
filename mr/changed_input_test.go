package mr_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// TestInputThatChangesDuringAJob changes the second file of an input while the first is read. A
// file that has grown is read to its length at the submission. Another file fails the job.
func TestInputThatChangesDuringAJob(t *testing.T) {
	replace := func(name, content string) error {
		if err := os.WriteFile(name+".new", []byte(content), 0o644); err != nil {
			return err
		}
		return os.Rename(name+".new", name)
	}
	for what, c := range map[string]struct {
		change func(name string) error
		want   string // error, "" for none
	}{
		"grown":     {func(name string) error { return os.WriteFile(name, []byte("b\nb\n"), 0o644) }, ""},
		"truncated": {func(name string) error { return os.Truncate(name, 0) }, "it had 2 bytes and has 0"},
		"replaced":  {func(name string) error { return replace(name, "c\n") }, "another file has its name"},
	} {
		t.Run(what, func(t *testing.T) {
			in := inputDir(t, "a\n", "b\n")
			files, err := filepath.Glob(filepath.Join(in, "*"))
			if err != nil || len(files) != 2 {
				t.Fatal(files, err)
			}
			var once sync.Once
			job := mr.New("changing", mr.TextLines(), mr.MapFunc(func(task *mr.Task, offset int64, line []byte, out countEmitter) (err error) {
				once.Do(func() { err = c.change(files[1]) })
				if err != nil {
					return err
				}
				return words.Map(task, offset, line, out)
			}), mr.Sum[string, int64](), mr.TextOutput[string, int64]())
			args := []string{"--workers=1", "-Dhammr.input.combine=false", in, outputDir(t)}
			if c.want == "" {
				if got := mrtest.Command(t, job, args...); got != "a\t1\nb\t1\n" {
					t.Errorf("output %q", got)
				}
				return
			}
			got := mrtest.Exec(t, job, args...)
			if got.Code != mr.ExitFailed || !strings.Contains(got.Stderr, c.want) || !strings.Contains(got.Stderr, files[1]) || !strings.Contains(got.Stderr, "submit the job again") {
				t.Errorf("exit code %d\n%s", got.Code, got.Stderr)
			}
			if strings.Contains(got.Stderr, "failed 4 times") {
				t.Errorf("the task was tried again\n%s", got.Stderr)
			}
		})
	}
}
