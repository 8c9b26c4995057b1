package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/daemon/tasknoded"
)

// newNodeRestart restarts the tasknode of this machine. It asks no master: it sends a signal to
// the tasknode, and reads the result in its directory.
func newNodeRestart() *cobra.Command {
	var dir string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "restart --dir DIR",
		Short: "Restart the tasknode of this machine, while its tasks continue",
		Long: `Restart the tasknode of this machine in place, for example after its program
file has been replaced by a new version, or its settings have changed. Tasks
that run or are suspended continue in their processes, ports stay open, and
nothing runs again. The tasknode keeps its process id.

First the new program checks the settings. If it refuses them, or is too old or
too new to continue with the tasks, the old program continues, and the command
exits with 1. So it does while streams between the tasks of a gang pass through
the tasknode, because those would break.

The command must run as the user of the tasknode, or as root. 'kill -USR2' of
the tasknode does the same, and the result is in its log.`,
		Example: `  hammr node restart --dir /data/hammr
  kill -USR2 $(cat /data/hammr/lock)`,
		Args: cobra.NoArgs,
		RunE: interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("timed out after %v", timeout))
			defer cancel()
			restarted, err := tasknoded.RequestRestart(ctx, dir)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Restarted the tasknode in %s: %d attempts continue\n", dir, restarted.Attempts)
			return nil
		}),
	}
	cmd.Flags().StringVar(&dir, "dir", "", "`directory` that the tasknode was started with as --dir")
	cmd.Flags().DurationVar(&timeout, "timeout", time.Minute, "`time` that the tasknode may take")
	_ = cmd.MarkFlagRequired("dir") // the flag exists
	return cmd
}
