package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/logs/joblog"
	"github.com/hammr/hammr/internal/logs/nodelog"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/storage"
)

// logReader collects the logs of one command, which prints them at the end: with --json they
// are one list.
//
// While the job runs, its tasknodes have the logs. When it is over, each tasknode copies the
// logs to one file in the log directory and then removes its own. So a log that is not in the
// directory may still be on its tasknode; and if it is not there either, it may have come to
// the directory meanwhile. The files are readable for the daemons' user and their group only;
// other holders of the token read them through a master.
type logReader struct {
	*query
	router *storage.Router // file systems of the log directory
	job    *wire.JobStatus
	dir    *joblog.Dir                // the log directory of the job; nil if it has none
	pages  map[string]string          // host:port of each tasknode's web page, by tasknode; nil before the first use
	failed map[string]bool            // tasknodes that have not answered
	closed bool                       // this user may not list the log directory
	local  map[string]map[string]bool // ATTEMPT/STREAM of logs that are still on a tasknode, by tasknode; only if the job is over
	logs   []apidoc.AttemptLog
}

// read reads the logs of attempts, if there are any. After an error it reads the others.
func (l *logReader) read(ctx context.Context, attempts []*wire.TaskStatus_Attempt) error {
	l.failed = make(map[string]bool)
	if err := l.openDir(ctx); err != nil {
		return err
	}
	if l.over() && !l.closed {
		if err := l.listLocal(ctx, attempts); err != nil {
			return err
		}
	}
	var errs []error
	for _, a := range attempts {
		for _, stream := range nodelog.Streams {
			switch text, err := l.text(ctx, a, stream); {
			case err == nil:
				l.logs = append(l.logs, apidoc.AttemptLog{Attempt: a.Id, Tasknode: a.Machine, Stream: stream, Text: text})
			case !errors.Is(err, fs.ErrNotExist): // an attempt that has printed nothing has no log
				errs = append(errs, fmt.Errorf("%s of %s: %w", stream, a.Id, err))
			}
		}
	}
	return errors.Join(errs...)
}

// over reports whether the job is over.
func (l *logReader) over() bool { return l.job.State.Final() }

// text returns a log. If the attempt has printed nothing, the error wraps fs.ErrNotExist.
func (l *logReader) text(ctx context.Context, a *wire.TaskStatus_Attempt, stream string) (string, error) {
	if !l.over() && a.State == wire.AttemptState_ATTEMPT_RUNNING {
		return l.readFromTasknode(ctx, a, stream)
	}
	if l.closed {
		return l.readFromMaster(ctx, a.Id, stream)
	}
	text, err := l.readKept(ctx, a, stream)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return l.readFromMaster(ctx, a.Id, stream)
	case !errors.Is(err, fs.ErrNotExist):
		return text, err
	case !l.over() && (l.dir == nil || !l.dir.HasMachine(a.Machine)):
		return l.readFromTasknode(ctx, a, stream)
	case !l.local[a.Machine][a.Id+"/"+stream]:
		return "", err
	}
	if text, err = l.readFromTasknode(ctx, a, stream); !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	if err := l.dir.Refresh(ctx); err != nil {
		return "", err
	}
	return l.readKept(ctx, a, stream)
}

// openDir lists the log directory of the job. A job that runs need not have one.
func (l *logReader) openDir(ctx context.Context) error {
	if l.job.LogDir == "" {
		if l.over() {
			return fmt.Errorf("job %s has no log directory", l.job.JobId)
		}
		return nil
	}
	fsys, dir, err := l.router.Resolve(ctx, l.job.LogDir)
	if err != nil {
		return err
	}
	l.dir, err = joblog.OpenDir(ctx, fsys, dir)
	if errors.Is(err, fs.ErrPermission) {
		l.closed = true
		return nil
	}
	return err
}

// readKept reads a log from the log directory.
func (l *logReader) readKept(ctx context.Context, a *wire.TaskStatus_Attempt, stream string) (string, error) {
	if l.dir == nil {
		return "", fs.ErrNotExist
	}
	text, err := l.dir.Read(ctx, a.Machine, a.Id, stream)
	return string(text), err
}

// readFromMaster reads a log as pages do: a master reads the file. Any master answers.
func (l *logReader) readFromMaster(ctx context.Context, attempt, stream string) (string, error) {
	source, err := l.openSource()
	if err != nil {
		return "", err
	}
	var text []byte
	for {
		part, err := source.Log(ctx, attempt, stream, docs.LogRange{From: int64(len(text)), Max: docs.MaxLogBytes})
		if errors.Is(err, docs.ErrUnknown) {
			err = fmt.Errorf("%w: %w", err, fs.ErrNotExist)
		}
		if text = append(text, part.Text...); err != nil || len(part.Text) == 0 || int64(len(text)) >= part.Size {
			return string(text), errors.Join(err, source.Close())
		}
	}
}

// maxListings is the number of tasknodes that are asked at the same time.
const maxListings = 16

// listLocal asks each tasknode whose logs are not in the directory which logs it still has. A
// tasknode that does not answer costs a warning: its attempts may have printed nothing.
func (l *logReader) listLocal(ctx context.Context, attempts []*wire.TaskStatus_Attempt) error {
	if err := l.findPages(ctx); err != nil {
		return err
	}
	l.local = make(map[string]map[string]bool)
	var mu sync.Mutex
	var asked errgroup.Group
	asked.SetLimit(maxListings)
	for _, a := range attempts {
		page := l.pages[a.Machine]
		if _, known := l.local[a.Machine]; known || page == "" || l.dir.HasMachine(a.Machine) {
			continue
		}
		have := make(map[string]bool)
		l.local[a.Machine] = have
		asked.Go(func() error {
			names, err := l.listLogs(ctx, l.flags, page, l.job.JobId)
			for _, name := range names {
				have[name] = true
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				mu.Lock()
				defer mu.Unlock()
				fmt.Fprintf(l.stderr, "warning: tasknode %s may still have logs of the job: %v\n", a.Machine, err)
			}
			return nil
		})
	}
	_ = asked.Wait() // it returns no error
	if len(l.local) == 0 {
		return nil
	}
	return l.dir.Refresh(ctx)
}

// findPages finds the web pages of tasknodes. Tasknodes that are lost have none.
func (l *logReader) findPages(ctx context.Context) error {
	if l.pages != nil {
		return nil
	}
	nodes, err := docs.Nodes.From(ctx, l, docs.No{})
	if err != nil {
		return err
	}
	l.pages = make(map[string]string)
	for _, n := range nodes {
		if !n.Lost {
			l.pages[n.Name] = n.HTTP
		}
	}
	return nil
}

// readFromTasknode reads a log from the web page of the attempt's tasknode. It returns
// fs.ErrNotExist for a tasknode without a page, one that is lost, and one that the masters have
// forgotten. A tasknode that does not answer is asked once.
func (l *logReader) readFromTasknode(ctx context.Context, a *wire.TaskStatus_Attempt, stream string) (string, error) {
	if err := l.findPages(ctx); err != nil {
		return "", err
	}
	page := l.pages[a.Machine]
	if page == "" || l.failed[a.Machine] {
		return "", fmt.Errorf("tasknode %s has no page that answers: %w", a.Machine, fs.ErrNotExist)
	}
	text, err := l.fetchLog(ctx, l.flags, page, a.Id, stream)
	l.failed[a.Machine] = err != nil && !errors.Is(err, fs.ErrNotExist)
	return text, err
}
