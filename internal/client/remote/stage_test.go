package remote

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/mem"
)

func content(t *testing.T, fsys storage.FS, name string) string {
	t.Helper()
	f, err := fsys.Open(t.Context(), name)
	must.Do(t, err)
	defer f.Close()
	data, err := io.ReadAll(f)
	must.Do(t, err)
	return string(data)
}

// only fails the test unless a directory contains this file and no other.
func only(t *testing.T, fsys storage.FS, file string) {
	t.Helper()
	list, err := fsys.List(t.Context(), path.Dir(file))
	if err != nil || len(list) != 1 || list[0].Path != file {
		t.Errorf("beside %s: %v, %v", file, list, err)
	}
}

func TestConcurrentPlaces(t *testing.T) {
	a := stagingArea{mem.New(mem.Options{}), "/staging"}
	const file, text = "/staging/artifacts/abc", "the program"
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			if err := a.place(t.Context(), file, int64(len(text)), strings.NewReader(text)); err != nil {
				t.Error(err)
			}
		})
	}
	clients.Wait()
	only(t, a.fsys, file)
	if got := content(t, a.fsys, file); got != text {
		t.Errorf("placed %q", got)
	}
}

func TestPlaceReplacesATruncatedFile(t *testing.T) {
	a := stagingArea{mem.New(mem.Options{}), "/staging"}
	const file = "/staging/artifacts/abc"
	for _, text := range []string{"half", "the whole", "the whole"} {
		must.Do(t, a.place(t.Context(), file, int64(len(text)), strings.NewReader(text)))
		only(t, a.fsys, file)
		if got := content(t, a.fsys, file); got != text {
			t.Errorf("placed %q", got)
		}
	}
}

// failing is a reader that fails in the middle.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestPlaceLeavesNoPartialFile(t *testing.T) {
	a := stagingArea{mem.New(mem.Options{}), "/staging"}
	broken := errors.New("broken")
	const file = "/staging/jobs/c-1/splits"
	err := a.place(t.Context(), file, 100, io.MultiReader(strings.NewReader("half"), failing{broken}))
	if !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
	if list, err := a.fsys.List(t.Context(), path.Dir(file)); err == nil && len(list) > 0 {
		t.Errorf("left: %v", list)
	}
}

// TestProgramIsStagedAgain removes a staged program, as masters do after a while. The same
// client stages it again for its next job.
func TestProgramIsStagedAgain(t *testing.T) {
	name := filepath.Join(t.TempDir(), "program")
	must.Do(t, os.WriteFile(name, []byte("the program"), 0o700))
	a := stagingArea{mem.New(mem.Options{}), "/staging"}
	c := &Client{cfg: Config{Program: name}}
	for range 2 {
		p, err := c.stageProgram(t.Context(), a)
		must.Do(t, err)
		file := strings.TrimPrefix(p.name, "mem:")
		file = file[strings.Index(file, "/staging"):]
		if got := content(t, a.fsys, file); got != "the program" {
			t.Errorf("staged %q", got)
		}
		must.Do(t, a.fsys.Remove(t.Context(), file, false))
	}
}
