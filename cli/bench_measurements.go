package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/bench/live"
	"github.com/hammr/hammr/bench/suspend"
	"github.com/hammr/hammr/sim/tables"
)

// newBenchCalibrate starts a cluster for each policy and asks its jobmaster as a client does.
func newBenchCalibrate() *cobra.Command {
	var plan string
	var policies []string
	return measurement{
		name: "calibrate", short: "Compare the simulator with a real cluster",
		long: `Run a workload on a cluster of this machine under several policies, and report
how well the simulator predicts the sojourn time of each job. The plan
'sleeping' has tasks that sleep; the control 'busy' counts the words of a text.
Both take about ten minutes.
DIR, which must not exist, gets calibration.csv, a line for each job, the table
as calibration.txt, and environment.json.`,
		example: "  hammr bench calibrate --plan sleeping --policies fifo,fair --out calibration",
		number:  "text", initial: 512, usage: "size of the text of the plan busy, in `MiB`", file: "calibration", keeps: true,
		check: func() error {
			if !slices.Contains([]string{"", "sleeping", "busy"}, plan) {
				return fmt.Errorf("--plan %q: expected sleeping or busy", plan)
			}
			return nil
		},
		run: func(ctx context.Context, e experiment) (tables.Results, error) {
			return e.Calibrate(ctx, plan, policies)
		},
	}.command(func(cmd *cobra.Command) {
		cmd.Flags().StringSliceVar(&policies, "policies", []string{"fifo", "fair", "hfsp"}, "`names` of policies")
		cmd.Flags().StringVar(&plan, "plan", "", "`name` of the one plan to run: sleeping or busy (default both)")
	})
}

// newBenchFailover starts three masters and polls each until one serves again. A fault kills
// or stops the leader's process, or a failpoint stalls writes to its log.
func newBenchFailover() *cobra.Command {
	var cfg live.Failover
	return measurement{
		name: "failover", short: "Measure how long no master serves after the leader is lost",
		long: `Start a cluster of three masters on this machine, and measure how long it takes
until it serves again after its leader is killed, stopped, or has a disk that
stalls. The table has a row for each fault. The times depend on the load of the
machine, and on --election and --stall.`,
		example: "  hammr bench failover --faults killed,stopped --rounds 5",
		number:  "rounds", initial: 20, usage: "`number` of faults of each kind",
		check: func() error {
			for _, name := range cfg.Faults {
				if !slices.Contains(live.LeaderFaults(), name) {
					return fmt.Errorf("--faults %q: expected %s", name, strings.Join(live.LeaderFaults(), ", "))
				}
			}
			return nil
		},
		run: func(ctx context.Context, e experiment) (tables.Results, error) { return e.Failover(ctx, cfg) },
	}.command(func(cmd *cobra.Command) {
		flags := cmd.Flags()
		flags.StringSliceVar(&cfg.Faults, "faults", live.LeaderFaults(), "`faults` to inject")
		flags.DurationVar(&cfg.Election, "election", 500*time.Millisecond, "`silence` of the leader before an election")
		flags.DurationVar(&cfg.Stall, "stall", 7*time.Second, "`time` after which a leader with a stalled log steps down")
	})
}

// newBenchLatency starts a cluster for each kind of order and asks its jobmaster as a client
// does.
func newBenchLatency() *cobra.Command {
	var only string
	return measurement{
		name: "latency", short: "Measure the time from a preemption order to the next task in the slot",
		long: `Measure, on a cluster on this machine, the time from a preemption order to the
start of the task that gets the slot. Each kind of order has a cluster of its
own. 40 orders of each kind take a quarter of an hour.
DIR, which must not exist, gets latency.csv, a line for each order, the
percentiles as latency.txt, and environment.json.`,
		example: "  hammr bench latency --orders 20 --only split --out latency",
		number:  "orders", initial: 40, usage: "`number` of orders of each kind", keeps: true,
		run:     func(ctx context.Context, e experiment) (tables.Results, error) { return e.Latency(ctx, only) },
		onHosts: true,
		plan: func(n int) string {
			return fmt.Sprintf("%d orders of each of %d kinds, each on a cluster of one tasknode: about %v", n, len(live.OrderKinds), time.Duration(n)*23*time.Second)
		},
	}.command(func(cmd *cobra.Command) {
		cmd.Flags().StringVar(&only, "only", "", "measure only kinds that have this `text` in their names (default all)")
	})
}

// newBenchPreemption repeats 27 combinations: 3 pairs of jobs, 3 preemption modes, and 0 to
// 2 killed tasknodes. It runs them on clusters that it starts.
func newBenchPreemption() *cobra.Command {
	return measurement{
		name: "preemption", short: "Compare waiting, killing and work-conserving preemption",
		long: `Fill a cluster on this machine with a low-priority job, and then run a
high-priority job. In turn, it waits for slots, gets them by kill, or gets them
with the work conserved. Zero, one or two tasknodes are killed when half of the
low-priority job is done. A third of the runs has two waves of maps, a third two
waves of reduces, and a third one wave of reduces.
DIR, which must not exist, gets preemption.csv, the medians and their ratios as
preemption.txt, environment.json, and raw, the histories and logs.`,
		example: "  hammr bench preemption --runs 3 --out preemption",
		number:  "runs", initial: 5, usage: "`number` of repetitions", keeps: true,
		run:     func(ctx context.Context, e experiment) (tables.Results, error) { return e.Preemption(ctx) },
		onHosts: true,
		plan: func(n int) string {
			return fmt.Sprintf("%d runs of 27 combinations, each on a new cluster of 4 tasknodes: about %v", n, time.Duration(n)*23*time.Minute)
		},
	}.command(func(*cobra.Command) {})
}

