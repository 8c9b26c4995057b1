package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/profile"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/web/board"
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
	e := &engine{docs.Table{}}
	serve(e, docs.Masters, func(context.Context, docs.No) (apidoc.Masters, error) {
		this := apidoc.Master{ID: "local", State: "leader"}
		return apidoc.Masters{Cluster: cluster, Leader: this.ID, Masters: []apidoc.Master{this}}, nil
	})
	serve(e, docs.Explanation, func(ctx context.Context, q docs.TaskID) (apidoc.Explanation, error) {
		explanation, err := m.Explain(ctx, q.Job, q.Task)
		return apidoc.Of(explanation, err, apidoc.ExplanationOf)
	})
	serve(e, docs.Nodes, func(ctx context.Context, _ docs.No) ([]apidoc.Tasknode, error) {
		nodes, err := m.Tasknodes(ctx, true)
		return apidoc.Tasknodes(nodes), err
	})
	serve(e, docs.Node, func(ctx context.Context, q docs.NodeID) (apidoc.Tasknode, error) {
		n, err := m.Tasknode(ctx, q.Node)
		return apidoc.Of(n, err, apidoc.TasknodeOf)
	})
	serve(e, docs.Pools, func(ctx context.Context, _ docs.No) ([]apidoc.Queue, error) {
		queues, err := m.Queues(ctx)
		return apidoc.Queues(queues.GetQueues()), err
	})
	serve(e, docs.Policy, func(ctx context.Context, _ docs.No) (apidoc.Policy, error) {
		policy, err := m.Policy(ctx)
		return apidoc.Of(policy, err, apidoc.PolicyOf)
	})
	serve(e, docs.Preview, func(context.Context, docs.PolicyQuery) (doc apidoc.PolicyPreview, err error) {
		return doc, errReadOnly
	})
	serve(e, docs.Decisions, func(context.Context, docs.DecisionQuery) (apidoc.Decisions, error) {
		return apidoc.Decisions{Decisions: []apidoc.Decision{}}, nil
	})
	return e
}

// serve answers a document with what the jobmaster says now.
func serve[Q, A any](e *engine, d docs.Document[Q, A], ask func(context.Context, Q) (A, error)) {
	docs.Serve(e.table, d, func(ctx context.Context, q Q) (docs.Answer[A], error) {
		value, err := ask(ctx, q)
		if errors.As(err, new(*jobmaster.OverloadError)) || errors.Is(err, jobmaster.ErrNotLeader) || errors.Is(err, jobmaster.ErrStopped) {
			err = fmt.Errorf("%w: %w", docs.ErrUnavailable, err)
		}
		return docs.Answer[A]{Value: value, At: time.Now()}, err
	})
}

var errReadOnly = fmt.Errorf("these pages are for reading only: %w", docs.ErrRefused)

// Read implements board.Leader.
func (e *engine) Read(ctx context.Context, d *docs.Entry, query any) (docs.Answer[any], error) {
	return e.table.Read(ctx, e, d, query)
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
