package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/daemon/masterd"
)

// newMasterRecover asks the other masters only whether they run. It exits with 1 if it refuses.
func newMasterRecover() *cobra.Command {
	var cfg masterd.RecoverConfig
	cmd := &cobra.Command{
		Use:   "recover --dir DIR --token-file FILE",
		Short: "Continue with one master, for a cluster that has lost a majority",
		Long: `Make a master that is left the only one of its cluster, if a majority of the
masters is lost for ever. Stop it before and start it afterwards. What only the
lost masters had is lost: at most the last changes before they failed. Start
others with --join and empty directories, and add each by 'hammr master add'.
The command refuses to work while the masters that answer are a majority with
this one, or while one of them has a leader. Run it as the user of the daemon.`,
		Example: `  hammr master recover --dir /var/lib/hammr --token-file /etc/hammr/token
  hammr jobmaster --id m3 --dir /var/lib/hammr --token-file /etc/hammr/token ...`,
		Args: cobra.NoArgs,
		RunE: interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			done, err := masterd.Recover(ctx, cfg)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Recovered cluster %s from master %s; it had %d masters\n", done.Cluster, done.ID, done.Masters)
			writeNextSteps(cmd.OutOrStdout(), done.ID, cfg.Dir, done.Address)
			return nil
		}),
	}
	cmd.Flags().StringVar(&cfg.Dir, "dir", "", "`directory` of the master that is left")
	cmd.Flags().StringVar(&cfg.Address, "address", "", "`host:port` at which others will reach it (default as before)")
	cmd.Flags().StringVar(&cfg.TokenFile, "token-file", "", "`file` with the cluster's secret")
	required(cmd, "dir", "token-file")
	return cmd
}
