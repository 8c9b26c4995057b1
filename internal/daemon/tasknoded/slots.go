package tasknoded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hammr/hammr/internal/kit/jsonfile"
)

// slotsFile is in the tasknode's directory while a master has set its slots.
const slotsFile = "slots.json"

// setSlots are the slots of maps and reduces that a master has set. They count while the settings are what they were
// then: a user who changes the settings wants the new ones.
type setSlots struct {
	Settings [2]int `json:"settings"` // --map-slots and --reduce-slots
	Slots    [2]int `json:"slots"`
}

// useSlots replaces the slots of a configuration by those that a master has set. If there are none, or the settings have
// changed since, it removes the file.
func (d *Daemon) useSlots(cfg *Config) error {
	d.slots.Lock()
	defer d.slots.Unlock()
	var set setSlots
	path, settings := filepath.Join(d.cfg.Dir, slotsFile), [2]int{cfg.MapSlots, cfg.ReduceSlots}
	err := jsonfile.Read(path, &set)
	d.slots.settings = settings
	if err == nil && set.Settings == settings && min(set.Slots[0], set.Slots[1]) >= 0 && set.Slots != [2]int{} {
		cfg.MapSlots, cfg.ReduceSlots = set.Slots[0], set.Slots[1]
		d.cfg.Logger.Info("slots are those that a master has set", "map", set.Slots[0], "reduce", set.Slots[1])
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--dir: %w", err)
	}
	return nil
}

// chooseSlots does useSlots at the start.
func (d *Daemon) chooseSlots() error { return d.useSlots(&d.cfg) }

// keepSlots implements tasknode.Config.KeepSlots.
func (d *Daemon) keepSlots(mapSlots, reduceSlots int) error {
	d.slots.Lock()
	defer d.slots.Unlock()
	d.launcher.SetMaxProcesses(mapSlots + reduceSlots)
	return jsonfile.Write(filepath.Join(d.cfg.Dir, slotsFile), setSlots{Settings: d.slots.settings, Slots: [2]int{mapSlots, reduceSlots}}, 0o644)
}
