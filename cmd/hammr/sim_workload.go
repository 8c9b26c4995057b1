package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/sim/workload"
)

// simWorkload is what is played: a file, and how its bytes become times where it
// tells no times.
type simWorkload struct {
	file, format string
	swim         string // a trace to be scaled to the machines; "" for none
	swimNodes    int
	swimPlain    bool
	model        workload.Model
}

// addFlags gives a command the flags of the workload.
func (s *simWorkload) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.file, "workload", "", "`file` of the jobs, or spec:…")
	flags.StringVar(&s.format, "format", "", "of the file: `"+strings.Join(workload.Formats(), ", ")+"`; found by its content when empty")
	flags.StringVar(&s.swim, "swim", "", "`trace` of SWIM, in place of --workload, scaled to --nodes as its replay does")
	flags.IntVar(&s.swimNodes, "swim-nodes", 600, "`number` of machines of the cluster that was traced (FB-2009: 600, FB-2010: 3000)")
	flags.BoolVar(&s.swimPlain, "swim-plain", false, "scale the sizes of a SWIM trace, and nothing else of what its replay does")
	flags.DurationVar(&s.model.Start, "task-start", workload.DefaultStart, "`time` of a task before its first byte, of files that tell of bytes only")
	flags.DurationVar(&s.model.BlockTime, "map-time", workload.DefaultBlockTime, "`time` of a map of 128 MiB with its start, likewise")
	flags.DurationVar(&s.model.ReduceBlockTime, "reduce-time", 0, "`time` of a reduce of 128 MiB, likewise; 0: as a map")
	flags.Float64Var(&s.model.Sigma, "sigma", 0, "lognormal `spread` of the tasks' times, likewise")
	cmd.MarkFlagsOneRequired("workload", "swim")
	cmd.MarkFlagsMutuallyExclusive("workload", "swim")
	cmd.MarkFlagsMutuallyExclusive("format", "swim")
}

// check tells what is wrong with the flags.
func (s *simWorkload) check() error {
	var faults []error
	if s.swimNodes < 1 {
		faults = append(faults, fmt.Errorf("--swim-nodes %d: expected at least 1", s.swimNodes))
	}
	if s.model.Start < 0 || s.model.BlockTime <= 0 || s.model.ReduceBlockTime < 0 {
		faults = append(faults, fmt.Errorf("--task-start %v --map-time %v --reduce-time %v: expected no time below 0, and a map longer than that", s.model.Start, s.model.BlockTime, s.model.ReduceBlockTime))
	}
	return errors.Join(faults...)
}

// load reads or makes the workload of a run on so many machines.
func (s *simWorkload) load(nodes int, seed uint64) (*workload.Workload, error) {
	model := s.model
	model.Seed = seed
	if model.Start == 0 {
		model.Start = -1 // none: 0 would be the default
	}
	if s.swim == "" {
		return workload.ReadFile(s.file, workload.Options{Format: workload.Format(s.format), Model: model})
	}
	return workload.ReadFile(s.swim, workload.Options{
		Format: workload.SWIMTrace, Model: model,
		SWIM: workload.SWIM{OriginalNodes: s.swimNodes, TargetNodes: nodes, Plain: s.swimPlain},
	})
}
