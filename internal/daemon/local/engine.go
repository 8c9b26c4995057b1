package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/logs/profile"
	"github.com/hammr/hammr/internal/source/board"
	"github.com/hammr/hammr/jobmaster"
)

// Engine returns the cluster of a jobmaster in this process, which leads. cluster is its id.
func Engine(m *jobmaster.Master, cluster string) docs.Source {
	cfg := board.OfMaster(m)
	cfg.Cluster, cfg.Leader = cluster, newEngine(m, cluster)
	return board.New(cfg)
}

// engine is the board.Leader of a jobmaster in this process. Its pages are for reading only.
type engine struct{ table docs.Table }

func newEngine(m *jobmaster.Master, cluster string) *engine {
	e := &engine{board.OfLeader(m)}
	docs.Serve(e.table, docs.Masters, func(context.Context, docs.No) (docs.Answer[apidoc.Masters], error) {
		this := apidoc.Master{ID: "local", State: "leader"}
		return docs.Answer[apidoc.Masters]{Value: apidoc.Masters{Cluster: cluster, Leader: this.ID, Masters: []apidoc.Master{this}}, At: time.Now()}, nil
	})
	docs.Serve(e.table, docs.Preview, func(context.Context, docs.PolicyQuery) (a docs.Answer[apidoc.PolicyPreview], err error) {
		return a, errReadOnly
	})
	return e
}

var errReadOnly = fmt.Errorf("these pages are for reading only: %w", docs.ErrRefused)

// Read implements board.Leader.
func (e *engine) Read(ctx context.Context, d *docs.Entry, query any) (docs.Answer[any], error) {
	a, err := e.table.Read(ctx, e, d, query)
	if errors.As(err, new(*jobmaster.OverloadError)) || errors.Is(err, jobmaster.ErrNotLeader) || errors.Is(err, jobmaster.ErrStopped) {
		err = fmt.Errorf("%w: %w", docs.ErrUnavailable, err)
	}
	return a, err
}

// Change implements board.Leader.
func (*engine) Change(context.Context, docs.Change) (apidoc.Change, error) {
	return apidoc.Change{}, errReadOnly
}

// ReadLog implements board.Leader.
func (*engine) ReadLog(_ context.Context, a report.Attempt, _, _ string, _ docs.LogRange) (p docs.LogPart, err error) {
	return p, fmt.Errorf("attempt %s has no log: it ran in the process that serves these pages: %w", a.ID, docs.ErrUnknown)
}

// TakeProfile implements board.Leader. The attempts, and everything else, are in this process.
func (*engine) TakeProfile(ctx context.Context, _ string, q docs.ProfileQuery) (p docs.ProfileData, err error) {
	p.Note = "It is of the process that runs the whole job and serves these pages: all attempts run in it."
	p.Bytes, err = profile.Take(ctx, q.Query)
	if errors.As(err, new(profile.Refusal)) {
		err = docs.Classify(docs.ErrRefused, err)
	}
	return p, err
}
