package minihdfs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestArchiveIsUsedIfItExists checks the class path of daemons. An archive that Java cannot use is ignored.
func TestArchiveIsUsedIfItExists(t *testing.T) {
	found, err := findJava()
	if err != nil {
		t.Skip(err)
	}
	jars := filepath.Join(t.TempDir(), "jars")
	if err := os.Mkdir(jars, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"b.jar", "a.jar"} {
		if err := os.WriteFile(filepath.Join(jars, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
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
			if err := os.WriteFile(archive, []byte("no archive"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, argv, err := j.command("C", []string{"x"})
		if err != nil {
			t.Fatal(err)
		}
		if uses := slices.Contains(argv, "-XX:SharedArchiveFile="+archive); uses != c.archive || !slices.Equal(argv[len(argv)-4:], []string{"-cp", c.classPath, "C", "x"}) {
			t.Errorf("archive %v: %q", c.archive, argv)
		}
	}
	if out, err := j.Run(t.Context(), "-version"); err != nil || strings.Contains(string(out), "rchive") {
		t.Errorf("with a file that is no archive: %v, %s", err, out)
	}
}
