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

// newBenchSchedulers runs in the simulator only. Two runs with the same flags write the same
// bytes.
func newBenchSchedulers() *cobra.Command {
	var c paper.Comparison
	var out string
	cmd := &cobra.Command{
		Use:   "schedulers --out DIR",
		Short: "Compare all policies on all workloads, in one table",
		Long: `Run every policy in the simulator, on the two workloads of the HFSP paper and
on three days of SWIM's traces: with known and with wrong job sizes, without
failures and with a machine that fails each hour. It takes an hour on one core,
and writes the same bytes each time.

DIR, which must not exist, gets schedulers.md, schedulers.csv, and
schedulers.svg: means against times of users below their shares.`,
		Example: "  hammr bench schedulers --workload-dir traces --out schedulers",
		Args:    cobra.NoArgs,
		RunE: checked(func() error { return results.CheckNew(out) }, func(ctx context.Context, stdout, stderr io.Writer) error {
			return compareSchedulers(ctx, c, out, stdout, stderr)
		}),
	}
	outFlag(cmd, &out)
	flags := cmd.Flags()
	flags.StringVar(&c.Dir, "workload-dir", tracesDir, "`directory` of the traces")
	flags.StringVar(&c.Only, "only", "", "`name` of the one workload to run: "+strings.Join(paper.ComparedLoads(), "; "))
	flags.StringVar(&c.Arms, "policy", "", "`pattern` of the rows to run, such as 'hfsp*'")
	flags.Uint64Var(&c.Seed, "seed", 1, "`number` that seeds all random choices")
	flags.BoolVar(&c.Short, "short", false, "run a tenth of one workload on a tenth of the machines")
	return cmd
}

// compareSchedulers plays all policies and writes the table as Markdown and as CSV. It also prints the
// Markdown.
func compareSchedulers(ctx context.Context, c paper.Comparison, out string, stdout, stderr io.Writer) error {
	line := newStatusLine(stderr, false)
	table, err := c.Run(ctx, line.showRuns)
	line.clear()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	return errors.Join(
		results.WriteNew(filepath.Join(out, "schedulers.md"), table.WriteMarkdown),
		results.WriteNew(filepath.Join(out, "schedulers.csv"), table.WriteCSV),
		results.WriteNew(filepath.Join(out, "schedulers.svg"), table.Frontier().SVG),
		table.WriteMarkdown(stdout),
	)
}
