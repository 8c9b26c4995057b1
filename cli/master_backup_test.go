package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestDamagedBackupIsNotKept backs up a cluster that sends a truncated backup. A file of the same
// name stays as it was.
func TestDamagedBackupIsNotKept(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "backup")
	must.Do(t, os.WriteFile(file, []byte("earlier"), 0o600))
	var changes []string
	code, stdout, stderr := runOnFakeCluster(t, &changes, "master", "backup", file)
	if code != 1 || stdout != "" || !strings.Contains(stderr, "it is truncated: it ends after 17 bytes") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("files %v, %v", left, err)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "earlier" {
		t.Errorf("the earlier backup is %q, %v", data, err)
	}
}
