package mrtest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/mr"
)

// Result is the outcome of a command.
type Result struct {
	Code   int    // exit code
	Stdout string // all that was written to standard output
	Stderr string // all that was written to standard error, logs included
}

// Exec runs a program with a command line, as a user would.
func Exec(t testing.TB, r mr.Runnable, args ...string) Result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := mr.Run(t.Context(), r, args, &stdout, &stderr)
	return Result{code, stdout.String(), stderr.String()}
}

// Command runs a program with a command line and returns the files of its output directory,
// which is the last of args. The test fails if the program does.
func Command(t testing.TB, r mr.Runnable, args ...string) string {
	t.Helper()
	if got := Exec(t, r, args...); got.Code != mr.ExitDone {
		t.Fatalf("%s: exit code %d\n%s", strings.Join(args, " "), got.Code, got.Stderr)
	}
	return strings.Join(Parts(t, args[len(args)-1]), "")
}

// Parts returns the content of each file of a job's main output, in order of name, which is
// the order of the partitions.
func Parts(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "part-*")) // sorted
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, string(content))
	}
	return parts
}

// File writes content to a new file of that name and returns its path. The test removes it
// at its end.
func File(t testing.TB, name, content string) string {
	t.Helper()
	return writeFile(t, t.TempDir(), name, content)
}
