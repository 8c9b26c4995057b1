package testcluster

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Output is what a job has written, by the names of its files, without marks such as
// _SUCCESS. Outputs of tests and drills are small, so they are compared in memory.
type Output map[string][]byte

// ReadOutput reads a directory of output, which has the mark of a committed job. It ignores
// names that begin with "_" or ".", as Hadoop's input formats do.
func ReadOutput(dir string) (Output, error) {
	out := make(Output)
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

// Compare counts the expected bytes, and names each file that is missing, different or in
// excess. The list is sorted, so that equal results give equal verdicts.
func (got Output) Compare(want Output) (size int64, wrong []string) {
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
