package leader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/logs/joblog"
	"github.com/hammr/hammr/internal/logs/nodelog"
	"github.com/hammr/hammr/internal/source/answers"
)

const (
	// logTime bounds the answer of a tasknode about a log.
	logTime = 10 * time.Second
	// placeAge is how long the list of a log directory is fresh. A page that follows a log asks each
	// second.
	placeAge = 5 * time.Second
)

// logPlace is where the kept logs of a job are.
type logPlace struct {
	dir string // log directory of the job, "" for none

	mu struct {
		sync.Mutex
		logs   *joblog.Dir // the log directory; nil before the first use
		listed time.Time   // before it was listed
	}
}

// ReadLog returns a part of an output stream of an attempt, stdout or stderr, as `hammr job logs` does.
// dir is the log directory of its job. The log of a running attempt is on its tasknode, and that of
// another in the directory, or on the tasknode if it is not there yet. The error wraps docs.ErrUnknown if
// the attempt has printed nothing.
func (s *Source) ReadLog(ctx context.Context, a report.Attempt, dir, stream string, r docs.LogRange) (docs.LogPart, error) {
	place, err := answers.Ask(ctx, s.answers, "logs "+dir, func(context.Context) (docs.Answer[*logPlace], time.Duration, error) {
		return docs.Answer[*logPlace]{Value: &logPlace{dir: dir}}, placeAge, nil
	})
	if err != nil {
		return docs.LogPart{}, err
	}
	want, ended := nodelog.Range{From: r.From, Max: r.Max}, a.State != report.Running
	part, err := nodelog.Part{}, error(fs.ErrNotExist)
	if ended {
		part, err = s.readKept(ctx, place.Value, a, stream, want, time.Time{})
	}
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, joblog.ErrNotPrinted) {
		if part, err = s.readFromTasknode(ctx, a, stream, want); err != nil { // it may have copied the log meanwhile, and may have ended
			if kept, missing := s.readKept(ctx, place.Value, a, stream, want, time.Now()); missing == nil || errors.Is(err, fs.ErrNotExist) {
				part, err = kept, missing
			}
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return docs.LogPart{}, fmt.Errorf("attempt %s has printed nothing to %s, or the log was removed after the retention time: %w", a.ID, stream, docs.ErrUnknown)
	}
	return docs.LogPart{Text: part.Text, Offset: part.Offset, Size: part.Size, Complete: ended}, err
}

// readKept reads a part of a log in the log directory of its job, as the directory was at a time or later.
func (s *Source) readKept(ctx context.Context, p *logPlace, a report.Attempt, stream string, want nodelog.Range, at time.Time) (nodelog.Part, error) {
	logs, err := s.list(ctx, p, at)
	if err != nil {
		return nodelog.Part{}, err
	}
	text, offset, size, err := logs.ReadPart(ctx, a.Tasknode, a.ID, stream, want.In)
	return nodelog.Part{Text: text, Offset: offset, Size: size}, err
}

// list lists the log directory of a job, unless that was done at a time or later.
func (s *Source) list(ctx context.Context, p *logPlace, at time.Time) (*joblog.Dir, error) {
	if s.cfg.Resolve == nil || p.dir == "" {
		return nil, fs.ErrNotExist
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.logs != nil && !p.mu.listed.Before(at) {
		return p.mu.logs, nil
	}
	begun := time.Now()
	fsys, path, err := s.cfg.Resolve(ctx, p.dir)
	if err != nil {
		return nil, err
	}
	logs, err := joblog.OpenDir(ctx, fsys, path)
	if err == nil {
		p.mu.logs, p.mu.listed = logs, begun
	}
	return logs, err
}

// readFromTasknode reads a part of a log from the page of its tasknode. It asks only a tasknode that
// the masters know, at the address that they know. If it does not answer, the error wraps docs.ErrUnavailable.
func (s *Source) readFromTasknode(ctx context.Context, a report.Attempt, stream string, want nodelog.Range) (nodelog.Part, error) {
	nodes, err := docs.Nodes.Read(ctx, s, docs.No{})
	if err != nil {
		return nodelog.Part{}, err
	}
	for _, n := range nodes.Value {
		if n.Name == a.Tasknode && n.State != "LOST" && n.HTTP != "" {
			ctx, cancel := context.WithTimeout(ctx, logTime)
			defer cancel()
			part, err := nodelog.ReadRange(ctx, n.HTTP, a.ID, stream, want, s.cfg.RPC.Token, s.cfg.RPC.ClusterID)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				err = docs.Classify(docs.ErrUnavailable, err)
			}
			return part, err
		}
	}
	return nodelog.Part{}, fs.ErrNotExist
}
