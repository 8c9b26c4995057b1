package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/daemon/masterd"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// newMasterBackup exits with 0 when the file is complete on the disk. After an error a file of the
// same name is unchanged.
func (r clusterCommands) newMasterBackup() *cobra.Command {
	return r.command(&cobra.Command{
		Use:   "backup FILE",
		Short: "Back up the state of the masters to a file",
		Long: `Back up the state of the masters to a file, while the cluster works: its jobs,
tasks, tasknodes, policy and queues. The file replaces an existing one when it
is complete, and only its owner can read it. 'hammr master restore' makes a
master from it.`,
		Example: "  hammr master backup /backup/hammr-$(date +%F)",
		Args:    oneArg("the file"),
	}, func(ctx context.Context, q *query) error {
		file := q.args[0]
		b, err := masterd.SaveBackup(file, func(to io.Writer) error { return q.Backup(ctx, to) })
		return q.changed(err, "backup", apidoc.Change{ID: file, Done: "backed up"},
			"Backed up cluster %s up to log entry %d in %s (%s)", b.Cluster, b.Index, file, bytesText(b.Bytes))
	})
}

// newMasterRestore asks the masters only whether they run. It exits with 1 if it refuses, and then
// the directory is as before.
func newMasterRestore() *cobra.Command {
	var cfg masterd.RestoreConfig
	cmd := &cobra.Command{
		Use:   "restore FILE --dir DIR --id ID --token-file FILE",
		Short: "Make a master from a backup, for a cluster that has lost its masters",
		Long: `Make the directory of a master from a backup, for a cluster that has lost its
masters. Start 'hammr jobmaster' with this --id and --dir afterwards. It is the
only master then: start the others with --join and empty directories, and add
each by 'hammr master add'. Tasknodes continue; tasks that run in the backup and
on a tasknode are not run again. The command refuses to work while a master of
the cluster answers. Run it as the user of the daemon.`,
		Example: `  hammr master restore /backup/hammr-2026-11-23 --id m1 --dir /var/lib/hammr \
    --token-file /etc/hammr/token
  hammr jobmaster --id m1 --dir /var/lib/hammr --token-file /etc/hammr/token ...`,
		Args: oneArg("the file of the backup"),
		RunE: interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			cfg.Backup = args[0]
			done, err := masterd.Restore(ctx, cfg)
			if err != nil {
				return err
			}
			made := time.UnixMilli(done.Backup.Time).Format("2006-01-02 15:04:05")
			fmt.Fprintf(cmd.OutOrStdout(), "Restored cluster %s as of %s, log entry %d, to %s\n", done.Backup.Cluster, made, done.Backup.Index, cfg.Dir)
			writeNextSteps(cmd.OutOrStdout(), cfg.ID, cfg.Dir, done.Address)
			return nil
		}),
	}
	cmd.Flags().StringVar(&cfg.Dir, "dir", "", "`directory` of the new master, missing or empty")
	cmd.Flags().StringVar(&cfg.ID, "id", "", "`name` of the new master")
	cmd.Flags().StringVar(&cfg.Address, "address", "", "`host:port` at which others will reach it (default that of --id in the backup)")
	cmd.Flags().StringVar(&cfg.ClusterID, "cluster-id", "", "`id` of the cluster that the backup must be of (default any)")
	cmd.Flags().StringVar(&cfg.TokenFile, "token-file", "", "`file` with the cluster's secret")
	required(cmd, "dir", "id", "token-file")
	return cmd
}

// writeNextSteps prints what is left to do after a restore or a recovery.
func writeNextSteps(to io.Writer, id, dir, address string) {
	fmt.Fprintf(to, "Master %s is the only master now, at %s. Start it: hammr jobmaster --id %s --dir %s ...\n", id, address, hostfile.Word(id), hostfile.Word(dir))
	fmt.Fprintln(to, "Then start others with --join and empty directories, and add each: hammr master add ID HOST:PORT")
}
