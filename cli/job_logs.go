package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/hammr/hammr/internal/client/console"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/kit/clean"
)

// newJobLogs asks the leader for the attempts, and any master for their logs. It exits with 1 if no attempt has
// started or a log cannot be read; the other logs are printed all the same.
func (r clusterCommands) newJobLogs() *cobra.Command {
	return r.command(&cobra.Command{
		Use:   "logs JOB [ATTEMPT]",
		Short: "Print the output of the tasks of a job",
		Long: `Print the output of the tasks of a job. While the job runs, the output is
read from the tasknodes that ran the attempts. When it is over, each tasknode
copies the output to the cluster's log directory, and it is read there.`,
		Example: "  hammr job logs job_1763700000000_0001",
		Args:    cobra.RangeArgs(1, 2),
	}, func(ctx context.Context, q *query) error {
		only := ""
		if len(q.args) == 2 {
			only = q.args[1]
		}
		return q.logs(ctx, q.args[0], func(_, attempt string) bool { return only == "" || attempt == only })
	})
}

// newTaskLogs returns the verb that prints logs as newJobLogs does, for one task or attempt.
// The id of a task or attempt contains the id of the job.
func (r clusterCommands) newTaskLogs() *cobra.Command {
	return r.command(&cobra.Command{
		Use:     "logs TASK|ATTEMPT",
		Short:   "Print the output of a task, also while it runs",
		Example: "  hammr task logs attempt_1763700000000_0001_m_000000_0",
		Args:    oneArg("the id of a task or of an attempt"),
	}, func(ctx context.Context, q *query) error {
		job, err := jobOf(q.args[0])
		if err != nil {
			return err
		}
		return q.logs(ctx, job, func(task, attempt string) bool { return task == q.args[0] || attempt == q.args[0] })
	})
}

// logs prints the logs of matching attempts, which masters read as they do for pages. Logs that cannot be read
// do not keep others from being printed. A tasknode that does not answer for a job that is over costs a warning
// only: the attempt may have printed nothing, and a log that is kept needs no tasknode.
func (q *query) logs(ctx context.Context, job string, match func(task, attempt string) bool) error {
	s, err := q.job(ctx, job, true)
	if err != nil {
		return err
	}
	var wanted []apidoc.AttemptLog
	for _, t := range s.Tasks {
		for _, a := range t.Attempts {
			if match(t.Id, a.Id) {
				for _, stream := range docs.LogStreams {
					wanted = append(wanted, apidoc.AttemptLog{Attempt: a.Id, Tasknode: a.Machine, Stream: stream})
				}
			}
		}
	}
	source, err := q.openSource(q.flags)
	if err != nil {
		return err
	}
	faults := make([]error, len(wanted))
	var reads errgroup.Group
	reads.SetLimit(maxLogReads)
	for i := range wanted {
		reads.Go(func() error {
			faults[i] = readLog(ctx, source, &wanted[i])
			return nil
		})
	}
	_ = reads.Wait() // it returns no error
	logs, errs := []apidoc.AttemptLog{}, []error(nil)
	for i, err := range faults {
		switch l := wanted[i]; {
		case err == nil:
			logs = append(logs, l)
		case errors.Is(err, docs.ErrUnknown): // it has printed nothing
		case s.State.Final() && errors.Is(err, docs.ErrUnavailable):
			fmt.Fprintf(q.stderr, "warning: tasknode %s may still have %s of %s: %v\n", l.Tasknode, l.Stream, l.Attempt, err)
		default:
			errs = append(errs, fmt.Errorf("%s of %s: %w", l.Stream, l.Attempt, err))
		}
	}
	if len(wanted) == 0 {
		errs = append(errs, errors.New("no such attempt has started; 'hammr task list "+job+"' lists them"))
	}
	return errors.Join(append(errs, q.writeLogs(logs), source.Close())...)
}

// maxLogReads is the number of logs that are read at the same time.
const maxLogReads = 8

// readLog adds the text to a log.
func readLog(ctx context.Context, source masterSource, l *apidoc.AttemptLog) error {
	for read := int64(0); ; {
		part, err := source.Log(ctx, l.Attempt, l.Stream, docs.LogRange{From: read, Max: docs.MaxLogBytes})
		l.Text += string(part.Text)
		if read += int64(len(part.Text)); err != nil || len(part.Text) == 0 || read >= part.Size {
			return err
		}
	}
}

// writeLogs prints logs. Users' programs must not change the terminal.
func (q *query) writeLogs(logs []apidoc.AttemptLog) error {
	if q.flags.json {
		return q.printJSON(logs)
	}
	show := func(text string) string { return text }
	if f := console.FileOf(q.stdout); f != nil && console.IsTerminal(f) {
		show = clean.Text
	}
	for _, log := range logs {
		fmt.Fprintf(q.stdout, "==> %s %s on %s <==\n%s\n", log.Attempt, log.Stream, log.Tasknode, show(strings.TrimRight(log.Text, "\n")))
	}
	return nil
}
