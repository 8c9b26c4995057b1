package drill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// readOutput reads a directory of output, which has the mark of a committed job. It ignores
// names that begin with "_" or ".", as Hadoop's input formats do. Outputs of drills are
// small, so they are compared in memory.
func readOutput(dir string) (output, error) {
	out := make(output)
	marked := false
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		marked = marked || d.Name() == "_SUCCESS"
		if strings.HasPrefix(d.Name(), "_") || strings.HasPrefix(d.Name(), ".") {
			return nil
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		out[name], err = os.ReadFile(path)
		return err
	})
	if err == nil && !marked {
		err = errors.New("_SUCCESS is missing")
	}
	if err != nil {
		return nil, fmt.Errorf("output %s: %w", dir, err)
	}
	return out, nil
}

// fetchOutput reads output from this machine or from another file system. The local copy is
// removed after it is read.
func (s *Session) fetchOutput(ctx context.Context, at dataPlace, out string) (output, error) {
	if !at.remote() {
		return readOutput(out)
	}
	local, err := os.MkdirTemp(s.dir, "got-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(local)
	got := filepath.Join(local, "out")
	if _, err := s.command(ctx, nil, "fs", "-get", out, got); err != nil {
		return nil, err
	}
	return readOutput(got)
}

// compare counts the expected bytes, and names each file that is missing, different or in
// excess. The lists are sorted, so that equal results give equal verdicts.
func compare(got, want output) (size int64, wrong []string) {
	for name, expected := range want {
		text, found := got[name]
		switch {
		case !found:
			wrong = append(wrong, name+" is missing")
		case !bytes.Equal(text, expected):
			wrong = append(wrong, fmt.Sprintf("%s has %d bytes that differ from the %d of an undisturbed run", name, len(text), len(expected)))
		}
		size += int64(len(expected))
	}
	for name := range got {
		if _, known := want[name]; !known {
			wrong = append(wrong, name+" is not expected")
		}
	}
	slices.Sort(wrong)
	return size, wrong
}
