package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/daemon/masterd"
	"github.com/hammr/hammr/internal/daemon/tasknoded"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestSettingsOfPackages loads the files of settings that packages install, as they are and with
// every example in them.
func TestSettingsOfPackages(t *testing.T) {
	for name, make := range map[string]func() daemon.Config{
		"jobmaster.yaml": func() daemon.Config { return new(masterd.Config) },
		"tasknode.yaml":  func() daemon.Config { return new(tasknoded.Config) },
	} {
		file := filepath.Join("..", "deploy", "packages", name)
		text, err := os.ReadFile(file)
		must.Do(t, err)
		// As in sshd_config, "#" is directly before an example, and before prose there is a space.
		var lines []string
		for line := range strings.Lines(string(text)) {
			if example, is := strings.CutPrefix(line, "#"); is && !strings.HasPrefix(example, " ") {
				line = example
			}
			lines = append(lines, line)
		}
		complete := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(complete, []byte(strings.Join(lines, "")), 0o600))
		for _, f := range []string{file, complete} {
			flags := make()
			if err := flags.Settings().Load(daemon.Sources{File: f}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := flags.Validate(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
