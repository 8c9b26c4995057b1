package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/bench/calibrate"
	"github.com/hammr/hammr/bench/live"
	"github.com/hammr/hammr/sim/results"
)

// benchCalibrate has the flags of `hammr bench calibrate`. An empty plan means both plans.
type benchCalibrate struct {
	out, plan string
	policies  []string
	megabytes int
}

// newBenchCalibrate starts a cluster for each policy and asks its jobmaster as a client does.
func newBenchCalibrate() *cobra.Command {
	var b benchCalibrate
	cmd := &cobra.Command{
		Use:   "calibrate --out DIR",
		Short: "Compare the simulator with a real cluster",
		Long: `Run a workload on a cluster of this machine under several policies, and report
how well the simulator predicts the sojourn time of each job. The plan
'sleeping' has tasks that sleep; the control 'busy' counts the words of a text.
Both take about ten minutes.

DIR, which must not exist, gets calibration.csv and environment.json.`,
		Example: "  hammr bench calibrate --plan sleeping --policies fifo,fair --out calibration",
		Args:    cobra.NoArgs,
		RunE:    measures("calibrate", b.check, b.run),
	}
	outFlag(cmd, &b.out)
	flags := cmd.Flags()
	flags.StringSliceVar(&b.policies, "policies", []string{"fifo", "fair", "hfsp"}, "`names` of policies")
	flags.StringVar(&b.plan, "plan", "", "`name` of the one plan to run: sleeping or busy (default both)")
	flags.IntVar(&b.megabytes, "text", 512, "size of the text of the plan busy, in `MiB`")
	return cmd
}

func (b *benchCalibrate) check() error {
	if !slices.Contains([]string{"", "sleeping", "busy"}, b.plan) {
		return fmt.Errorf("--plan %q: expected sleeping or busy", b.plan)
	}
	return checkNumber("text", b.megabytes, b.out)
}

// run writes the text of the plan busy, then runs the plans. A plan that fails ends the
// experiment; the file keeps the lines of the plans before it.
func (b *benchCalibrate) run(ctx context.Context, e experiment) error {
	text := filepath.Join(e.scratch, "text")
	if err := os.WriteFile(text, randomWords(b.megabytes<<20), 0o666); err != nil {
		return err
	}
	if err := e.writeEnvironment(b.out, nil); err != nil {
		return err
	}
	var failed error // the file keeps the lines written before the error
	err := results.WriteNew(filepath.Join(b.out, "calibration.csv"), func(csv io.Writer) error {
		for _, plan := range []live.Plan{calibrate.SleepingPlan(), calibrate.ComputePlan(text)} {
			if failed == nil && (b.plan == "" || b.plan == plan.Name) {
				failed = b.runPlan(ctx, e, plan, csv)
			}
		}
		return nil
	})
	return errors.Join(failed, err)
}

// runPlan runs one workload under every policy on three tasknodes, each with two map slots
// and one reduce slot. This is small enough for one machine, and large enough that jobs
// compete for slots.
func (b *benchCalibrate) runPlan(ctx context.Context, e experiment, plan live.Plan, csv io.Writer) error {
	outcomes, err := calibrate.Run(ctx, calibrate.Config{
		Hammr: e.hammr, Work: filepath.Join(e.scratch, plan.Name), Plan: plan, Policies: b.policies,
		Tasknodes: 3, MapSlots: 2, ReduceSlots: 1,
	}, e.logf)
	if err != nil {
		return err
	}
	return errors.Join(calibrate.WriteCSV(csv, plan.Name, outcomes), calibrate.WriteTable(e.stdout, plan, outcomes))
}

// randomWords returns a text of the given size in bytes. The same size gives the same text. A
// tenth of its words end a line.
func randomWords(size int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 0, size+32)
	for len(text) < size {
		text = fmt.Appendf(text, "w%d ", random.IntN(100_000))
		if random.IntN(10) == 0 {
			text = append(text, '\n')
		}
	}
	return append(text[:size-1], '\n')
}
