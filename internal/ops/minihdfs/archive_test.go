package minihdfs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestArchiveIsUsedIfItExists checks the class path of daemons. An archive that Java cannot use is ignored.
func TestArchiveIsUsedIfItExists(t *testing.T) {
	found, err := findJava()
	if err != nil {
		t.Skip(err)
	}
	jars := filepath.Join(t.TempDir(), "jars")
	must.Do(t, os.Mkdir(jars, 0o755))
	for _, name := range []string{"b.jar", "a.jar"} {
		must.Do(t, os.WriteFile(filepath.Join(jars, name), nil, 0o644))
	}
	archive := archiveOf(jars, found)
	j := Java{Jars: jars, Conf: "/conf"}
	for _, c := range []struct {
		archive   bool
		classPath string
	}{
		{false, "/conf:" + jars + "/*"}, {true, jars + "/a.jar:" + jars + "/b.jar:/conf"},
	} {
		if c.archive {
			must.Do(t, os.WriteFile(archive, []byte("no archive"), 0o644))
		}
		_, argv, err := j.command("C", []string{"x"})
		must.Do(t, err)
		if uses := slices.Contains(argv, "-XX:SharedArchiveFile="+archive); uses != c.archive || !slices.Equal(argv[len(argv)-4:], []string{"-cp", c.classPath, "C", "x"}) {
			t.Errorf("archive %v: %q", c.archive, argv)
		}
	}
	if out, err := j.Run(t.Context(), "-version"); err != nil || strings.Contains(string(out), "rchive") {
		t.Errorf("with a file that is no archive: %v, %s", err, out)
	}
}