// newBenchRecovery starts a cluster and an HDFS of this machine. It measures whether the
// tasks of a lost tasknode are local again after they restart.
func newBenchRecovery() *cobra.Command {
	var policies []string
	return measurement{
		name: "recovery", short: "Measure how long lost tasks wait for a slot after a tasknode is killed",
		long: `Start a cluster of three masters and four tasknodes with a real HDFS, fill its
slots, kill tasknodes, and measure how long the lost tasks wait for a slot and
whether they run near their input again. The table has a row for each policy and
kind of task. It needs Java and takes a quarter of an hour.`,
		example: "  hammr bench recovery --kills 5 --policies chronos+fifo",
		number:  "kills", initial: 20, usage: "`number` of tasknodes killed for each row",
		run:     func(ctx context.Context, e experiment) (tables.Results, error) { return e.Recovery(ctx, policies) },
		onHosts: true,
		plan: func(n int) string {
			return fmt.Sprintf("%d failures while maps run and %[1]d while reduces do, under each of %d policies, on a cluster of 3 masters and 4 tasknodes: about %v", n, len(policies), time.Duration(n*len(policies))*22*time.Second)
		},
	}.command(func(cmd *cobra.Command) {
		cmd.Flags().StringSliceVar(&policies, "policies", []string{"chronos+fifo", "chronos+fair"}, "`policies` to measure")
	})
}

// newBenchSuspend suspends processes that this program starts with --task: they allocate that
// much memory and answer on their standard output.
func newBenchSuspend() *cobra.Command {
	var swapDir string
	var mebibytes []int
	var task int64 // bytes
	cmd := measurement{
		name: "suspend", short: "Measure the cost of suspending and resuming a task, by its memory",
		long: `Measure the time to suspend and to resume a task of various sizes in memory,
with a swap file and a control group for memory: Fig. 8 of HFSP's paper. It
needs root. Without swap or control groups it reports that, and measures only
suspended tasks whose pages stay in memory.
DIR, which must not exist, gets suspend.csv, a line for each measurement, the
medians as suspend.txt, suspend.svg, and environment.json. The swap file and the
group are removed at the end, also after Ctrl-C.`,
		example: "  hammr bench suspend --swap-dir /var/tmp --rounds 2 --out suspend",
		number:  "rounds", initial: 5, usage: "`number` of measurements of each footprint, with and without swap", keeps: true,
		check: func() error {
			for _, mib := range mebibytes {
				if mib < 1 || mib > 1<<20 {
					return fmt.Errorf("--mib %d: expected 1 to %d", mib, 1<<20)
				}
			}
			if len(mebibytes) == 0 {
				return errors.New("--mib: expected at least one size")
			}
			return nil
		},
		run: func(ctx context.Context, e experiment) (tables.Results, error) {
			return benchSuspend(ctx, e, swapDir, mebibytes)
		},
	}.command(func(cmd *cobra.Command) {
		flags := cmd.Flags()
		flags.StringVar(&swapDir, "swap-dir", os.TempDir(), "`directory` of the swap file")
		flags.IntSliceVar(&mebibytes, "mib", []int{102, 256, 512, 1024, 2048}, "footprints of the tasks to measure, in `MiB`, joined by commas")
		flags.Int64Var(&task, "task", 0, "run as a task with a footprint of this many `bytes`")
		_ = flags.MarkHidden("task") // fails only for a flag that does not exist
	})
	measure := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if task > 0 {
			return suspend.RunTask(os.Stdin, cmd.OutOrStdout(), int(task))
		}
		return measure(cmd, args)
	}
	return cmd
}

// benchSuspend measures, draws the picture, and prints the setting of policies that the
// measurement suggests: the rate at which this machine swaps.
func benchSuspend(ctx context.Context, e experiment, swapDir string, mebibytes []int) (r tables.Results, err error) {
	cfg := suspend.Config{SwapDir: swapDir, Rounds: e.N, Logf: e.Logf, Task: func(bytes int64) []string {
		return []string{e.Hammr, "bench", "suspend", "--out", "nothing", "--task", fmt.Sprint(bytes)}
	}}
	for _, mib := range mebibytes {
		cfg.Footprints = append(cfg.Footprints, int64(mib)<<20)
	}
	samples, err := suspend.Run(ctx, cfg)
	if err != nil {
		return r, err
	}
	costs := suspend.CostsOf(samples)
	if last := costs[len(costs)-1]; last.Rate > 0 {
		fmt.Fprintf(e.stdout, "hammr scheduler set POLICY --conf hammr.preempt.disk.rate=%.0f\n", last.Rate)
	}
	return suspend.Results(samples, costs), suspend.Draw(costs).Save(e.Keep, "suspend")
}
