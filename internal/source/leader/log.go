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

// logPlace is where the kept logs of an attempt are.
type logPlace struct {
	attempt report.Attempt
	dir     string // log directory of the job, "" for none

	mu struct {
		sync.Mutex
		logs *joblog.Dir // the log directory; nil before the first use
	}
}

// ReadLog returns a part of an output stream of an attempt, stdout or stderr, as `hammr job logs` does.
// dir is the log directory of its job. The log of a running attempt is on its tasknode, and that of
// another in the directory, or on the tasknode if it is not there yet. The error wraps docs.ErrUnknown if
// the attempt has printed nothing.
func (s *Source) ReadLog(ctx context.Context, a report.Attempt, dir, stream string, r docs.LogRange) (docs.LogPart, error) {
	place, err := answers.Ask(ctx, s.answers, "log "+a.ID, func(context.Context) (docs.Answer[*logPlace], time.Duration, error) {
		return docs.Answer[*logPlace]{Value: &logPlace{attempt: a, dir: dir}}, placeAge, nil
	})
	if err != nil {
		return docs.LogPart{}, err
	}
	want, ended := nodelog.Range{From: r.From, Max: r.Max}, a.State != report.Running
	part, err := nodelog.Part{}, error(fs.ErrNotExist)
	if ended {
		part, err = s.readKept(ctx, place.Value, stream, want)
	}
	if errors.Is(err, fs.ErrNotExist) {
		part, err = s.readFromTasknode(ctx, a, stream, want)
	}
	if err != nil { // the tasknode may have copied it meanwhile, and may have ended
		if kept, missing := s.readKept(ctx, place.Value, stream, want); missing == nil || errors.Is(err, fs.ErrNotExist) {
			part, err = kept, missing
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return docs.LogPart{}, fmt.Errorf("attempt %s has printed nothing to %s, or the log was removed after the retention time: %w", a.ID, stream, docs.ErrUnknown)
	}
	return docs.LogPart{Text: part.Text, Offset: part.Offset, Size: part.Size, Complete: ended}, err
}

// readKept reads a part of a log in the log directory of its job. It lists the directory at the first
// call, and again after one that has not found a log.
func (s *Source) readKept(ctx context.Context, p *logPlace, stream string, want nodelog.Range) (nodelog.Part, error) {
	if s.cfg.Resolve == nil || p.dir == "" {
		return nodelog.Part{}, fs.ErrNotExist
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.logs == nil {
		fsys, path, err := s.cfg.Resolve(ctx, p.dir)
		if err != nil {
			return nodelog.Part{}, err
		}
		if p.mu.logs, err = joblog.OpenDir(ctx, fsys, path); err != nil {
			p.mu.logs = nil
			return nodelog.Part{}, err
		}
	}
	text, offset, size, err := p.mu.logs.ReadPart(ctx, p.attempt.Tasknode, p.attempt.ID, stream, want.In)
	if errors.Is(err, fs.ErrNotExist) {
		p.mu.logs = nil
	}
	return nodelog.Part{Text: text, Offset: offset, Size: size}, err
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
