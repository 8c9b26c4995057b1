package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/bench/compare"
	"github.com/hammr/hammr/bench/paper"
)

// benchSchedulers has the flags of `hammr bench schedulers`.
type benchSchedulers struct {
	out string
	compare.Options
}

func newBenchSchedulers() *cobra.Command {
	var b benchSchedulers
	cmd := &cobra.Command{
		Use:   "schedulers --out DIR",
		Short: "All policies on all workloads, in one table",
		Long: `Play every policy on the two workloads of the HFSP paper and on three days of
SWIM's traces, with sizes that are known and mistaken, without failures and with
a machine that fails each hour, in the simulator. It takes an hour on one core,
and gives the same bytes each time.

DIR, which must not exist, gets schedulers.md and schedulers.csv.`,
		Example: "  hammr bench schedulers --workload-dir traces --out schedulers",
		Args:    cobra.NoArgs,
		RunE: interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			return b.run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&b.out, "out", "", "`directory` to write, which must not exist")
	flags.StringVar(&b.Dir, "workload-dir", tracesDir, "`directory` of the traces")
	flags.StringVar(&b.Only, "only", "", "`name` of the one workload to play: "+strings.Join(compare.Names(), "; "))
	flags.Uint64Var(&b.Seed, "seed", 1, "`number` from which all chance comes")
	flags.BoolVar(&b.Short, "short", false, "a tenth of one workload on a tenth of the machines")
	_ = cmd.MarkFlagRequired("out") // fails for a flag that does not exist only
	return cmd
}

func (b *benchSchedulers) run(ctx context.Context, stdout, stderr io.Writer) error {
	if _, err := os.Lstat(b.out); err == nil {
		fmt.Fprintf(stderr, "hammr: %s exists; remove it, or name another directory with --out\n", b.out)
		return exitError(exitUsage)
	}
	progress := counterOn(stderr)
	table, err := compare.Run(ctx, b.Options, paper.Simulator{}, progress.show)
	progress.clear()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(b.out, 0o777); err != nil {
		return err
	}
	return errors.Join(
		writeTo(filepath.Join(b.out, "schedulers.md"), table.WriteMarkdown),
		writeTo(filepath.Join(b.out, "schedulers.csv"), table.WriteCSV),
		table.WriteMarkdown(stdout),
	)
}

// writeTo creates a file and writes it.
func writeTo(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
