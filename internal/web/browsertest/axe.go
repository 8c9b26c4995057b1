package browsertest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// The version of axe-core, and the SHA-256 of its package. It is fetched and not a part of this
// repository, because its licence (MPL 2.0) is another.
const (
	axePackage = "axe-core@4.11.0"
	axeSum     = "39bed7d72308f6d620789c169d699bfd7e8da80f65b545821a6b2215c3e83107"
	axeScript  = "package/axe.min.js"
)

// axe reads axe-core once.
var axe = sync.OnceValues(readAxe)

// LoadAxe skips the test if axe-core is missing and cannot be fetched.
func LoadAxe(t testing.TB) {
	t.Helper()
	if _, err := axe(); err != nil {
		missing(t, "axe-core: %v", err)
	}
}

// Axe returns what axe-core finds wrong with the page, by the rules of WCAG 2.2 A and AA and its best
// practices.
func (tab *Tab) Axe() []string {
	tab.t.Helper()
	script, err := axe()
	if err != nil {
		missing(tab.t, "axe-core: %v", err)
	}
	return Eval[[]string](tab, script+`;
axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.flatMap(v =>
  v.nodes.slice(0, 3).map(n => v.id + ": " + v.help + ": " + n.html.slice(0, 160) + " " + n.any.map(a => a.message).join("; ").slice(0, 200))))`)
}

// readAxe returns the script of axe-core.
func readAxe() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	name := filepath.Join(cache, "hammr", strings.Replace(axePackage, "@", "-", 1)+".tgz")
	if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
		if err := fetchAxe(name); err != nil {
			return "", err
		}
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != axeSum {
		return "", fmt.Errorf("%s has the SHA-256 %x, not %s; remove it", name, sum, axeSum)
	}
	return unpack(data)
}

// fetchAxe makes npm write the package to a file. It renames the file at the end, so that an existing
// one is complete.
func fetchAxe(name string) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("npm fetches it; install npm: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(name), "axe-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "pack", "--silent", axePackage)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm pack %s: %w: %.500s", axePackage, err, out)
	}
	return os.Rename(filepath.Join(dir, filepath.Base(name)), name)
}

// unpack returns the script in a package.
func unpack(data []byte) (string, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	for files := tar.NewReader(z); ; {
		file, err := files.Next()
		if err != nil {
			return "", fmt.Errorf("%s in %s: %w", axeScript, axePackage, err)
		}
		if file.Name == axeScript {
			script, err := io.ReadAll(files)
			return string(script), err
		}
	}
}
