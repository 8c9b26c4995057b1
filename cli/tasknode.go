package cli

import (
	"context"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/daemon/tasknoded"
)

// newTasknode returns the command of a daemon. It runs until SIGTERM and then exits with 0.
// It exits with 1 if it cannot start, and with 2 for a wrong setting from any source.
func newTasknode() *cobra.Command {
	var c tasknoded.Config
	cmd := &cobra.Command{
		Use:   "tasknode --masters HOST:PORT,... --dir DIR --token-file FILE",
		Short: "Run tasks of a cluster on this machine",
		Long: `Run tasks of a cluster on this machine. Each setting is a flag, an environment
variable HAMMR_..., or a key in the file of --config; flags override variables,
and variables override keys.

SIGHUP loads the settings again. The log names each one that has changed, also
those that need a restart. If a setting is wrong, all stay as they are. If there
are fewer slots than tasks, the tasks run to their end.

SIGTERM stops it at once, and what runs is lost; with --drain-on-stop it first
moves its work to other tasknodes, as 'hammr node drain --local' does. A second
SIGTERM then stops it at once.

SIGUSR2 restarts the tasknode in place, with its present program file and
settings; its tasks continue. See 'hammr node restart --help'.`,
		Example: `  hammr tasknode --masters a,b,c --dir /data/hammr --token-file /etc/hammr/token
  hammr tasknode --config /etc/hammr/tasknode.yaml --map-slots 8`,
	}
	check := cmd.Flags().Bool("check", false, "check the settings, print what they are checked for as JSON, and exit")
	return daemonCommand{
		config: &c,
		again:  func() daemon.Config { return new(tasknoded.Config) },
		open: func() (run, reload func(context.Context) error, err error) {
			c.Starter = mainThread
			d, err := tasknoded.Open(c)
			return d.Run, func(ctx context.Context) error { return d.Reload(ctx, c) }, err
		},
		instead: func(stdout, stderr io.Writer) (done bool, err error) {
			if *check {
				err = printCheck(&c, stdout, stderr)
			}
			return *check, err
		},
	}.withSettings(cmd)
}

// printCheck checks the settings and prints a tasknoded.Checked.
func printCheck(c *tasknoded.Config, stdout, stderr io.Writer) error {
	if err := loadSite(c, stderr); err != nil {
		return err
	}
	checked, err := tasknoded.Check(*c)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(checked)
}
