package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/console"
	"github.com/hammr/hammr/internal/tasknoded"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/storage"
)

// newJobLogs asks the leader for the attempts, then reads files of the cluster's log directory
// and, for attempts that run, the HTTP page of their tasknodes. It exits with 1 if no attempt
// has started or a log cannot be read; the other logs are printed all the same.
func (r clusterCommands) newJobLogs() *cobra.Command {
	return r.command(&cobra.Command{
		Use:   "logs JOB [ATTEMPT]",
		Short: "Print the output of the tasks of a job",
		Long: `Print the output of the tasks of a job. The output of finished attempts is read
from the cluster's log directory, so it does not need the machine that ran them;
that of running attempts is read from their tasknodes.`,
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
	for _, t := range s.Tasks {
		for _, a := range t.Attempts {
			if match(t.Id, a.Id) {
				err = errors.Join(err, l.read(ctx, a))
			}
		}
	}
	if err == nil && !l.found {
		err = errors.New("no such attempt has started; 'hammr task list " + job + "' lists them")
	}
	return errors.Join(err, l.write(), router.Close())
}

// logReader collects the logs of one command, which prints them at the end: with --json they
// are one list.
type logReader struct {
	*query
	// File systems of the log directory.
	router *storage.Router
	job    *wire.JobStatus
	pages  map[string]string // host:port of each tasknode's web page, by tasknode; nil before the first use
	// Whether an attempt matched, with or without output.
	found bool
	logs  []apidoc.AttemptLog
}

// read reads the logs of one attempt, if there are any. It takes them from the first source
// that has some.
func (l *logReader) read(ctx context.Context, a *wire.TaskStatus_Attempt) error {
	l.found = true
	for _, source := range l.sources(a) {
		if found, err := l.readFrom(ctx, a, source); found || err != nil {
			return err
		}
	}
	return nil
}

// sources returns the places that may have the logs of an attempt. When an attempt ends, its
// tasknode copies the logs to the log directory. During the copy both places are possible.
// Once the job is over only the directory is read.
func (l *logReader) sources(a *wire.TaskStatus_Attempt) []logSource {
	switch {
	// The tasknode may have stopped, or may run another job.
	case l.job.State >= wire.JobState_SUCCEEDED:
		return []logSource{l.readKept}
	case a.State == wire.AttemptState_ATTEMPT_RUNNING || l.job.LogDir == "":
		return []logSource{l.readFromTasknode}
	}
	return []logSource{l.readKept, l.readFromTasknode}
}

// logSource reads a stream of an attempt from one place. The error wraps fs.ErrNotExist if
// the place does not have the stream.
type logSource func(ctx context.Context, a *wire.TaskStatus_Attempt, stream string) (string, error)

// readFrom reads all streams of an attempt from one place. found is false if the place has
// none.
func (l *logReader) readFrom(ctx context.Context, a *wire.TaskStatus_Attempt, source logSource) (found bool, err error) {
	for _, stream := range tasknoded.LogStreams {
		text, err := source(ctx, a, stream)
		// An attempt that has printed nothing on a stream has no file for it.
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("%s of %s: %w", stream, a.Id, err)
		}
		found = true
		l.logs = append(l.logs, apidoc.AttemptLog{Attempt: a.Id, Tasknode: a.Machine, Stream: stream, Text: text})
	}
	return found, nil
}

// readKept reads a stream from the job's log directory.
func (l *logReader) readKept(ctx context.Context, a *wire.TaskStatus_Attempt, stream string) (string, error) {
	if l.job.LogDir == "" {
		return "", fmt.Errorf("job %s has no log directory", l.job.JobId)
	}
	text, err := l.content(ctx, l.job.LogDir+"/"+a.Id+"/"+stream)
	if older := undatedDir(l.job.LogDir); older != "" && errors.Is(err, fs.ErrNotExist) {
		return l.content(ctx, older+"/"+a.Id+"/"+stream)
	}
	return text, err
}

// undatedDir returns the log directory that masters of older versions gave a job, whose
// directory is not in the directory of a day; "" if dir is not in such a directory.
func undatedDir(dir string) string {
	day, job := path.Split(dir)
	root, name := path.Split(strings.TrimSuffix(day, "/"))
	if _, err := time.Parse(time.DateOnly, name); err != nil {
		return ""
	}
	return root + job
}

// readFromTasknode reads a stream from the web page of the attempt's tasknode. It returns
// fs.ErrNotExist for a tasknode without a page, or one that the masters have forgotten.
func (l *logReader) readFromTasknode(ctx context.Context, a *wire.TaskStatus_Attempt, stream string) (string, error) {
	if l.pages == nil {
		nodes, err := l.Tasknodes(ctx, true)
		if err != nil {
			return "", err
		}
		l.pages = make(map[string]string)
		for _, n := range nodes {
			l.pages[n.Name] = n.Http
		}
	}
	page := l.pages[a.Machine]
	if page == "" {
		return "", fmt.Errorf("tasknode %s has no page: %w", a.Machine, fs.ErrNotExist)
	}
	return l.fetchLog(ctx, l.flags, page, a.Id, stream)
}

// content reads a file by its full name, such as hdfs://nn/logs/x.
func (l *logReader) content(ctx context.Context, name string) (string, error) {
	fsys, path, err := l.router.Resolve(ctx, name)
	if err != nil {
		return "", err
	}
	f, err := fsys.Open(ctx, path)
	if err != nil {
		return "", err
	}
	defer f.Close() // only read
	text, err := io.ReadAll(f)
	return string(text), err
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
	if f, ok := l.stdout.(*os.File); ok && console.IsTerminal(f) {
		show = console.Printable
	}
	for _, log := range l.logs {
		fmt.Fprintf(l.stdout, "==> %s %s on %s <==\n%s\n", log.Attempt, log.Stream, log.Tasknode, show(strings.TrimRight(log.Text, "\n")))
	}
	return nil
}

// fetchLog reads a log of a running attempt from its tasknode's page, which demands the
// cluster's token.
func fetchLog(ctx context.Context, f clusterFlags, page, attempt, stream string) (string, error) {
	_, token, id, err := f.cluster()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	return tasknoded.FetchLog(ctx, page, attempt, stream, token, id)
}
