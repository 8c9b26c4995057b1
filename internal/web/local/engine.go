package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/profile"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/internal/web/board"
	"github.com/hammr/hammr/jobmaster"
)

// Engine returns the cluster of a jobmaster in this process, which leads. cluster is its id.
func Engine(m *jobmaster.Master, cluster string) web.Source {
	cfg := board.OfMaster(m)
	cfg.Cluster, cfg.Leader = cluster, &engine{readOnly{cluster: cluster, now: time.Now}, m}
	return board.New(cfg)
}

// readOnly is the part of a board.Leader that is the same for all clusters in this process.
type readOnly struct {
	web.NoScheduler
	cluster string
	now     func() time.Time
}

// Masters implements board.Leader.
func (r readOnly) Masters(context.Context) (web.Answer[apidoc.Masters], error) {
	this := apidoc.Master{ID: "local", State: "leader"}
	return web.Answer[apidoc.Masters]{Value: apidoc.Masters{Cluster: r.cluster, Leader: this.ID, Masters: []apidoc.Master{this}}, At: r.now()}, nil
}

// Act implements board.Leader.
func (readOnly) Act(context.Context, web.Action) (apidoc.Change, error) {
	return apidoc.Change{}, fmt.Errorf("these pages are for reading only: %w", web.ErrRefused)
}

// ReadLog implements board.Leader.
func (readOnly) ReadLog(_ context.Context, a report.Attempt, _, _ string, _ web.LogRange) (p web.LogPart, err error) {
	return p, fmt.Errorf("attempt %s has no log: it ran in the process that serves these pages: %w", a.ID, web.ErrUnknown)
}

// TakeProfile implements board.Leader.
func (r readOnly) TakeProfile(ctx context.Context, _ string, q web.ProfileQuery) (web.ProfileData, error) {
	return web.NoProfiles{}.Profile(ctx, q)
}

// engine is the board.Leader of a jobmaster in this process.
type engine struct {
	readOnly
	master *jobmaster.Master
}

// answered returns an answer of the jobmaster.
func answered[T any](r readOnly, value T, err error) (web.Answer[T], error) {
	switch {
	case errors.Is(err, cluster.ErrUnknown):
		err = fmt.Errorf("%w: %w", web.ErrUnknown, err)
	case errors.As(err, new(*jobmaster.OverloadError)), errors.Is(err, jobmaster.ErrNotLeader), errors.Is(err, jobmaster.ErrStopped):
		err = fmt.Errorf("%w: %w", web.ErrUnavailable, err)
	}
	return web.Answer[T]{Value: value, At: r.now()}, err
}

// Explain implements board.Leader.
func (e *engine) Explain(ctx context.Context, job, task string) (web.Answer[apidoc.Explanation], error) {
	explanation, err := e.master.Explain(ctx, job, task)
	if err != nil {
		return answered(e.readOnly, apidoc.Explanation{}, err)
	}
	return answered(e.readOnly, apidoc.ExplanationOf(explanation), nil)
}

// Nodes implements board.Leader.
func (e *engine) Nodes(ctx context.Context) (web.Answer[[]apidoc.Tasknode], error) {
	nodes, err := e.master.Tasknodes(ctx, true)
	return answered(e.readOnly, apidoc.Tasknodes(nodes), err)
}

// Node implements board.Leader.
func (e *engine) Node(ctx context.Context, name string) (web.Answer[apidoc.Tasknode], error) {
	n, err := e.master.Tasknode(ctx, name)
	if err != nil {
		return answered(e.readOnly, apidoc.Tasknode{}, err)
	}
	return answered(e.readOnly, apidoc.TasknodeOf(n), nil)
}

// Pools implements board.Leader.
func (e *engine) Pools(ctx context.Context) (web.Answer[[]apidoc.Queue], error) {
	queues, err := e.master.Queues(ctx)
	return answered(e.readOnly, apidoc.Queues(queues.GetQueues()), err)
}

// Policy implements board.Leader.
func (e *engine) Policy(ctx context.Context) (web.Answer[apidoc.Policy], error) {
	policy, err := e.master.Policy(ctx)
	if err != nil {
		return answered(e.readOnly, apidoc.Policy{}, err)
	}
	return answered(e.readOnly, apidoc.PolicyOf(policy), nil)
}

// TakeProfile implements board.Leader. The attempts, and everything else, are in this process.
func (e *engine) TakeProfile(ctx context.Context, _ string, q web.ProfileQuery) (p web.ProfileData, err error) {
	p.Note = "It is of the process that runs the whole job and serves these pages: all attempts run in it."
	p.Bytes, err = profile.Take(ctx, q.Query)
	if errors.As(err, new(profile.Refusal)) {
		err = web.Classify(web.ErrRefused, err)
	}
	return p, err
}
