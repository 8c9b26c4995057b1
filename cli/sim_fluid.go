package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/sim/fluid"
	"github.com/hammr/hammr/sim/results"
)

// simFluid holds the flags of `hammr sim fluid`. All three are required.
type simFluid struct {
	discipline, jobs, out string
}

// newSimFluid simulates one divisible server instead of a cluster. Theory compares
// size-based policies with this server.
func newSimFluid() *cobra.Command {
	var s simFluid
	names := strings.Join(fluid.Disciplines(), "|")
	cmd := &cobra.Command{
		Use:   "fluid --discipline " + names + " --jobs FILE.csv --out FILE.csv",
		Short: "Simulate one fluid server under a textbook discipline",
		Long: `Simulate one server of rate 1 whose capacity divides without limit, and write
the sojourn time of each job. The discipline decides which jobs are served:

  fifo  one job after the other, by arrival
  ps    all jobs at the same time, in proportion to their weights
  srpt  the job with the smallest estimate less service received, preemptive
  fsp   in the order of completion under ps with the estimates; late jobs first
  psbs  as fsp, but late jobs share by weight
  las   the jobs that have received the least service, equally

The input has a header with jobid, arrival_s and size_s, and optionally
estimate_s (default: the size; used by srpt, fsp, psbs) and weight (default: 1;
used by ps, fsp, psbs). Rows are sorted by arrival_s. The output has jobid and
sojourn_s in the same order. Ties go to the earlier arrival, then to the smaller
jobid as a string.`,
		Example: `  hammr sim fluid --discipline psbs --jobs jobs.csv --out sojourns.csv`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fluid.CheckDiscipline(s.discipline); err != nil {
				return fmt.Errorf("--discipline: %w", err)
			}
			return interruptible(func(_ context.Context, cmd *cobra.Command, _ []string) error {
				return s.run(cmd.OutOrStdout())
			})(cmd, args)
		},
	}
	cmd.Flags().StringVar(&s.discipline, "discipline", "", "`name` of the discipline: "+names)
	cmd.Flags().StringVar(&s.jobs, "jobs", "", "`file` of jobs as CSV")
	cmd.Flags().StringVar(&s.out, "out", "", "`file` to write, which must not exist")
	required(cmd, "discipline", "jobs", "out")
	completes(cmd, "discipline", fluid.Disciplines())
	return cmd
}

// run writes the output file, complete or not at all, and prints a summary.
func (s simFluid) run(stdout io.Writer) error {
	jobs, sojourns, err := s.simulate()
	if err != nil {
		return usageError{err}
	}
	err = results.WriteNew(s.out, func(w io.Writer) error { return fluid.WriteSojourns(w, jobs, sojourns) })
	switch {
	case errors.Is(err, fs.ErrExist):
		return usageError{fmt.Errorf("%s exists; remove it, or name another file with --out", s.out)}
	case err != nil:
		return err
	}
	fmt.Fprintln(stdout, s.summary(sojourns))
	return nil
}

// simulate reads the jobs and computes their sojourn times. It returns only errors of the
// jobs, which are the user's mistakes: exit code 2.
func (s simFluid) simulate() ([]fluid.Job, []float64, error) {
	in, err := os.Open(s.jobs)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close() // read only
	jobs, err := fluid.ReadJobs(s.jobs, in)
	if err != nil {
		return nil, nil, err
	}
	sojourns, err := fluid.Sojourns(s.discipline, jobs)
	return jobs, sojourns, err
}

// summary returns percentiles of the sojourn times: the value at that part of the sorted
// list.
func (s simFluid) summary(sojourns []float64) string {
	if len(sojourns) == 0 {
		return fmt.Sprintf("%s: no jobs", s.discipline)
	}
	sorted := slices.Sorted(slices.Values(sojourns))
	var sum float64
	for _, x := range sorted {
		sum += x
	}
	at := func(percent int) float64 { return sorted[(len(sorted)-1)*percent/100] }
	return fmt.Sprintf("%s: %d jobs; sojourn times: mean %.6g s, median %.6g s, p95 %.6g s, p99 %.6g s, worst %.6g s",
		s.discipline, len(sorted), sum/float64(len(sorted)), at(50), at(95), at(99), at(100))
}
