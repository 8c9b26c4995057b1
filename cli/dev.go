package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/ops/minihdfs"
)

// newDev asks no daemon of Hammr: it starts and stops the Java processes of a real HDFS.
func newDev() *cobra.Command {
	return group(&cobra.Command{
		Use:     "dev",
		Short:   "Run services for development",
		Example: "  hammr dev hdfs up --dir ~/hammr-hdfs",
	}, group(&cobra.Command{
		Use:   "hdfs",
		Short: "Run a real HDFS on this machine for development",
		Long: `Run a real HDFS on this machine for development: a NameNode and some DataNodes
of Hadoop, on their own loopback addresses. It needs Java and, the first time,
Maven, which fetches Hadoop's jars (65 MB). It is not made for large data.`,
		Example: `  hammr dev hdfs up --dir ~/hammr-hdfs
  hammr dev hdfs down --dir ~/hammr-hdfs`,
	}, newHDFSUp(), newHDFSDown(), newHDFSSupervise()))
}

// newHDFSUp exits when the HDFS runs; the HDFS continues in the background, and a supervisor
// watches it. It exits with 1 without Java, jars or ports. Tests of storage/hdfs and e2e use
// the same package.
func newHDFSUp() *cobra.Command {
	var cfg minihdfs.Config
	cmd := &cobra.Command{
		Use:   "up --dir DIR [--datanodes N]",
		Short: "Start an HDFS that keeps its files in DIR",
		Long: `Start an HDFS that keeps its files in DIR, and print its URI. If DIR has the
files of an earlier HDFS, it has them again. If one runs there, nothing changes.`,
		Example: `  hammr fs -fs "$(hammr dev hdfs up --dir ~/hammr-hdfs)" -put README.md /in`,
		Args:    cobra.NoArgs,
		RunE: interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			return hdfsUp(ctx, cfg, cmd.OutOrStdout(), cmd.ErrOrStderr())
		}),
	}
	cmd.Flags().StringVar(&cfg.Dir, "dir", "", "`directory` of its files and logs")
	cmd.Flags().IntVar(&cfg.DataNodes, "datanodes", 3, "`number` of DataNodes")
	required(cmd, "dir")
	return cmd
}

// hdfsUp prints the URI on stdout, for scripts, and the rest on stderr, so that `hammr fs -fs
// "$(hammr dev hdfs up --dir DIR)"` works.
func hdfsUp(ctx context.Context, cfg minihdfs.Config, stdout, stderr io.Writer) error {
	self, err := ownProgram()
	if err != nil {
		return err
	}
	cfg.Supervisor = []string{self, "dev", "hdfs", "supervise"}
	fmt.Fprintf(stderr, "Starting an HDFS in %s ...\n", cfg.Dir)
	state, err := minihdfs.Up(ctx, cfg)
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, state.URI)
	fmt.Fprintf(stderr, `It is up, with %d DataNodes and http://%s for browsers. To use it:
  hammr fs -fs %s -ls /
  export HADOOP_CONF_DIR=%s    # makes -fs unnecessary
  hammr dev hdfs down --dir %s
`, len(state.DataNodes), state.HTTP, state.URI, hostfile.Word(state.Conf), hostfile.Word(cfg.Dir))
	return nil
}

// newHDFSDown exits with 0 if no HDFS runs in the directory: that is the requested state.
func newHDFSDown() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:     "down --dir DIR",
		Short:   "Stop the HDFS of DIR and keep its files",
		Example: "  hammr dev hdfs down --dir ~/hammr-hdfs",
		Args:    cobra.NoArgs,
		RunE: interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			if _, err := os.Stat(filepath.Join(dir, minihdfs.StateFile)); errors.Is(err, fs.ErrNotExist) {
				fmt.Fprintf(cmd.ErrOrStderr(), "No HDFS runs in %s.\n", dir)
				return nil
			}
			return minihdfs.Down(ctx, dir)
		}),
	}
	cmd.Flags().StringVar(&dir, "dir", "", "`directory` of its files and logs")
	required(cmd, "dir")
	return cmd
}

// newHDFSSupervise returns the command that `hdfs up` starts in the background. Its process
// outlives `hdfs up`, watches the Java processes, and ends with `hdfs down`. It is hidden,
// because users do not start it.
func newHDFSSupervise() *cobra.Command {
	return &cobra.Command{
		Use:    "supervise DIR",
		Short:  "Run the mini-HDFS supervisor",
		Hidden: true,
		Args:   oneArg("a directory"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := minihdfs.Supervise(context.Background(), args[0]); err != nil {
				return runError{err}
			}
			return nil
		},
	}
}
