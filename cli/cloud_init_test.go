package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/daemon/masterd"
	"github.com/hammr/hammr/internal/daemon/tasknoded"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestCloudInitNamesRealSettings loads the files of settings in deploy/cloud-init as the daemons
// do.
func TestCloudInitNamesRealSettings(t *testing.T) {
	for name, settings := range map[string]daemon.Settings{"jobmaster": new(masterd.Config).Settings(), "tasknode": new(tasknoded.Config).Settings()} {
		text, err := os.ReadFile(filepath.Join("../deploy/cloud-init", name+".yaml"))
		must.Do(t, err)
		var data struct {
			WriteFiles []struct{ Path, Content string } `yaml:"write_files"`
		}
		must.Do(t, yaml.Unmarshal(text, &data))
		loaded := false
		for _, f := range data.WriteFiles {
			if f.Path != "/etc/hammr/"+name+".yaml" {
				continue
			}
			file := filepath.Join(t.TempDir(), "settings.yaml")
			must.Do(t, os.WriteFile(file, []byte(f.Content), 0o600))
			if err := settings.Load(daemon.Sources{File: file}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			loaded = true
		}
		if !loaded {
			t.Errorf("%s.yaml writes no settings", name)
		}
	}
}
