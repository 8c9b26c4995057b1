package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/client/console"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/kit/clean"
	"github.com/hammr/hammr/internal/logs/nodelog"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// newJobLogs asks the leader for the attempts, then reads files of the cluster's log directory
// and the HTTP pages of tasknodes. It exits with 1 if no attempt has started or a log cannot be
// read; the other logs are printed all the same.
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

// logs prints the logs of matching attempts.
func (q *query) logs(ctx context.Context, job string, match func(task, attempt string) bool) error {
	s, err := q.job(ctx, job, true)
	if err != nil {
		return err
	}
	router, err := q.openFiles(q.stderr)
	if err != nil {
		return err
	}
	l := &logReader{query: q, router: router, job: s}
	var attempts []*wire.TaskStatus_Attempt
	for _, t := range s.Tasks {
		for _, a := range t.Attempts {
			if match(t.Id, a.Id) {
				attempts = append(attempts, a)
			}
		}
	}
	err = l.read(ctx, attempts)
	if err == nil && len(attempts) == 0 {
		err = errors.New("no such attempt has started; 'hammr task list " + job + "' lists them")
	}
	return errors.Join(err, l.write(), router.Close())
}

// write prints the logs that were found, also if others could not be read.
func (l *logReader) write() error {
	if l.logs == nil {
		l.logs = []apidoc.AttemptLog{}
	}
	if l.flags.json {
		return l.printJSON(l.logs)
	}
	show := func(text string) string { return text }
	if f := console.FileOf(l.stdout); f != nil && console.IsTerminal(f) {
		show = clean.Text
	}
	for _, log := range l.logs {
		fmt.Fprintf(l.stdout, "==> %s %s on %s <==\n%s\n", log.Attempt, log.Stream, log.Tasknode, show(strings.TrimRight(log.Text, "\n")))
	}
	return nil
}

// fetchLog reads a log of an attempt from its tasknode's page, which demands the cluster's
// token.
func fetchLog(ctx context.Context, f clusterFlags, page, attempt, stream string) (string, error) {
	_, token, id, err := f.cluster()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	return nodelog.Read(ctx, page, attempt, stream, token, id)
}

// listLogs returns ATTEMPT/STREAM of each log that a tasknode still has of a job.
func listLogs(ctx context.Context, f clusterFlags, page, job string) ([]string, error) {
	_, token, id, err := f.cluster()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	return nodelog.List(ctx, page, job, token, id)
}
