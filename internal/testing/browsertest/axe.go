package browsertest

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// The artifact of Maven that has axe-core, and its SHA-256. It is fetched and not a part of this
// repository, because its licence (MPL 2.0) is another.
const (
	axeArtifact = "com.deque.html.axe-core:selenium:4.10.1"
	axeFile     = "selenium-4.10.1.jar"
	axeSum      = "5e4a306c2c785bc2997427724222178e7005b040cacbeb95468a329a5c60c3b0"
	axeScript   = "axe.min.js"
	mavenCopy   = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
)

// How long and how often Maven may try to fetch axe-core. Without a cache it takes 40 s on an idle machine.
const (
	fetchTimeout = 8 * time.Minute
	fetchTries   = 3
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
	name := filepath.Join(cache, "hammr", "axe-core-"+axeFile)
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

// fetchAxe makes Maven write the artifact to a file. It renames the file at the end, so that an
// existing one is complete.
func fetchAxe(name string) error {
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return fmt.Errorf("Maven fetches it; install maven: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(name), "axe-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	for tries := 1; ; tries++ {
		cmd := exec.CommandContext(ctx, mvn, "--batch-mode", "--quiet", mavenCopy, "-Dartifact="+axeArtifact, "-DoutputDirectory="+dir)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err == nil {
			break
		}
		if tries == fetchTries || ctx.Err() != nil {
			return fmt.Errorf("mvn copies %s: %w: %.500s", axeArtifact, err, out)
		}
	}
	return os.Rename(filepath.Join(dir, axeFile), name)
}

// unpack returns the script in the artifact.
func unpack(data []byte) (string, error) {
	jar, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return "", err
	}
	f, err := jar.Open(axeScript)
	if err != nil {
		return "", fmt.Errorf("%s: %w", axeArtifact, err)
	}
	defer f.Close()
	script, err := io.ReadAll(f)
	return string(script), err
}
