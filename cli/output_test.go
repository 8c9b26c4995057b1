package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// failingWriter is the standard output on a device that takes nothing.
type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// TestFullOutput lets all commands print their help, and some their results, to a full disk and to
// a pipe without a reader.
func TestFullOutput(t *testing.T) {
	lines := [][]string{
		{"version"}, {"conf"}, {"fs", "-ls", "/"}, {"fs", "-help"}, {"run"}, {"dag", "wordcount"},
		{"sim", "run", "--jobs", "1", "--nodes", "1"},
	}
	var walk func(cmd *cobra.Command, path []string)
	walk = func(cmd *cobra.Command, path []string) {
		lines = append(lines, append(path[:len(path):len(path)], "--help"))
		for _, child := range cmd.Commands() {
			walk(child, append(path[:len(path):len(path)], child.Name()))
		}
	}
	walk(newRoot(), nil)
	tried := 0
	for _, args := range lines {
		if execute(args, io.Discard, io.Discard) != exitDone { // it prints nothing without more arguments
			continue
		}
		tried++
		var stderr bytes.Buffer
		code := execute(args, failingWriter{fmt.Errorf("write: %w", syscall.ENOSPC)}, &stderr)
		if code != exitFailed || strings.Count(stderr.String(), syscall.ENOSPC.Error()) != 1 {
			t.Errorf("hammr %s on a full disk: exit code %d, %q", strings.Join(args, " "), code, &stderr)
		}
		stderr.Reset()
		code = execute(args, failingWriter{fmt.Errorf("write: %w", syscall.EPIPE)}, &stderr)
		if code != exitFailed || strings.Contains(stderr.String(), syscall.EPIPE.Error()) {
			t.Errorf("hammr %s without a reader: exit code %d, %q", strings.Join(args, " "), code, &stderr)
		}
	}
	if tried < 60 {
		t.Errorf("%d of %d command lines were tried", tried, len(lines))
	}
}
