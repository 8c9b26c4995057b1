package tasknoded

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/tasknode/process"
)

// TestSlotsLastUntilTheSettingsChange starts a tasknode again and again in a directory, or reloads it, after a master has set its slots.
func TestSlotsLastUntilTheSettingsChange(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, slotsFile)
	launcher, err := process.New(process.Config{Programs: new(stagedPrograms), Logger: slog.New(slog.DiscardHandler)})
	must.Do(t, err)
	defer launcher.Close()
	var d *Daemon
	start := func(maps, reduces int) Config {
		cfg := Config{MapSlots: maps, ReduceSlots: reduces}
		cfg.Dir, cfg.Logger = dir, slog.New(slog.DiscardHandler)
		d = newDaemon(cfg)
		d.launcher = launcher
		must.Do(t, d.chooseSlots())
		return d.cfg
	}
	reload := func(maps, reduces int) Config {
		cfg := Config{MapSlots: maps, ReduceSlots: reduces}
		must.Do(t, d.useSlots(&cfg))
		return cfg
	}
	want := func(when string, cfg Config, maps, reduces int) {
		t.Helper()
		if cfg.MapSlots != maps || cfg.ReduceSlots != reduces {
			t.Errorf("%s: %d+%d slots, want %d+%d", when, cfg.MapSlots, cfg.ReduceSlots, maps, reduces)
		}
	}
	want("nothing set", start(2, 1), 2, 1)
	must.Do(t, d.keepSlots(8, 0))
	want("started again", start(2, 1), 8, 0)
	want("and again", start(2, 1), 8, 0)
	want("reloaded as it is", reload(2, 1), 8, 0)
	want("reloaded with another setting", reload(2, 4), 2, 4)
	want("reloaded with the first", reload(2, 1), 2, 1)
	must.Do(t, d.keepSlots(5, 5))
	want("started with another setting", start(3, 1), 3, 1)
	want("started with the first", start(2, 1), 2, 1)
	for _, text := range []string{"{", `{"settings":[2,1],"slots":[0,0]}`, `{"settings":[2,1],"slots":[-1,3]}`, "{}"} {
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		want("with "+text, start(2, 1), 2, 1)
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s is still there", text)
		}
	}
}
