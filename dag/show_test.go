package dag

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestPictures compares the output of Show and Dot for the samples with testdata/show. Run
// it with -update to rewrite those files, then review them.
func TestPictures(t *testing.T) {
	for name, g := range samples() {
		for suffix, write := range map[string]func(io.Writer) error{".txt": g.Show, ".dot": g.Dot} {
			var got bytes.Buffer
			must.Do(t, write(&got))
			compareGolden(t, filepath.Join("testdata", "show", name+suffix), got.Bytes())
		}
	}
}

func compareGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	must.Do(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs:\n%s", path, got)
	}
}

func TestPicturesOfInvalidGraphs(t *testing.T) {
	g := Graph{
		Stages: []Stage{{Name: "a\"\\\n", Nodes: -1}, {Name: "b", Slots: 9}},
		Edges:  []Edge{{From: "x", To: "b"}, {From: "a\"\\\n", To: "b", Channel: 7}},
	}
	var dot, text bytes.Buffer
	must.Do(t, errors.Join(g.Dot(&dot), g.Show(&text)))
	if want := `s0 [fillcolor="#d6e6f7", label="a\"\\\n\n0 x map slot"];`; !bytes.Contains(dot.Bytes(), []byte(want)) {
		t.Errorf("no %s in\n%s", want, dot.Bytes())
	}
	if !bytes.Contains(text.Bytes(), []byte("x (file, all-to-all)")) {
		t.Errorf("no edge from x in\n%s", text.Bytes())
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestPicturesReportWhatTheyCannotWrite(t *testing.T) {
	if MapReduce(1, 1).Show(fullDisk{}) == nil || MapReduce(1, 1).Dot(fullDisk{}) == nil {
		t.Error("a full disk goes unnoticed")
	}
}
