//go:build deploy

package cli

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestCloudInitSchema lets cloud-init check the user data.
func TestCloudInitSchema(t *testing.T) {
	program, err := exec.LookPath("cloud-init")
	if err != nil {
		t.Skipf("install the package cloud-init: %v", err)
	}
	files, err := filepath.Glob("../deploy/cloud-init/*.yaml")
	if err != nil || len(files) != 2 {
		t.Fatalf("files %q, %v", files, err)
	}
	for _, file := range files {
		if out, err := exec.CommandContext(t.Context(), program, "schema", "--config-file", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
}
