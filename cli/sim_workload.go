package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/kit/validate"
	"github.com/hammr/hammr/sim/workload"
)

// simWorkload holds the flags of the workload: a file, and the model of task times for files
// that have only bytes. `sim run` and `bench replay` have them.
type simWorkload struct {
	file, format   string
	swim           string // SWIM trace, scaled to the number of machines; "" for none
	tracedMachines int
	swimPlain      bool
	model          workload.Model
}

// addFlags defines the flags of the workload. One of --workload and --swim is required.
func (s *simWorkload) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.file, "workload", "", "`file` of the jobs, or spec:…")
	flags.StringVar(&s.format, "format", "", "`format` of the file: "+strings.Join(workload.Formats(), ", ")+" (default: detected from its content)")
	flags.StringVar(&s.swim, "swim", "", "SWIM `trace`, instead of --workload, scaled to --nodes as SWIM's replay does")
	flags.IntVar(&s.tracedMachines, "swim-nodes", 600, "`number` of machines of the traced cluster (FB-2009: 600, FB-2010: 3000)")
	flags.BoolVar(&s.swimPlain, "swim-plain", false, "scale the sizes of a SWIM trace, but apply no other rule of its replay")
	flags.DurationVar(&s.model.Start, "task-start", workload.DefaultStart, "`time` of a task before its first byte, for files without times")
	flags.DurationVar(&s.model.BlockTime, "map-time", workload.DefaultBlockTime, "`time` of a map of 128 MiB, its start included, for files without times")
	flags.DurationVar(&s.model.ReduceBlockTime, "reduce-time", 0, "`time` of a reduce of 128 MiB, for files without times (default as a map)")
	flags.Float64Var(&s.model.Sigma, "sigma", 0, "lognormal `sigma` of task times, for files without times")
	cmd.MarkFlagsOneRequired("workload", "swim")
	cmd.MarkFlagsMutuallyExclusive("workload", "swim")
	cmd.MarkFlagsMutuallyExclusive("format", "swim")
}

// check reports invalid flags.
func (s *simWorkload) check() error {
	m := &s.model
	return errors.Join(
		validate.That(s.tracedMachines >= 1, "--swim-nodes %d: expected at least 1", s.tracedMachines),
		validate.That(m.Start >= 0 && m.BlockTime > 0 && m.ReduceBlockTime >= 0,
			"--task-start %v --map-time %v --reduce-time %v: expected times of 0 or more, and a map longer than 0", m.Start, m.BlockTime, m.ReduceBlockTime),
	)
}

// load reads or generates the workload for a cluster of the given number of machines. The
// seed decides task times and the random values of a spec; it has no effect on a file with
// times. A SWIM trace is scaled by the ratio of machines, as SWIM's own replay does.
func (s *simWorkload) load(nodes int, seed uint64) (*workload.Workload, error) {
	model := s.model
	model.Seed = seed
	if model.Start == 0 {
		model.Start = -1 // no delay: 0 would mean the default
	}
	if s.swim == "" {
		return workload.ReadFile(s.file, workload.Options{Format: workload.Format(s.format), Model: model})
	}
	return workload.ReadFile(s.swim, workload.Options{
		Format: workload.SWIMTrace, Model: model,
		SWIM: workload.SWIM{OriginalMachines: s.tracedMachines, TargetMachines: nodes, Plain: s.swimPlain},
	})
}
