package mr_test

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// inputDir creates a directory of files in-0, in-1 and so on with these contents.
func inputDir(t testing.TB, contents ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i, content := range contents {
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("in-%d", i)), []byte(content), 0o644))
	}
	return dir
}

// outputDir returns a directory name that does not exist yet.
func outputDir(t testing.TB) string { return filepath.Join(t.TempDir(), "out") }

// filesIn returns the content of each file below dir by name, without hidden files.
func filesIn(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	entries, err := os.ReadDir(dir)
	must.Do(t, err)
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must.Do(t, err)
		if !strings.HasPrefix(e.Name(), ".") {
			found[e.Name()] = string(content)
		}
	}
	return found
}

// wantFiles compares the files of a job's output, except _SUCCESS.
func wantFiles(t testing.TB, dir string, want map[string]string) {
	t.Helper()
	got := filesIn(t, dir)
	if _, ok := got["_SUCCESS"]; !ok {
		t.Errorf("no _SUCCESS in %s", dir)
	}
	delete(got, "_SUCCESS")
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("file %s: %q, but none is wanted", name, got[name])
		}
	}
	for name, content := range want {
		switch have, ok := got[name]; {
		case !ok:
			t.Errorf("no file %s", name)
		case have != content:
			t.Errorf("file %s: %q, want %q", name, have, content)
		}
	}
}

// fails runs a command and checks that it exits with code and prints each of phrases.
func fails(t testing.TB, r mr.Runnable, code int, args []string, phrases ...string) mrtest.Result {
	t.Helper()
	got := mrtest.Exec(t, r, args...)
	if got.Code != code {
		t.Errorf("exit code %d, want %d", got.Code, code)
	}
	for _, phrase := range phrases {
		if !strings.Contains(got.Stderr, phrase) {
			t.Errorf("no %q in\n%s", phrase, got.Stderr)
		}
	}
	return got
}

// gone fails the test if a directory exists.
func gone(t testing.TB, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err == nil {
		t.Errorf("%s is left, with %v", dir, entries)
	}
}

// Types that many tests use.
type (
	textEmitter  = mr.Emitter[string, string]
	countEmitter = mr.Emitter[string, int64]
)

// words emits each word with the value 1.
var words = mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out countEmitter) error {
	for w := range mr.Words(line) {
		out.Emit(string(w), 1)
	}
	return nil
})

// pairs emits the first word of a line as key and the second as value.
var pairs = mr.MapFunc(func(_ *mr.Task, _ int64, line string, out textEmitter) error {
	if f := strings.Fields(line); len(f) > 1 {
		out.Emit(f[0], f[1])
	}
	return nil
})

// lists joins the values of a key with commas.
var lists = mr.ReduceFunc(func(_ *mr.Task, key string, values iter.Seq[string], out textEmitter) error {
	out.Emit(key, joined(values))
	return nil
})

func joined[V any](values iter.Seq[V]) string {
	var b strings.Builder
	for v := range values {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, v)
	}
	return b.String()
}

// wordCount returns the job that most tests run.
func wordCount() *mr.Job[string, int64, string, int64] {
	return mr.New("wordcount", mr.TextLines(), words, mr.Sum[string, int64](), mr.TextOutput[string, int64]())
}
