package local

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/source/board"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/storage"
)

// Follower is a jobmaster that follows the log of a simulation.
type Follower struct {
	log    simulatedLog
	master *jobmaster.Master
	at     atomic.Int64 // time of the last entry, ms since the epoch
}

// simulatedLog implements jobmaster.Log. The simulation alone adds entries.
type simulatedLog struct{ events chan jobmaster.LogEvent }

func (l simulatedLog) Propose([]cluster.Entry)           {}
func (l simulatedLog) Events() <-chan jobmaster.LogEvent { return l.events }

// Follow returns a Follower of the cluster with this id. Run must be called.
func Follow(id string) (*Follower, error) {
	f := &Follower{log: simulatedLog{make(chan jobmaster.LogEvent)}}
	var err error
	f.master, err = jobmaster.New(jobmaster.Config{
		ClusterID: id, Log: f.log, Limits: cluster.ReadLimits(func(string) int { return math.MaxInt32 }), Now: f.Now,
		Policy: func(string, map[string]string) (sched.Policy, error) {
			return nil, errors.New("a follower has no policy")
		},
		Resolve: func(_ context.Context, name string) (storage.FS, string, error) {
			return nil, "", fmt.Errorf("%s: a simulation has no files", name)
		},
	})
	return f, err
}

// Run follows until ctx ends.
func (f *Follower) Run(ctx context.Context) { f.master.Run(ctx) }

// Now returns the time of the simulated cluster: that of the last entry.
func (f *Follower) Now() time.Time { return time.UnixMilli(f.at.Load()) }

// Apply passes a batch of entries on. It returns when the follower has taken it, or ctx has ended.
func (f *Follower) Apply(ctx context.Context, batch []cluster.Entry) error {
	if len(batch) > 0 {
		f.at.Store(max(f.at.Load(), batch[len(batch)-1].At))
	}
	select {
	case f.log.events <- jobmaster.Committed{Batch: batch}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Source returns the simulated cluster, under a policy of that name.
func (f *Follower) Source(id, policy string) docs.Source {
	cfg := board.OfMaster(f.master)
	leader := newEngine(f.master, id)
	cfg.Cluster, cfg.Now, cfg.Leader = id, f.Now, simulated{leader}
	serve(leader.table, docs.Explanation, func(context.Context, docs.TaskID) (doc apidoc.Explanation, err error) {
		return doc, fmt.Errorf("a simulation does not explain why jobs wait: %w", docs.ErrUnavailable)
	})
	serve(leader.table, docs.Nodes, func(ctx context.Context, _ docs.No) ([]apidoc.Tasknode, error) {
		return f.master.LocalTasknodes(ctx)
	})
	delete(leader.table, docs.Node.Entry) // it follows from all of them
	serve(leader.table, docs.Pools, func(context.Context, docs.No) ([]apidoc.Queue, error) {
		return board.PoolsOf(f.master.Board().Snapshot()), nil
	})
	serve(leader.table, docs.Policy, func(context.Context, docs.No) (apidoc.Policy, error) { return apidoc.Policy{Policy: policy}, nil })
	return board.New(cfg)
}

// simulated is the leader of a simulated cluster, which has no processes.
type simulated struct{ *engine }

// TakeProfile implements board.Leader.
func (simulated) TakeProfile(context.Context, string, docs.ProfileQuery) (docs.ProfileData, error) {
	return docs.NoProfile()
}

// serve answers a document with a value.
func serve[Q, A any](t docs.Table, d docs.Document[Q, A], ask func(context.Context, Q) (A, error)) {
	docs.Serve(t, d, func(ctx context.Context, q Q) (docs.Answer[A], error) {
		value, err := ask(ctx, q)
		return docs.Answer[A]{Value: value}, err
	})
}
