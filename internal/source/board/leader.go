package board

import (
	"context"
	"fmt"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/sched"
)

// OfLeader answers what only the leader knows, from the jobmaster of this process. The caller knows that it
// leads.
func OfLeader(m *jobmaster.Master) docs.Table {
	t := docs.Table{}
	serveOf(t, docs.AllJobs, func(ctx context.Context, q docs.AllQuery) ([]apidoc.Job, error) {
		if q.Since != 0 {
			jobs, err := m.JobsSince(ctx, int64(q.Since))
			return apidoc.Jobs(jobs), err
		}
		jobs, err := m.Jobs(ctx, q.Finished == docs.Yes)
		return apidoc.Jobs(jobs), err
	})
	serveOf(t, docs.Status, func(ctx context.Context, q docs.JobID) (*wire.JobStatus, error) { return m.Job(ctx, q.Job, true) })
	serveOf(t, docs.Progress, func(ctx context.Context, q docs.JobID) (*wire.JobStatus, error) { return m.Job(ctx, q.Job, false) })
	serveOf(t, docs.Explanation, func(ctx context.Context, q docs.TaskID) (apidoc.Explanation, error) {
		return m.Explain(ctx, q.Job, q.Task)
	})
	serveOf(t, docs.Nodes, func(ctx context.Context, _ docs.No) ([]apidoc.Tasknode, error) { return m.Tasknodes(ctx) })
	serveOf(t, docs.Node, func(ctx context.Context, q docs.NodeID) (apidoc.Tasknode, error) { return m.Tasknode(ctx, q.Node) })
	serveOf(t, docs.Losses, func(_ context.Context, q docs.LossQuery) (apidoc.Losses, error) { return m.Board().Losses(q.Node), nil })
	serveOf(t, docs.Pools, func(ctx context.Context, _ docs.No) ([]apidoc.Queue, error) { return m.Queues(ctx) })
	serveOf(t, docs.Policy, func(ctx context.Context, _ docs.No) (apidoc.Policy, error) { return m.Policy(ctx) })
	serveOf(t, docs.Preview, func(ctx context.Context, q docs.PolicyQuery) (apidoc.PolicyPreview, error) {
		return m.PreviewPolicy(ctx, q.Policy, q.Conf)
	})
	serveOf(t, docs.Decisions, func(_ context.Context, q docs.DecisionQuery) (doc apidoc.Decisions, err error) {
		var job cluster.JobID
		if q.Job != "" {
			if job, err = cluster.ParseJobID(q.Job); err != nil {
				return doc, fmt.Errorf("%w: %w", docs.ErrUnknown, err)
			}
		}
		return m.Decisions(jobmaster.DecisionFilter{
			Job: job, Pool: q.Pool, Machine: q.Node, Kind: sched.DecisionKind(q.Kind), Before: q.Before, Limit: q.Limit,
		}), nil
	})
	return t
}

// serveOf answers a document with what the jobmaster says now.
func serveOf[Q, A any](t docs.Table, d docs.Document[Q, A], ask func(context.Context, Q) (A, error)) {
	docs.Serve(t, d, func(ctx context.Context, q Q) (docs.Answer[A], error) {
		value, err := ask(ctx, q)
		return docs.Answer[A]{Value: value, At: time.Now()}, err
	})
}
