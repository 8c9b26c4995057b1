package e2e

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// place is a directory on the disk or on HDFS, with inputs in its subdirectory "in".
type place interface {
	// root returns the full name of the place.
	root() string
	// files returns all files below one of the place's directories, by relative name.
	// Directories are included, with a trailing slash.
	files(t *testing.T, dir string) map[string][]byte
}

type diskPlace string

func newDiskPlace(t *testing.T, inputs map[string][]byte) place {
	t.Helper()
	p := diskPlace(t.TempDir())
	must.Do(t, os.Mkdir(filepath.Join(string(p), "in"), 0o755))
	for name, content := range inputs {
		must.Do(t, os.WriteFile(filepath.Join(string(p), "in", name), content, 0o644))
	}
	return p
}

func (p diskPlace) root() string { return "file://" + string(p) }

func (p diskPlace) files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	found := make(map[string][]byte)
	tree := os.DirFS(filepath.Join(string(p), dir))
	must.Do(t, fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
		case entry.IsDir():
			found[name+"/"] = nil
		default:
			found[name], err = fs.ReadFile(tree, name)
		}
		return err
	}))
	return found
}

type hdfsPlace struct {
	*web
	dir string
}

// newHDFSPlace makes a place with files of several blocks, each of several packets.
func newHDFSPlace(t *testing.T, inputs map[string][]byte) place {
	t.Helper()
	w := newWeb(t, cluster(t))
	p := hdfsPlace{web: w, dir: w.dir()}
	for name, content := range inputs {
		w.put(p.dir+"/in/"+name, content, "blocksize=131072")
	}
	return p
}

func (p hdfsPlace) root() string { return p.c.URI() + p.dir }

func (p hdfsPlace) files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	found := make(map[string][]byte)
	w, top := newWeb(t, p.c), path.Join(p.dir, dir)
	var walk func(dir string)
	walk = func(dir string) {
		found[dir+"/"] = nil
		for _, e := range w.list(path.Join(top, dir)) {
			name := path.Join(dir, e.PathSuffix)
			if e.Type == "DIRECTORY" {
				walk(name)
			} else {
				found[name] = w.read(path.Join(top, name))
			}
		}
	}
	walk(".")
	return found
}
