package mr_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/mr"
)

// TestFileNameThatIsNotUTF8 reads a directory with such a file, which messages cannot carry as it
// is.
func TestFileNameThatIsNotUTF8(t *testing.T) {
	in := inputDir(t, "a b\n", "b\n")
	if err := os.WriteFile(filepath.Join(in, "latin-\xe9t\xe9"), []byte("a c\n"), 0o644); err != nil {
		t.Skipf("the file system has no such names: %v", err)
	}
	var stderr bytes.Buffer
	out := outputDir(t)
	if code := mr.Run(t.Context(), wordCount(), []string{in, out}, &stderr, &stderr); code != mr.ExitDone {
		t.Fatalf("exit code %d:\n%s", code, &stderr)
	}
	if got := filesIn(t, out)["part-r-00000"]; got != "a\t2\nb\t2\nc\t1\n" {
		t.Errorf("counts %q", got)
	}
}
