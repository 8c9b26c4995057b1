package mrtest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/mr"
)

// Written is the output of the stages of a graph. It has files and not records, because the
// outputs may have different types.
type Written struct {
	Files    map[string]string // content by name, such as part-r-00000
	Counters mr.Counters       // counters of the finished graph
}

// Text returns the concatenated content of the main output's files.
func (w *Written) Text() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(w.Files)) {
		if strings.HasPrefix(name, "part-") {
			b.WriteString(w.Files[name])
		}
	}
	return b.String()
}

// RunGraph runs a graph on inputs, as Run runs a job. The test fails if the graph does,
// unless c.Fails is set; then it fails if the graph does not.
func RunGraph(t testing.TB, d *mr.Definition, c Case) *Written {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "output")
	written := &Written{Files: make(map[string]string), Counters: c.run(t, d.Name(), d, dir, out)}
	written.read(t, out)
	return written
}

// read reads the files of the output; a job that failed has none. Files that begin with _ or
// a dot are not output: _SUCCESS, checksums.
func (w *Written) read(t testing.TB, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "[^_.]*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		w.Files[filepath.Base(name)] = string(content)
	}
}
