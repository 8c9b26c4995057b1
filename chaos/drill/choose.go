package drill

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/wire"
)

// errNoTarget is the error of a fault that has nothing to hit.
var errNoTarget = errors.New("there is nothing of that kind to hit")

// targetDaemons are the names of the daemons that a fault hits. A machine includes its
// DataNode.
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
	case t.Role == chaos.DataNode:
		return []string{fmt.Sprintf("dn%d", n)}, nil
	case t.Role == chaos.Machine && d.plan.HDFS:
		return []string{tasknodes[n-1], fmt.Sprintf("dn%d", n)}, nil
	}
	return tasknodes[n-1 : n], nil
}

// busiest is the number of the first tasknode with the most running attempts.
func (d *drill) busiest(tasknodes []string) int {
	load := make([]int, d.plan.Tasknodes)
	for _, a := range d.watch.running(chaos.Any) {
		if i := slices.Index(tasknodes, a.Machine); i >= 0 && i < len(load) {
			load[i]++
		}
	}
	return slices.Index(load, slices.Max(load)) + 1
}

// masters are the jobmasters of a name.
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

// leader is the id of the leading master.
func (d *drill) leader(ctx context.Context) (string, error) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	info, err := d.rig.Client().Info(call)
	if err != nil || info.Leader == "" {
		return "", errNoTarget
	}
	return info.Leader, nil
}

// drawAttempt is one that runs.
func (d *drill) drawAttempt(kind string) (*wire.TaskStatus_Attempt, error) {
	running := d.watch.running(kind)
	if len(running) == 0 {
		return nil, errNoTarget
	}
	return running[d.random.IntN(len(running))], nil
}

// taskProcess is a process of the tasknode that runs a task of that kind. Processes run
// one task after the other and have no names, so it may run another task.
func (d *drill) taskProcess(kind string) (node string, pid int, err error) {
	a, err := d.drawAttempt(kind)
	if err != nil {
		return "", 0, err
	}
	pids := d.rig.Tasks(a.Machine)
	if len(pids) == 0 {
		return "", 0, errNoTarget
	}
	return a.Machine, pids[d.random.IntN(len(pids))], nil
}
