package tasknoded

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/fsconf"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/tasknode/artifact"
)

// newPrograms makes what a daemon needs to load programs from a staging directory.
func newPrograms(t *testing.T, staging string, maxBytes int64) (*Daemon, *stagedPrograms) {
	t.Helper()
	d := &Daemon{cfg: Config{Common: daemon.Common{Conf: conf.New()}}}
	var err error
	if d.files, err = fsconf.NewRouter(d.cfg.Conf, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.files.Close() })
	d.directories.resolve = d.files.Resolve
	d.directories.set(staging, staging+"/../joblogs")
	cache, err := artifact.Open(artifact.Config{Dir: filepath.Join(t.TempDir(), "artifacts"), Fetch: d.openProgram, MaxProgramBytes: maxBytes})
	must.Do(t, err)
	t.Cleanup(cache.Close)
	return d, &stagedPrograms{cache, &d.directories}
}

// stage writes a program as clients do.
func stage(t *testing.T, dir string, content []byte) (name string, sum []byte) {
	t.Helper()
	s := sha256.Sum256(content)
	name = filepath.Join(dir, "artifacts", hex.EncodeToString(s[:]))
	must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must.Do(t, os.WriteFile(name, content, 0o644))
	return name, s[:]
}

// TestOnlyStagedProgramsRun asks for files that a tasknode can read and a user perhaps
// cannot. No error contains the checksum of such a file.
func TestOnlyStagedProgramsRun(t *testing.T) {
	dir := t.TempDir()
	_, programs := newPrograms(t, "file://"+dir, 1<<20)
	name, sum := stage(t, dir, []byte("program"))
	for _, good := range []string{name, "file:" + name, "file://" + name} {
		path, release, err := programs.Get(t.Context(), good, sum)
		if err != nil {
			t.Fatalf("%s: %v", good, err)
		}
		if got, err := os.ReadFile(path); string(got) != "program" || err != nil {
			t.Errorf("%s: %q, %v", good, got, err)
		}
		release()
	}
	secret := filepath.Join(t.TempDir(), "shadow")
	content := []byte("root:secret")
	must.Do(t, os.WriteFile(secret, content, 0o600))
	elsewhere, _ := stage(t, t.TempDir(), []byte("program"))
	actual := sha256.Sum256(content)
	for _, bad := range []string{
		secret, "file://" + secret, elsewhere, dir + "/artifacts/../../" + filepath.Base(filepath.Dir(secret)) + "/shadow",
		dir + "/artifacts", dir + "/jobs/" + filepath.Base(name), name + "/x", "",
	} {
		for _, claimed := range [][]byte{make([]byte, sha256.Size), actual[:], sum} {
			if bad == name && bytes.Equal(claimed, sum) {
				continue
			}
			_, _, err := programs.Get(t.Context(), bad, claimed)
			if err == nil || strings.Contains(err.Error(), hex.EncodeToString(actual[:])) && !bytes.Equal(claimed, actual[:]) {
				t.Errorf("%s with sum %x: %v", bad, claimed[:4], err)
			}
		}
	}
}

// TestStagedFilesAreVerified stages what is no program under the name of one.
func TestStagedFilesAreVerified(t *testing.T) {
	dir := t.TempDir()
	_, programs := newPrograms(t, dir, 10)
	other, sum := stage(t, dir, []byte("program"))
	must.Do(t, os.WriteFile(other, []byte("other"), 0o644))
	actual := sha256.Sum256([]byte("other"))
	_, _, err := programs.Get(t.Context(), other, sum)
	if err == nil || !strings.Contains(err.Error(), "changed") || strings.Contains(err.Error(), hex.EncodeToString(actual[:])) {
		t.Errorf("other content: %v", err)
	}
	long, sum := stage(t, dir, []byte("eleven byte"))
	if _, _, err := programs.Get(t.Context(), long, sum); err == nil || !strings.Contains(err.Error(), "--max-program") {
		t.Errorf("long program: %v", err)
	}
	fifo, sum := stage(t, dir, []byte("fifo"))
	must.Do(t, os.Remove(fifo))
	must.Do(t, unix.Mkfifo(fifo, 0o644))
	if _, _, err := programs.Get(t.Context(), fifo, sum); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("FIFO: %v", err)
	}
}

// TestProgramsOfAMasterThatNamesNoStagingDirectory is about a master of an older version.
func TestProgramsOfAMasterThatNamesNoStagingDirectory(t *testing.T) {
	_, programs := newPrograms(t, "", 10)
	if _, _, err := programs.Get(t.Context(), "/x", make([]byte, sha256.Size)); err == nil || !strings.Contains(err.Error(), "older version") {
		t.Error(err)
	}
}

func TestLogsAreWrittenOnlyBelowTheirDirectory(t *testing.T) {
	d, _ := newPrograms(t, "file:///c/staging", 10)
	for dir, good := range map[string]bool{
		"file:///c/joblogs/job_1_0001": true, "/c/joblogs/mine/job_1_0001": true, "file:/c/joblogs/x": true,
		"file:///c/joblogs": false, "/c/joblogs2/x": false, "/c/joblogs/../x": false, "/etc/cron.d/job_1_0001": false,
	} {
		if err := d.directories.checkLogs(context.Background(), dir); (err == nil) != good {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
