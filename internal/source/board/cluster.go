package board

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/board"
)

// nodes answers docs.Nodes. Without a leader, tasknodes are as the state has them.
func (s *Source) nodes(ctx context.Context, q docs.No) (docs.Answer[[]apidoc.Tasknode], error) {
	a, err := docs.Nodes.Read(ctx, s.cfg.Leader, q)
	if !errors.Is(err, docs.ErrUnavailable) {
		return a, err
	}
	nodes, lost := s.cfg.Master.LocalTasknodes(ctx)
	return answer(s, nodes, s.cfg.Now(), err), classify(lost)
}

// losses answers docs.Losses.
func (s *Source) losses(_ context.Context, q docs.LossQuery) (docs.Answer[apidoc.Losses], error) {
	return answer(s, s.cfg.Board.Losses(q.Node), s.cfg.Now(), nil), nil
}

// pools answers docs.Pools. Without a leader, they are those that jobs are in.
func (s *Source) pools(ctx context.Context, q docs.No) (docs.Answer[[]apidoc.Queue], error) {
	a, err := docs.Pools.Read(ctx, s.cfg.Leader, q)
	if !errors.Is(err, docs.ErrUnavailable) {
		return a, err
	}
	now := s.cfg.Board.Snapshot()
	return answer(s, PoolsOf(now), now.At, err), nil
}

// PoolsOf describes the pools that jobs are in, sorted by name, without their shares.
func PoolsOf(now *board.Snapshot) []apidoc.Queue {
	pools := make(map[string]*apidoc.Queue)
	for _, j := range now.Jobs {
		q := pools[j.Pool]
		if q == nil {
			q = &apidoc.Queue{Name: j.Pool, State: "RUNNING"}
			pools[j.Pool] = q
		}
		switch j.State {
		case cluster.JobPrep:
			q.Jobs.Waiting++
		case cluster.JobRunning:
			q.Jobs.Running++
		}
		for i := range j.Stages {
			st := &j.Stages[i]
			used, waiting := st.Used(), st.Slots.Times(st.Waiting)
			q.Running.Map, q.Running.Reduce = q.Running.Map+int32(used[cluster.MapSlot]), q.Running.Reduce+int32(used[cluster.ReduceSlot])
			q.Waiting.Map, q.Waiting.Reduce = q.Waiting.Map+int32(waiting[cluster.MapSlot]), q.Waiting.Reduce+int32(waiting[cluster.ReduceSlot])
		}
	}
	list := []apidoc.Queue{}
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		list = append(list, *pools[name])
	}
	return list
}
