package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/sim/results"
)

// benchSchedulers has the flags of `hammr bench schedulers`.
type benchSchedulers struct {
	out string
	paper.Comparison
}

// newBenchSchedulers runs in the simulator only. Two runs with the same flags write the same
// bytes.
func newBenchSchedulers() *cobra.Command {
	var b benchSchedulers
	cmd := &cobra.Command{
		Use:   "schedulers --out DIR",
		Short: "Compare all policies on all workloads, in one table",
		Long: `Run every policy in the simulator, on the two workloads of the HFSP paper and
on three days of SWIM's traces: with known and with wrong job sizes, without
failures and with a machine that fails each hour. It takes an hour on one core,
and writes the same bytes each time.

DIR, which must not exist, gets schedulers.md and schedulers.csv.`,
		Example: "  hammr bench schedulers --workload-dir traces --out schedulers",
		Args:    cobra.NoArgs,
		RunE:    checked(func() error { return results.CheckNew(b.out) }, b.run),
	}
	outFlag(cmd, &b.out)
	flags := cmd.Flags()
	flags.StringVar(&b.Dir, "workload-dir", tracesDir, "`directory` of the traces")
	flags.StringVar(&b.Only, "only", "", "`name` of the one workload to run: "+strings.Join(paper.ComparedLoads(), "; "))
	flags.StringVar(&b.Arms, "policy", "", "`pattern` of the rows to run, such as 'hfsp*'")
	flags.Uint64Var(&b.Seed, "seed", 1, "`number` that seeds all random choices")
	flags.BoolVar(&b.Short, "short", false, "run a tenth of one workload on a tenth of the machines")
	return cmd
}

// run plays all policies and writes the table as Markdown and as CSV. It also prints the
// Markdown.
func (b *benchSchedulers) run(ctx context.Context, stdout, stderr io.Writer) error {
	line := newStatusLine(stderr, false)
	table, err := b.Comparison.Run(ctx, line.showRuns)
	line.clear()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(b.out, 0o777); err != nil {
		return err
	}
	return errors.Join(
		results.WriteNew(filepath.Join(b.out, "schedulers.md"), table.WriteMarkdown),
		results.WriteNew(filepath.Join(b.out, "schedulers.csv"), table.WriteCSV),
		table.WriteMarkdown(stdout),
	)
}
