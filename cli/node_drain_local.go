package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/daemon/tasknoded"
)

// localTasknode is the tasknode of this machine. Its own settings name it.
type localTasknode struct {
	used bool   // the command is about it
	file string // YAML file of its settings, "" for none
	name string
	runs bool
}

// addFlags adds the flags that choose the local tasknode.
func (t *localTasknode) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&t.used, "local", false, "drain the tasknode of this machine until it starts again")
	flags.StringVar(&t.file, "config", os.Getenv("HAMMR_CONFIG"), "YAML `file` of the tasknode's settings, for --local")
}

// load finds the tasknode, its masters and its token in the same settings as `hammr tasknode`,
// from the same sources. The name is that of the ready file, if the tasknode has one. Flags that
// the user has given hold.
func (t *localTasknode) load(flags *pflag.FlagSet) error {
	if !t.used {
		return nil
	}
	var c tasknoded.Config
	if err := c.Settings().Load(daemon.Sources{Env: os.LookupEnv, File: t.file}); err != nil {
		return fmt.Errorf("--local: settings of the tasknode of this machine, from --config and variables: %w", err)
	}
	var ready daemon.Ready
	var err error
	if c.ReadyFile != "" {
		if ready, err = daemon.ReadReady(c.ReadyFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	t.name = cmp.Or(ready.Name, c.Name)
	if t.runs, err = tasknoded.IsRunning(c.Dir); err != nil {
		return err
	}
	for flag, value := range map[string]string{"master": strings.Join(c.Masters, ","), "token-file": c.TokenFile} {
		if flags.Changed(flag) {
			continue
		}
		if err := flags.Set(flag, value); err != nil {
			return err
		}
	}
	return nil
}
