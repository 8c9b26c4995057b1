package drill

import (
	"context"
	"fmt"
	"slices"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// targetDaemons returns the names of the daemons that a fault hits. A machine includes its
// DataNode. For every other role it returns the tasknode.
func (d *drill) targetDaemons(ctx context.Context, t chaos.Target) ([]string, error) {
	switch t.Role {
	case chaos.Jobmaster:
		return d.masters(ctx, t.Name)
	case chaos.NameNode:
		return []string{rig.NameNode}, nil
	}
	_, tasknodes := d.rig.Names()
	n := t.Number()
	if n == 0 {
		n = d.busiest(tasknodes)
	}
	switch {
	case d.rig.HasGuards(): // one machine has them all
		return tasknodes[n-1 : n], nil
	case t.Role == chaos.DataNode:
		return []string{fmt.Sprintf("dn%d", n)}, nil
	case t.Role == chaos.Machine && d.plan.HDFS:
		return []string{tasknodes[n-1], fmt.Sprintf("dn%d", n)}, nil
	}
	return tasknodes[n-1 : n], nil
}

// busiest returns the number of the first tasknode with the most running attempts. Without
// attempts it is 1.
func (d *drill) busiest(tasknodes []string) int {
	load := make([]int, d.plan.Tasknodes)
	for _, a := range d.watch.running(chaos.Any) {
		if i := slices.Index(tasknodes, a.Machine); i >= 0 && i < len(load) {
			load[i]++
		}
	}
	return slices.Index(load, slices.Max(load)) + 1
}

// masters returns the jobmasters of a name. The leader is asked for each time, since it
// changes during a drill. The error is chaos.ErrNoTarget while no master leads.
func (d *drill) masters(ctx context.Context, name string) ([]string, error) {
	all, _ := d.rig.Names()
	switch name {
	case chaos.All:
		return all, nil
	case chaos.Leader, chaos.Follower:
	default:
		n := chaos.Target{Role: chaos.Jobmaster, Name: name}.Number()
		return all[n-1 : n], nil
	}
	leader, err := d.leader(ctx)
	if err != nil {
		return nil, err
	}
	if name == chaos.Leader {
		return []string{leader}, nil
	}
	followers := slices.DeleteFunc(all, func(m string) bool { return m == leader })
	return []string{followers[d.random.IntN(len(followers))]}, nil
}

// leader returns the id of the leading master. Any master that answers knows it.
func (d *drill) leader(ctx context.Context) (string, error) {
	info, err := bounded(ctx, d.rig.Client().Info)
	if err != nil || info.Leader == "" {
		return "", chaos.ErrNoTarget
	}
	return info.Leader, nil
}

// term returns the masters' term, which grows by one with each election. Without an answer it is the
// first one.
func (d *drill) term(ctx context.Context) uint64 {
	info, err := bounded(ctx, d.rig.Client().Info)
	if err != nil {
		return d.firstTerm
	}
	return max(info.Term, d.firstTerm)
}

// drawAttempt returns a random running attempt of a kind: map, reduce or any. It chooses among
// the attempts in the latest statuses, so the attempt may have ended.
func (d *drill) drawAttempt(kind string) (*wire.TaskStatus_Attempt, error) {
	running := d.watch.running(kind)
	if len(running) == 0 {
		return nil, chaos.ErrNoTarget
	}
	return running[d.random.IntN(len(running))], nil
}
