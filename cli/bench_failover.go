package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/bench/failover"
	"github.com/hammr/hammr/bench/recovery"
)

// newBenchFailover starts three masters and polls each until one serves again. A fault kills
// or stops the leader's process, or a failpoint stalls writes to its log.
func newBenchFailover() *cobra.Command {
	cfg := failover.Config{Faults: failover.Faults()}
	cmd := &cobra.Command{
		Use:   "failover",
		Short: "Measure how long no master serves after the leader is lost",
		Long: `Start a cluster of three masters on this machine, and measure how long it takes
until it serves again after its leader is killed, stopped, or has a disk that
stalls. A row is printed for each fault. The times depend on the load of the
machine, and on --election and --stall.`,
		Example: "  hammr bench failover --faults killed,stopped --rounds 5",
		Args:    cobra.NoArgs,
		RunE: measures("failover", func() error {
			for _, name := range cfg.Faults {
				if !slices.Contains(failover.Faults(), name) {
					return fmt.Errorf("--faults %q: expected %s", name, strings.Join(failover.Faults(), ", "))
				}
			}
			return checkNumber("rounds", cfg.Rounds, "")
		}, func(ctx context.Context, e experiment) error {
			cfg.Hammr, cfg.Dir, cfg.Out = e.hammr, filepath.Join(e.scratch, "cluster"), e.stdout
			return failover.Run(ctx, cfg)
		}),
	}
	flags := cmd.Flags()
	flags.IntVar(&cfg.Rounds, "rounds", 20, "`number` of faults of each kind")
	flags.StringSliceVar(&cfg.Faults, "faults", cfg.Faults, "`faults` to inject")
	flags.DurationVar(&cfg.Election, "election", 500*time.Millisecond, "`silence` of the leader before an election")
	flags.DurationVar(&cfg.Stall, "stall", 7*time.Second, "`time` after which a leader with a stalled log steps down")
	return cmd
}

// newBenchRecovery starts a cluster and an HDFS of this machine. It measures whether the
// tasks of a lost tasknode are local again after they restart.
func newBenchRecovery() *cobra.Command {
	var cfg recovery.Config
	cmd := &cobra.Command{
		Use:   "recovery",
		Short: "Measure how long lost tasks wait for a slot after a tasknode is killed",
		Long: `Start a cluster of three masters and four tasknodes with a real HDFS, fill its
slots, kill tasknodes, and measure how long the lost tasks wait for a slot and
whether they run near their input again. A row is printed for each policy and
kind of task. It needs Java and takes a quarter of an hour.`,
		Example: "  hammr bench recovery --kills 5 --policies chronos+fifo",
		Args:    cobra.NoArgs,
		RunE: measures("recovery", func() error { return checkNumber("kills", cfg.Kills, "") }, func(ctx context.Context, e experiment) error {
			cfg.Hammr, cfg.Dir, cfg.Out = e.hammr, e.scratch, e.stdout
			return recovery.Run(ctx, cfg)
		}),
	}
	cmd.Flags().IntVar(&cfg.Kills, "kills", 20, "`number` of tasknodes killed for each row")
	cmd.Flags().StringSliceVar(&cfg.Policies, "policies", []string{"chronos+fifo", "chronos+fair"}, "`policies` to measure")
	return cmd
}
