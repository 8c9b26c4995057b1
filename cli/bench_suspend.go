package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/bench/suspend"
	"github.com/hammr/hammr/sim/results"
)

// benchSuspend has the flags of `hammr bench suspend`. If task is set, this process is one
// that the experiment suspends: it allocates that much memory and answers on its standard
// output.
type benchSuspend struct {
	out, swapDir string
	mebibytes    []int
	rounds       int
	task         int64 // bytes
}

func newBenchSuspend() *cobra.Command {
	var b benchSuspend
	cmd := &cobra.Command{
		Use:   "suspend --out DIR",
		Short: "Measure the cost of suspending and resuming a task, by its memory",
		Long: `Measure the time to suspend and to resume a task of various sizes in memory,
with a swap file and a control group for memory: Fig. 8 of HFSP's paper. It
needs root. Without swap or control groups it reports that, and measures only
suspended tasks whose pages stay in memory.

DIR, which must not exist, gets suspend.csv and suspend.svg. The
swap file and the group are removed at the end, also after Ctrl-C.`,
		Example: "  hammr bench suspend --swap-dir /var/tmp --rounds 2 --out suspend",
		Args:    cobra.NoArgs,
		RunE:    checked(b.check, b.run),
	}
	flags := cmd.Flags()
	flags.StringVar(&b.out, "out", "", "`directory` to write, which must not exist") // check requires --out, because --task runs without it
	flags.StringVar(&b.swapDir, "swap-dir", os.TempDir(), "`directory` of the swap file")
	flags.IntSliceVar(&b.mebibytes, "mib", []int{102, 256, 512, 1024, 2048}, "footprints of the tasks to measure, in `MiB`, joined by commas")
	flags.IntVar(&b.rounds, "rounds", 5, "`number` of measurements of each footprint, with and without swap")
	flags.Int64Var(&b.task, "task", 0, "run as a task with a footprint of this many `bytes`")
	_ = flags.MarkHidden("task") // fails only for a flag that does not exist
	return cmd
}

// check accepts --task only without other flags: the experiment starts this command with
// --task as the process to suspend.
func (b *benchSuspend) check() error {
	if b.task > 0 {
		return nil
	}
	for _, mib := range b.mebibytes {
		if mib < 1 || mib > 1<<20 {
			return fmt.Errorf("--mib %d: expected 1 to %d", mib, 1<<20)
		}
	}
	if b.out == "" || len(b.mebibytes) == 0 {
		return errors.New("--out DIR and --mib are required")
	}
	return checkNumber("rounds", b.rounds, b.out)
}

// run measures, writes the table and the picture, and prints the setting of policies that the
// measurement suggests: the rate at which this machine swaps.
func (b *benchSuspend) run(ctx context.Context, stdout, stderr io.Writer) error {
	if b.task > 0 {
		return suspend.RunTask(os.Stdin, stdout, int(b.task))
	}
	return runExperiment("suspend", stdout, stderr, func(e experiment) error {
		samples, err := b.measure(ctx, e)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(b.out, 0o777); err != nil {
			return err
		}
		costs := suspend.CostsOf(samples)
		err = errors.Join(
			results.WriteNew(filepath.Join(b.out, "suspend.csv"), func(w io.Writer) error { return suspend.WriteCSV(w, samples) }),
			suspend.WriteTable(stdout, costs),
		)
		if last := costs[len(costs)-1]; last.Rate > 0 {
			fmt.Fprintf(stdout, "hammr scheduler set POLICY --conf hammr.preempt.disk.rate=%.0f\n", last.Rate)
		}
		return errors.Join(err, suspend.Draw(costs).Save(b.out, "suspend"))
	})
}

// measure measures both arms in alternation: pages that must be swapped, and pages that
// stay. So a slow phase of the machine affects both. The order changes with each round. The
// cage is a swap file and a control group; Close removes them, also after Ctrl-C.
func (b *benchSuspend) measure(ctx context.Context, e experiment) (samples []suspend.Sample, err error) {
	largest := int64(slices.Max(b.mebibytes)) << 20
	task := func(bytes int64) []string { return []string{e.hammr, "bench", "suspend", "--task", fmt.Sprint(bytes)} }
	cage, noSwap := suspend.NewCage(b.swapDir, largest*5/4+256<<20, task)
	defer func() { err = errors.Join(err, cage.Close()) }()
	if noSwap != nil {
		e.logf("no swap: %v; only tasks whose pages stay in memory are measured", noSwap)
	}
	for round := range b.rounds {
		for _, mib := range b.mebibytes {
			for arm := range 2 {
				pressed := (arm+round)%2 == 0
				if pressed && !cage.Swaps() {
					continue
				}
				s, err := cage.Measure(ctx, int64(mib)<<20, pressed)
				if err != nil {
					return samples, err
				}
				e.logf("round %d, %d MiB, %s: suspend %v, resume %v", round+1, mib, s.Arm(), s.Suspend(), s.Resume())
				samples = append(samples, s)
			}
		}
	}
	return samples, nil
}
