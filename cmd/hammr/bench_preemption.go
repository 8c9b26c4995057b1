package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/bench/live"
	"github.com/hammr/hammr/sim/results"
)

func newBenchPreemption() *cobra.Command {
	var out string
	runs := 5
	cmd := &cobra.Command{
		Use:   "preemption --out DIR",
		Short: "What preemption costs: wait, kill and work-conserving, in turn",
		Long: `Run a high-priority job into a cluster of this machine that a low-priority one
has filled. Its slots are waited for, or taken by kill, or so that work is kept,
in turn; none, one or two tasknodes are killed when half of the low-priority job
is done. The jobs have two waves of maps in a third of the runs, two of reduces
in another, and one of reduces in the rest.

DIR, which must not exist, gets preemption.csv, the medians and their ratios as
preemption.txt, environment.json, and raw, the histories and logs.`,
		Example: "  hammr bench preemption --runs 3 --out preemption",
		Args:    cobra.NoArgs,
		RunE: interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			err := results.CheckNew(out)
			if runs < 1 {
				err = fmt.Errorf("--runs %d: expected 1 or more", runs)
			}
			if err != nil {
				fmt.Fprintln(cmd.ErrOrStderr(), "hammr:", err)
				return exitError(exitUsage)
			}
			return benchPreemption(ctx, out, runs, cmd.OutOrStdout(), cmd.ErrOrStderr())
		}),
	}
	cmd.Flags().StringVar(&out, "out", "", "`directory` to write, which must not exist")
	cmd.Flags().IntVar(&runs, "runs", runs, "`number` of repetitions")
	_ = cmd.MarkFlagRequired("out") // fails for a flag that does not exist only
	return cmd
}

func benchPreemption(ctx context.Context, out string, runs int, stdout, stderr io.Writer) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "hammr-preemption-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	if err := live.EnvironmentOf(scratch, map[string]string{"runs": fmt.Sprint(runs), "cluster": "4 tasknodes of 2 and 2 slots, expiry 1s"}).Write(out); err != nil {
		return err
	}
	contest := live.PreemptionBench{
		Hammr: self, Work: scratch, Keep: filepath.Join(out, "raw"), Runs: runs,
		Logf: func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) },
	}
	bouts, err := contest.Run(ctx)
	return errors.Join(err,
		writeTo(filepath.Join(out, "preemption.csv"), func(w io.Writer) error { return live.WritePreemptionRuns(w, bouts) }),
		writeTo(filepath.Join(out, "preemption.txt"), func(w io.Writer) error { return live.WritePreemptionTable(w, bouts) }),
		live.WritePreemptionTable(stdout, bouts),
	)
}
