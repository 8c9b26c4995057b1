package leader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/hammr/hammr/internal/joblog"
	"github.com/hammr/hammr/internal/nodelog"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/web"
)

// logTime bounds the answer of a tasknode about a log.
const logTime = 10 * time.Second

// ReadLog returns the text of an output stream of an attempt, stdout or stderr, as `hammr job logs`
// does. It reads the log of a running attempt on its tasknode, and that of another in the log directory
// of its job, or on the tasknode if the log is not there yet. The error wraps web.ErrUnknown if the
// attempt has printed nothing.
func (s *Source) ReadLog(ctx context.Context, a report.Attempt, dir, stream string) (string, error) {
	text, err := "", error(fs.ErrNotExist)
	if a.State != report.Running {
		text, err = s.readKept(ctx, dir, a, stream)
	}
	if errors.Is(err, fs.ErrNotExist) {
		text, err = s.readFromTasknode(ctx, a, stream)
	}
	if errors.Is(err, fs.ErrNotExist) { // the tasknode may have copied it meanwhile
		text, err = s.readKept(ctx, dir, a, stream)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("attempt %s has printed nothing to %s, or the log was removed after the retention time: %w", a.ID, stream, web.ErrUnknown)
	}
	return text, err
}

// readKept reads a log from the log directory of its job.
func (s *Source) readKept(ctx context.Context, dir string, a report.Attempt, stream string) (string, error) {
	if s.cfg.Resolve == nil {
		return "", fs.ErrNotExist
	}
	for _, name := range []string{dir, joblog.Undated(dir)} {
		if name == "" {
			continue
		}
		fsys, path, err := s.cfg.Resolve(ctx, name)
		if err != nil {
			return "", err
		}
		d, err := joblog.OpenDir(ctx, fsys, path)
		if err != nil {
			return "", err
		}
		if text, err := d.Read(ctx, a.Tasknode, a.ID, stream); !errors.Is(err, fs.ErrNotExist) {
			return string(text), err
		}
	}
	return "", fs.ErrNotExist
}

// readFromTasknode reads a log from the page of its tasknode. It asks only a tasknode that the
// masters know, at the address that they know.
func (s *Source) readFromTasknode(ctx context.Context, a report.Attempt, stream string) (string, error) {
	nodes, err := s.Nodes(ctx)
	if err != nil {
		return "", err
	}
	for _, n := range nodes.Value {
		if n.Name == a.Tasknode && n.State != "LOST" && n.HTTP != "" {
			ctx, cancel := context.WithTimeout(ctx, logTime)
			defer cancel()
			return nodelog.Read(ctx, n.HTTP, a.ID, stream, s.cfg.RPC.Token, s.cfg.RPC.ClusterID)
		}
	}
	return "", fs.ErrNotExist
}
