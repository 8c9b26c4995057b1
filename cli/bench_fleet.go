package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/bench/fleet"
	"github.com/hammr/hammr/sim/results"
)

// benchFleet has the flags of `hammr bench fleet`.
type benchFleet struct {
	fleet.Options
	scenarios    []string
	out          string
	strict, prof bool
}

// newBenchFleet starts three masters and many fake machines, and runs scenarios with them.
func newBenchFleet() *cobra.Command {
	b := benchFleet{Options: fleet.Options{Seed: 1}}
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Test and measure masters with a thousand fake machines",
		Long: `Start three masters on this machine, and attach machines to them that speak the
real protocol but whose tasks are only timers. Run scenarios with them, each
with new masters, and print a table for each.

The command exits with 1 if a task was lost, or was run twice without a cause.
Goals of times and memory are printed beside the measures; they count only with
--strict.

` + "Scenarios: " + strings.Join(fleet.Scenarios(), ", "),
		Example: `  hammr bench fleet --machines 50 --scenario throughput,failover --duration 20s
  hammr bench fleet --machines 1000 --out fleet`,
		Args: cobra.NoArgs,
		RunE: checked(b.check, b.run),
	}
	flags := cmd.Flags()
	flags.IntVar(&b.Machines, "machines", 100, "`number` of machines")
	flags.StringSliceVar(&b.scenarios, "scenario", fleet.Scenarios(), "`scenarios` to run, in this order")
	flags.DurationVar(&b.Duration, "duration", 0, "`time` of throughput, running, flap and mixed (default 1m)")
	flags.IntVar(&b.Rate, "rate", 0, "`number` of tasks that throughput starts and ends in a second (default 2 for each machine)")
	flags.IntVar(&b.Tasks, "tasks", 0, "`number` of maps of outputs and failover (default in proportion to machines: 50,000 and 200,000 for 1,000)")
	flags.IntVar(&b.MapSlots, "map-slots", 12, "map `slots` of each machine")
	flags.IntVar(&b.ReduceSlots, "reduce-slots", 4, "reduce `slots` of each machine")
	flags.DurationVar(&b.Heartbeat, "heartbeat", 0, "`time` between two heartbeats of a machine (default 1s)")
	flags.DurationVar(&b.Expiry, "expiry", 0, "`silence` after which a machine is lost (default 10s)")
	flags.IntVar(&b.SlowPercent, "slow", 0, "`per cent` of machines whose links delay each message by 50 ms")
	flags.Uint64Var(&b.Seed, "seed", 1, "`seed` of durations, failures and faults")
	flags.StringSliceVar(&b.MasterFlags, "master-flags", nil, "more `flags` for the masters")
	flags.StringVar(&b.out, "out", "", "`directory` to write, which must not exist: fleet.json, and the masters' logs if a scenario fails")
	flags.BoolVar(&b.prof, "profile", false, "write CPU profiles of the leader to --out")
	flags.BoolVar(&b.strict, "strict", false, "exit with 1 if a goal is not met")
	return cmd
}

// check validates the flags of every scenario before the first one runs.
func (b *benchFleet) check() error {
	if b.prof && b.out == "" {
		return errors.New("--profile needs --out")
	}
	if b.out != "" {
		if err := results.CheckNew(b.out); err != nil {
			return err
		}
	}
	for _, name := range b.scenarios {
		o := b.Options
		o.Scenario = name
		o.EnsureDefaults()
		if err := o.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// run runs the scenarios. Results of earlier scenarios are written even if a later one
// cannot run.
func (b *benchFleet) run(ctx context.Context, stdout, stderr io.Writer) error {
	return runExperiment("fleet", stdout, stderr, func(e experiment) error {
		if b.out != "" {
			if err := e.writeEnvironment(b.out, map[string]string{"machines": fmt.Sprint(b.Machines), "expiry": b.Expiry.String()}); err != nil {
				return err
			}
		}
		var all []*fleet.Result
		for _, name := range b.scenarios {
			r, err := fleet.Run(ctx, b.options(e, name))
			if err != nil {
				return err
			}
			r.Print(stdout)
			all = append(all, r)
			if b.out != "" {
				if err := fleet.WriteJSON(filepath.Join(b.out, "fleet.json"), all); err != nil {
					return err
				}
			}
		}
		if slices.ContainsFunc(all, func(r *fleet.Result) bool { return !r.Good(b.strict) }) {
			return errors.New("the fleet has failed; see the table for violations and missed goals")
		}
		return nil
	})
}

// options returns the options of one scenario.
func (b *benchFleet) options(e experiment, name string) fleet.Options {
	o := b.Options
	o.Scenario, o.Hammr, o.Dir, o.Logf = name, e.Hammr, filepath.Join(e.Work, name), e.Logf
	if b.out != "" {
		o.Logs = filepath.Join(b.out, name+"-logs")
	}
	if b.prof {
		o.Profile = filepath.Join(b.out, name+".pprof")
	}
	return o
}
