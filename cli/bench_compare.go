package cli

import (
	"bufio"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/bench/streaming"
)

// newBenchStream is the mapper and the reducer of the streaming jobs of `hammr bench compare`.
func newBenchStream() *cobra.Command {
	return &cobra.Command{
		Use: "stream NAME map|reduce", Hidden: true, Args: cobra.ExactArgs(2),
		Short: "Run a map or a reduce of Hadoop's streaming",
		RunE: func(cmd *cobra.Command, args []string) error {
			return streaming.Run(args[0]+" "+args[1], &streaming.Task{
				In: cmd.InOrStdin(), Out: bufio.NewWriterSize(cmd.OutOrStdout(), 1<<20), Counters: cmd.ErrOrStderr(), Getenv: os.Getenv,
				Open: func(name string) (io.ReadCloser, error) { return os.Open(name) },
			})
		},
	}
}
