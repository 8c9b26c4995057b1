package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/daemon/tasknoded"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/rpc"
)

// newClusterDown sends signals to the processes in DIR/cluster.json; it asks no daemon. It
// exits with 0 if no cluster runs in the directory, and with 1 if a process does not end.
func newClusterDown() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "down --dir DIR",
		Short: "Stop the cluster of DIR and keep its files",
		Long: `Stop the cluster of DIR: the processes in DIR/cluster.json, if they are still
the ones that were started. Its files are kept, and 'hammr up --dir DIR' starts
it again.`,
		Example: "  hammr down --dir ~/hammr-cluster",
		Args:    cobra.NoArgs,
		RunE: interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			state, _ := localcluster.ReadState(dir) // Down reports the error
			running, err := localcluster.Down(ctx, dir)
			switch {
			case err != nil:
				return err
			case !running:
				fmt.Fprintf(cmd.ErrOrStderr(), "No cluster runs in %s.\n", dir)
				return nil
			}
			return errors.Join(removeCgroups(state), forgetToken(state.ID))
		}),
	}
	cmd.Flags().StringVar(&dir, "dir", "", "`directory` of the cluster")
	required(cmd, "dir")
	return cmd
}

// removeCgroups removes the control groups of tasknodes that were killed, once the cluster
// is down; a tasknode that ends by itself removes its own. The state is nil if the directory
// cannot be read; then there are none to remove.
func removeCgroups(s *localcluster.State) error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, n := range s.Tasknodes {
		errs = append(errs, tasknoded.RemoveCgroup(n.Dir))
	}
	return errors.Join(errs...)
}

// forgetToken removes the user's copy of a cluster's token, which `hammr up` has made: a later
// cluster has another.
func forgetToken(clusterID string) error {
	store, err := rpc.UserTokenStore()
	if err != nil || clusterID == "" {
		return nil // there is no copy
	}
	return store.Forget(clusterID)
}
