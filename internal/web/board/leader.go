package board

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/sched"
)

// OfLeader answers what only the leader knows, from the jobmaster of this process. The caller knows that it
// leads.
func OfLeader(m *jobmaster.Master) docs.Table {
	t := docs.Table{}
	serveOf(t, docs.Explanation, func(ctx context.Context, q docs.TaskID) (apidoc.Explanation, error) {
		explanation, err := m.Explain(ctx, q.Job, q.Task)
		return apidoc.Of(explanation, err, apidoc.ExplanationOf)
	})
	serveOf(t, docs.Nodes, func(ctx context.Context, _ docs.No) ([]apidoc.Tasknode, error) {
		nodes, err := m.Tasknodes(ctx, true)
		return apidoc.Tasknodes(nodes), err
	})
	serveOf(t, docs.Node, func(ctx context.Context, q docs.NodeID) (apidoc.Tasknode, error) {
		n, err := m.Tasknode(ctx, q.Node)
		return apidoc.Of(n, err, apidoc.TasknodeOf)
	})
	serveOf(t, docs.Pools, func(ctx context.Context, _ docs.No) ([]apidoc.Queue, error) {
		queues, err := m.Queues(ctx)
		return apidoc.Queues(queues.GetQueues()), err
	})
	serveOf(t, docs.Policy, func(ctx context.Context, _ docs.No) (apidoc.Policy, error) {
		policy, err := m.Policy(ctx)
		return apidoc.Of(policy, err, apidoc.PolicyOf)
	})
	serveOf(t, docs.Preview, func(ctx context.Context, q docs.PolicyQuery) (doc apidoc.PolicyPreview, err error) {
		p, err := m.PreviewPolicy(ctx, q.Policy, q.Conf)
		if err == nil {
			doc = apidoc.PreviewOf(q.Policy, q.Conf, p)
		}
		return doc, err
	})
	serveOf(t, docs.Decisions, func(_ context.Context, q docs.DecisionQuery) (doc apidoc.Decisions, err error) {
		var job cluster.JobID
		if q.Job != "" {
			if job, err = cluster.ParseJobID(q.Job); err != nil {
				return doc, fmt.Errorf("%w: %w", docs.ErrUnknown, err)
			}
		}
		return decisionsOf(m.Decisions(jobmaster.DecisionFilter{
			Job: job, Pool: q.Pool, Machine: q.Node, Kind: sched.DecisionKind(q.Kind), Before: q.Before, Limit: q.Limit,
		}))
	})
	return t
}

// decisionsOf returns the document of decisions.
func decisionsOf(list jobmaster.DecisionList) (apidoc.Decisions, error) {
	doc := apidoc.Decisions{Decisions: []apidoc.Decision{}, Kept: uint64(list.Kept), Since: list.Since, Full: list.Full}
	for _, d := range list.Decisions {
		decision := apidoc.Decision{Number: d.Number}
		line, err := json.Marshal(d.Decision)
		if err = errors.Join(err, json.Unmarshal(line, &decision)); err != nil {
			return doc, fmt.Errorf("decision %d: %w", d.Number, err)
		}
		doc.Decisions = append(doc.Decisions, decision)
	}
	if n := len(doc.Decisions); list.More && n > 0 {
		doc.Before = doc.Decisions[n-1].Number
	}
	return doc, nil
}

// serveOf answers a document with what the jobmaster says now.
func serveOf[Q, A any](t docs.Table, d docs.Document[Q, A], ask func(context.Context, Q) (A, error)) {
	docs.Serve(t, d, func(ctx context.Context, q Q) (docs.Answer[A], error) {
		value, err := ask(ctx, q)
		return docs.Answer[A]{Value: value, At: time.Now()}, err
	})
}
