package local

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/internal/web/board"
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
func (f *Follower) Source(id, policy string) web.Source {
	cfg := board.OfMaster(f.master)
	cfg.Cluster, cfg.Now, cfg.Leader = id, f.Now, &simulation{readOnly{cluster: id, now: f.Now}, f.master, policy}
	return board.New(cfg)
}

// simulation is the board.Leader of a simulated cluster.
type simulation struct {
	readOnly
	master *jobmaster.Master
	policy string
}

// Explain implements board.Leader.
func (s *simulation) Explain(context.Context, string, string) (web.Answer[apidoc.Explanation], error) {
	return web.Answer[apidoc.Explanation]{}, fmt.Errorf("a simulation does not explain why jobs wait: %w", web.ErrUnavailable)
}

// Nodes implements board.Leader.
func (s *simulation) Nodes(ctx context.Context) (web.Answer[[]apidoc.Tasknode], error) {
	nodes, err := s.master.LocalTasknodes(ctx)
	return answered(s.readOnly, apidoc.Tasknodes(nodes), err)
}

// Node implements board.Leader.
func (s *simulation) Node(ctx context.Context, name string) (web.Answer[apidoc.Tasknode], error) {
	all, err := s.Nodes(ctx)
	return web.NodeOf(all, err, name)
}

// Pools implements board.Leader. They are those that jobs are in.
func (s *simulation) Pools(context.Context) (web.Answer[[]apidoc.Queue], error) {
	return answered(s.readOnly, board.PoolsOf(s.master.Board().Snapshot()), nil)
}

// Policy implements board.Leader.
func (s *simulation) Policy(context.Context) (web.Answer[apidoc.Policy], error) {
	return answered(s.readOnly, apidoc.Policy{Policy: s.policy}, nil)
}
