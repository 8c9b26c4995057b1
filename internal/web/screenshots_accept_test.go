//go:build accept

package web

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// maxDiffering is what part of the pixels of a page may differ from the base commit without being shown.
const maxDiffering = .001

// TestAcceptScreenshots makes pictures of all pages in all views twice, which must be equal, and those of a
// base commit, with the same browser. It names the pages that differ, and writes a picture of old, new and
// difference of each. A page may be changed on purpose, so that is no failure.
//
// HAMMR_ACCEPT_BASE is the base. The default is where the branch has left origin/main, or the commit before
// if nothing has changed since then. HAMMR_ACCEPT_PICTURES is the directory that gets the pictures.
func TestAcceptScreenshots(t *testing.T) {
	dir := cmp.Or(os.Getenv("HAMMR_ACCEPT_PICTURES"), filepath.Join(os.TempDir(), "hammr-screenshots"))
	must.Do(t, os.RemoveAll(dir))
	root := command(t, "", "git", "rev-parse", "--show-toplevel")
	base := command(t, root, "git", "rev-parse", "--short", baseOf(t, root))
	tree := filepath.Join(t.TempDir(), "base")
	command(t, root, "git", "worktree", "add", "--quiet", "--detach", tree, base)
	t.Cleanup(func() { command(t, root, "git", "worktree", "remove", "--force", tree) })

	now, err := takePictures(t, root)
	again, err2 := takePictures(t, root)
	must.Do(t, cmp.Or(err, err2))
	if len(now) == 0 {
		fmt.Println("screenshots: not run: Chromium (apt-get install chromium), or Maven to fetch axe-core, is missing")
		return
	}
	for _, c := range changes(t, now, again, 0, filepath.Join(dir, "unstable")) {
		t.Errorf("two runs of the same commit: %s", c)
	}
	old, err := takePictures(t, tree)
	if len(old) == 0 {
		t.Fatalf("no pictures of %s: %v", base, err)
	}
	if err != nil {
		fmt.Println(err) // the problems of the base are those of the past
	}
	changed := changes(t, old, now, maxDiffering, dir)
	for _, c := range changed {
		fmt.Println(c)
	}
	fmt.Printf("figure: %d of %d pictures differ from commit %s", len(changed), len(now), base)
	if len(changed) > 0 {
		fmt.Printf(": see %s", dir)
	}
	fmt.Println()
}

// baseOf returns the commit to compare with.
func baseOf(t *testing.T, root string) string {
	if base := os.Getenv("HAMMR_ACCEPT_BASE"); base != "" {
		return base
	}
	head := command(t, root, "git", "rev-parse", "HEAD")
	base := head
	if command(t, root, "git", "branch", "--remotes", "--list", "origin/main") != "" {
		base = command(t, root, "git", "merge-base", "HEAD", "origin/main")
	}
	if base == head && command(t, root, "git", "status", "--porcelain") == "" {
		return "HEAD~1"
	}
	return base
}

// command runs a command and returns its output.
func command(t *testing.T, dir string, words ...string) string {
	t.Helper()
	c := exec.Command(words[0], words[1:]...)
	c.Dir, c.Stderr = dir, os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(words, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// takePictures makes the pictures of a source tree and returns them by the names of their files: none if a
// tool is missing. The error says what is wrong with the pages.
func takePictures(t *testing.T, tree string) (map[string][]byte, error) {
	dir := t.TempDir()
	c := exec.Command("go", "test", "-count", "1", "-run", "^TestPagesInBrowser$", "./internal/web")
	c.Dir = tree
	c.Env = append(os.Environ(), picturesVariable+"="+dir)
	out, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("pages of %s: %w\n%s", tree, err, out)
	}
	files, err2 := filepath.Glob(filepath.Join(dir, "*.png"))
	taken := make(map[string][]byte)
	for _, file := range files {
		data, err := os.ReadFile(file)
		err2 = cmp.Or(err2, err)
		taken[filepath.Base(file)] = data
	}
	return taken, cmp.Or(err, err2)
}

// changes returns a line for each picture that is new or missing, or of which more than a part differs. It
// writes a picture of old, new and difference.
func changes(t *testing.T, old, now map[string][]byte, most float64, dir string) (lines []string) {
	all := maps.Clone(old)
	maps.Copy(all, now)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		page := strings.TrimSuffix(name, ".png")
		switch {
		case old[name] == nil:
			lines = append(lines, page+" is new")
		case now[name] == nil:
			lines = append(lines, page+" is missing")
		case !bytes.Equal(old[name], now[name]):
			part, shown := comparePictures(decodePicture(t, old[name]), decodePicture(t, now[name]))
			if part <= most {
				continue
			}
			var out bytes.Buffer
			must.Do(t, png.Encode(&out, shown))
			savePicture(t, filepath.Join(dir, name), out.Bytes())
			lines = append(lines, fmt.Sprintf("%s: %.3g %% of the pixels differ: %s", page, 100*part, filepath.Join(dir, name)))
		}
	}
	return lines
}

func decodePicture(t *testing.T, data []byte) image.Image {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(data))
	must.Do(t, err)
	return m
}
