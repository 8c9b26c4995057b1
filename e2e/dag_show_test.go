package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDAGShowOfAUsersProgram prints the graph of a user's program, with and without
// arguments, through hammr and directly.
func TestDAGShowOfAUsersProgram(t *testing.T) {
	t.Parallel()
	own := userProgram(t)
	in, out := newFile(t, "in", []byte("a b a\n")), filepath.Join(t.TempDir(), "out")
	same := done(t, "dag", "show", "wordcount").stdout
	if got := done(t, "dag", "show", own).stdout; got != same || !strings.Contains(got, "BUNDLE") {
		t.Errorf("the same program as a file:\n%s\nbundled:\n%s", got, same)
	}
	if got := done(t, "dag", "show", own, "-D", "mapreduce.job.reduces=3", in, out).stdout; !strings.Contains(got, "\nreduce  3 ") || !strings.Contains(got, "\nmap     1 ") {
		t.Errorf("with arguments:\n%s", got)
	}
	if got := done(t, "dag", "show", "--dot", "--maps", "2", own).stdout; !strings.HasPrefix(got, "// Job ") || !strings.Contains(got, "digraph job {") {
		t.Errorf("as a picture:\n%s", got)
	}
	run(t, "dag", "show", own, in).want(t, 2, "Usage: wordcount", "showed no graph and ended with exit code 2")
	run(t, "dag", "show", own, "/no/such", out).want(t, 1, "Input path does not exist: file:/no/such")
	run(t, "dag", "show", hammr, in, out).want(t, 2, "showed no graph")
}
