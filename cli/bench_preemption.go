package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/bench/live"
	"github.com/hammr/hammr/sim/results"
)

// newBenchPreemption repeats 27 combinations: 3 pairs of jobs, 3 preemption modes, and 0 to
// 2 killed tasknodes. It runs them on clusters that it starts.
func newBenchPreemption() *cobra.Command {
	var out string
	runs := 5
	cmd := &cobra.Command{
		Use:   "preemption --out DIR",
		Short: "Compare waiting, killing and work-conserving preemption",
		Long: `Fill a cluster on this machine with a low-priority job, and then run a
high-priority job. In turn, it waits for slots, gets them by kill, or gets them
with the work conserved. Zero, one or two tasknodes are killed when half of the
low-priority job is done. A third of the runs has two waves of maps, a third two
waves of reduces, and a third one wave of reduces.

DIR, which must not exist, gets preemption.csv, the medians and their ratios as
preemption.txt, environment.json, and raw, the histories and logs.`,
		Example: "  hammr bench preemption --runs 3 --out preemption",
		Args:    cobra.NoArgs,
		RunE: measures("preemption", func() error { return checkNumber("runs", runs, out) }, func(ctx context.Context, e experiment) error {
			return benchPreemption(ctx, e, out, runs)
		}),
	}
	outFlag(cmd, &out)
	cmd.Flags().IntVar(&runs, "runs", runs, "`number` of repetitions")
	return cmd
}

// benchPreemption runs the comparison. If a run fails, it still writes the earlier runs,
// because each has taken minutes, and returns the error.
func benchPreemption(ctx context.Context, e experiment, out string, runs int) error {
	settings := map[string]string{"runs": fmt.Sprint(runs), "cluster": "4 tasknodes of 2 and 2 slots, expiry 1s"}
	if err := e.writeEnvironment(out, settings); err != nil {
		return err
	}
	list, err := live.PreemptionBench{Hammr: e.hammr, Work: e.scratch, Keep: filepath.Join(out, "raw"), Runs: runs, Logf: e.logf}.Run(ctx)
	return errors.Join(err,
		results.WriteNew(filepath.Join(out, "preemption.csv"), func(w io.Writer) error { return live.WritePreemptionRuns(w, list) }),
		results.WriteNew(filepath.Join(out, "preemption.txt"), func(w io.Writer) error { return live.WritePreemptionTable(w, list) }),
		live.WritePreemptionTable(e.stdout, list),
	)
}
