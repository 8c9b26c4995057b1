package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/sim/results"
	"github.com/hammr/hammr/sim/workload"
	"github.com/hammr/hammr/storage"
)

// newHistory reads histories, of masters for example, and asks no cluster.
func newHistory() *cobra.Command {
	return group(&cobra.Command{
		Use:     "history",
		Short:   "Show what the jobs of a real cluster did",
		Example: "  hammr history plot /var/hammr/history --out jobs.svg",
	}, newHistoryPlot())
}

func newHistoryPlot() *cobra.Command {
	var p recordedJobs
	var out string
	cmd := &cobra.Command{
		Use:   "plot FILE|DIR --out FILE.svg",
		Short: "Draw the slots and the sojourn times of recorded jobs",
		Long: `Draw the jobs in histories of a real cluster: the map slots and the reduce slots
that they used over time, by pool or, if all are in one pool, by job, and the
distribution of their sojourn times. A suspended task has no slot. Histories
can be on any file system, as hdfs://….

--job, --pool, --from and --to select jobs. A time is a day, as 2026-11-23 in
UTC, or of RFC 3339.`,
		Example: `  hammr history plot /var/hammr/history --out jobs.svg
  hammr history plot hdfs://nn/history --from 2026-11-23 --out since.svg`,
		Args: oneArg("a file or directory of histories"),
		RunE: interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			p.history = args[0]
			if err := results.CheckNew(out); err != nil {
				return usageError{err}
			}
			jobs, err := readPast(ctx, &p, cmd.ErrOrStderr(), workload.ReadRecorded)
			if err == nil && len(jobs) == 0 {
				err = fmt.Errorf("%s: no job has finished", p.history)
			}
			if err != nil {
				return usageError{err}
			}
			title := fmt.Sprintf("%d jobs of %s", len(jobs), p.history)
			if err := results.WriteNew(out, results.Recorded(title, jobs).SVG); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s shows %s\n", out, title)
			return err
		}),
	}
	p.addSelection(cmd.Flags())
	cmd.Flags().StringVar(&out, "out", "", "`file` for the picture as SVG, which must not exist")
	required(cmd, "out")
	return cmd
}

// recordedJobs are the jobs in histories that a user selects.
type recordedJobs struct {
	history  string // file or directory
	selected workload.Selection
	from, to string // of selected, as the user typed them
}

func (p *recordedJobs) addSelection(flags *pflag.FlagSet) {
	flags.StringSliceVar(&p.selected.Jobs, "job", nil, "take only the jobs with these `ids`")
	flags.StringVar(&p.selected.Pool, "pool", "", "take only the jobs of one `pool`")
	flags.StringVar(&p.from, "from", "", "take only jobs that finished at this `time` or later")
	flags.StringVar(&p.to, "to", "", "take only jobs that finished on this `day` or earlier, or before this time")
}

// readPast reads the selected jobs, on any file system.
func readPast[T any](ctx context.Context, p *recordedJobs, stderr io.Writer, read func(context.Context, storage.FS, string, workload.Options) (T, error)) (jobs T, err error) {
	var err2 error
	p.selected.From, err = docs.ParseTime(p.from, false)
	p.selected.To, err2 = docs.ParseTime(p.to, true)
	if err := errors.Join(err, err2); err != nil {
		return jobs, fmt.Errorf("--from %q --to %q: expected days as 2026-11-23 or times of RFC 3339", p.from, p.to)
	}
	files, err := openFiles(stderr)
	if err != nil {
		return jobs, err
	}
	defer files.Close() // they were only read
	fsys, path, err := files.Resolve(ctx, p.history)
	if err != nil {
		return jobs, err
	}
	return read(ctx, fsys, path, workload.Options{Select: p.selected})
}
