//go:build deploy

package systemdtest

import (
	"archive/tar"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

var update = flag.Bool("update", false, "write the golden files")

// packageFile returns the package in a directory, old, again or new, with an extension.
func packageFile(t *testing.T, dir, extension string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(os.Getenv(packagesVariable), dir, "*"+extension))
	if err != nil || len(found) != 1 {
		t.Fatalf("packages %q, %v; want one", found, err)
	}
	return found[0]
}

// manualPage matches the lines of manual pages in a list of files. There is one for each command.
var manualPage = regexp.MustCompile(`(?m)^(.*/)hammr[a-z-]*\.1\.gz(.*)\n(?:.*\.1\.gz.*\n)*`)

// wantList compares a list of files with a golden file.
func wantList(t *testing.T, golden, list string) {
	t.Helper()
	got := manualPage.ReplaceAllString(list, "${1}hammr*.1.gz$2\n")
	golden = filepath.Join("testdata", golden)
	if *update {
		must.Do(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	must.Do(t, err)
	if got != string(want) {
		t.Errorf("got\n%swant (-update writes it)\n%s", got, want)
	}
}

// TestSamePackages checks that two builds of a commit give the same bytes.
func TestSamePackages(t *testing.T) {
	for _, extension := range []string{".deb", ".rpm"} {
		first, err := os.ReadFile(packageFile(t, "old", extension))
		must.Do(t, err)
		second, err := os.ReadFile(packageFile(t, "again", extension))
		must.Do(t, err)
		if !bytes.Equal(first, second) {
			t.Errorf("two builds of the %s differ", extension)
		}
		t.Logf("%s has %d bytes", extension, len(first))
	}
}

// TestDebFiles lists the files of the .deb, their modes and owners, and those of settings.
func TestDebFiles(t *testing.T) {
	deb := packageFile(t, "old", ".deb")
	var conffiles string
	eachFile(t, deb, "--ctrl-tarfile", func(h *tar.Header, content io.Reader) {
		if filepath.Base(h.Name) == "conffiles" {
			text, err := io.ReadAll(content)
			must.Do(t, err)
			conffiles = string(text)
		}
	})
	var list strings.Builder
	eachFile(t, deb, "--fsys-tarfile", func(h *tar.Header, _ io.Reader) {
		name := strings.TrimPrefix(h.Name, ".")
		kind := ""
		if strings.Contains(conffiles, name+"\n") {
			kind = " conffile"
		}
		if h.Typeflag != tar.TypeDir {
			fmt.Fprintf(&list, "%s %s:%s %s%s\n", h.FileInfo().Mode(), h.Uname, h.Gname, name, kind)
		}
	})
	wantList(t, "deb.golden", list.String())
}

// eachFile calls visit for the files of one of the two archives in a .deb.
func eachFile(t *testing.T, deb, archive string, visit func(h *tar.Header, content io.Reader)) {
	t.Helper()
	out, err := exec.Command("dpkg-deb", archive, deb).Output()
	must.Do(t, err)
	for r := tar.NewReader(bytes.NewReader(out)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		must.Do(t, err)
		visit(h, r)
	}
}

// TestRPMFiles lists the files of the .rpm; c marks settings, and n those that an upgrade keeps.
func TestRPMFiles(t *testing.T) {
	out, err := exec.Command("rpm", "--query", "--package", packageFile(t, "old", ".rpm"), "--queryformat",
		`[%{FILEMODES:perms} %{FILEUSERNAME}:%{FILEGROUPNAME} %{FILENAMES} %{FILEFLAGS:fflags}\n]`).Output()
	must.Do(t, err)
	wantList(t, "rpm.golden", string(out))
}

// TestLintian checks the .deb by Debian's rules.
func TestLintian(t *testing.T) {
	out, err := exec.Command("lintian", "--allow-root", "--fail-on=error,warning", "--no-cfg", packageFile(t, "old", ".deb")).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "" {
		t.Errorf("%v\n%s", err, out)
	}
}
