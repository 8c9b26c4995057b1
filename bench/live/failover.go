package live

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/hammr/hammr/chaos/rig"
	orders "github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/kit/percentile"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/sim/tables"
)

// Failover describes a measurement of how long a cluster of three masters takes until it serves
// again after its leader is killed, stopped, or has a disk that stalls.
//
// A time starts just before the fault. It ends when another master answers a client's call
// that changes something, so that the change is in the log of a majority. The client repeats
// its call until then. Times depend on the load of the machine and on the masters'
// time-outs.
type Failover struct {
	Faults   []string      // some of LeaderFaults
	Election time.Duration // silence of a leader before an election
	Stall    time.Duration // after which a leader with a stalled log gives up
}

const (
	changeTimeout  = 250 * time.Millisecond // of one call; a call that takes longer is repeated
	changeInterval = 5 * time.Millisecond
)

// LeaderFaults returns the kinds of faults.
func LeaderFaults() []string { return []string{"killed", "stopped", "stalled"} }

// leaderFault describes how a leader is lost and comes back. A killed leader closes its
// connections. A stopped one keeps them open, so that only time-outs reveal the fault. A
// leader with a stalled log answers until it gives up after Failover.Stall.
type leaderFault struct {
	inject, undo func(r *rig.Rig, ctx context.Context, leader string) error
}

var leaderFaults = map[string]leaderFault{
	"killed":  {(*rig.Rig).Kill, restart},
	"stopped": {(*rig.Rig).Stop, (*rig.Rig).Continue},
	"stalled": {stall, restart},
}

// Failover measures all faults. All rounds use the same cluster; each round starts with all masters
// running.
func (b Bench) Failover(ctx context.Context, cfg Failover) (result tables.Results, err error) {
	result = tables.Results{
		Samples: tables.New("leader", "round", "ms"),
		Summary: tables.New("LEADER|%s", "ROUNDS|%d", "P50|%d ms", "P95|%d ms", "MOST|%d ms"),
	}
	r, err := rig.Start(ctx, rig.Config{
		Dir: filepath.Join(b.Work, "cluster"), Hammr: b.Hammr, Tasknodes: 1,
		MasterFlags: []string{"--election-timeout", testcluster.Millis(cfg.Election), "--stall-timeout", testcluster.Millis(cfg.Stall)},
	})
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	m := &failoverRun{rig: r}
	for _, kind := range cfg.Faults {
		var all []time.Duration
		for n := range b.N {
			took, err := m.round(ctx, leaderFaults[kind])
			if err != nil {
				return result, fmt.Errorf("%s, round %d: %w", kind, n+1, err)
			}
			b.Logf("%s, round %d: %v", kind, n+1, took.Round(time.Millisecond))
			result.Samples.Add(kind, n+1, took.Milliseconds())
			all = append(all, took)
		}
		of := func(p int) int64 { return percentile.Of(all, p).Milliseconds() }
		result.Summary.Add(kind, len(all), of(50), of(95), of(100))
	}
	return result, nil
}

func stall(r *rig.Rig, ctx context.Context, leader string) error {
	return r.Failpoint(ctx, leader, "jobmaster/log-append", "delay=10m")
}

func restart(r *rig.Rig, ctx context.Context, leader string) error {
	if err := r.Kill(ctx, leader); err != nil {
		return err
	}
	return r.Start(ctx, leader)
}

// failoverRun injects the faults into the leaders of one cluster.
type failoverRun struct {
	rig     *rig.Rig
	changes int // number of changes so far; successive changes differ
}

// round injects the fault into the leader, and returns the time until another master has
// made a change. Only the other masters are called, so no time is spent on calls to the lost
// leader: the result is the unavailability of the cluster, not the time-out of a client.
func (m *failoverRun) round(ctx context.Context, f leaderFault) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, stepTimeout, fmt.Errorf("timed out after %v", stepTimeout))
	defer cancel()
	leader, err := m.awaitAllMasters(ctx)
	if err != nil {
		return 0, err
	}
	names, _ := m.rig.Names()
	others, err := m.rig.ClientOf(slices.DeleteFunc(names, func(name string) bool { return name == leader })...)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, others.Close()) }()
	start := time.Now()
	if err := f.inject(m.rig, ctx, leader); err != nil {
		return 0, err
	}
	if err := m.change(ctx, others); err != nil {
		return 0, fmt.Errorf("no other master than %s has become leader: %w", leader, err)
	}
	return time.Since(start), f.undo(m.rig, ctx, leader)
}

// awaitAllMasters waits until all masters lead or follow, and returns the leader. The next
// round then has a majority without the leader.
func (m *failoverRun) awaitAllMasters(ctx context.Context) (leader string, err error) {
	err = repeat(ctx, func(ctx context.Context) error {
		info, err := m.rig.Client().Info(ctx)
		if err != nil {
			return err
		}
		if leader = info.Leader; leader == "" || info.AnsweredBy != leader {
			return errors.New("there is no leader")
		}
		for _, master := range info.Masters {
			if master.State != "leader" && master.State != "follower" {
				return fmt.Errorf("%s is %s", master.Id, master.State)
			}
		}
		return nil
	})
	return leader, err
}

// change makes the leading master change its policy, which a majority writes to its log. It
// alternates between two policies, since setting the current policy again may change
// nothing.
func (m *failoverRun) change(ctx context.Context, client *remote.Client) error {
	m.changes++
	policy := []string{"fifo", "fair"}[m.changes%2]
	return repeat(ctx, func(ctx context.Context) error { return orders.SetPolicy(ctx, client, policy, nil) })
}

// repeat calls f until it succeeds.
func repeat(ctx context.Context, f func(ctx context.Context) error) error {
	var last error
	err := syncutil.Poll(ctx, changeInterval, func(ctx context.Context) (bool, error) {
		call, cancel := context.WithTimeout(ctx, changeTimeout)
		defer cancel()
		last = f(call)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%w; %w", err, last)
	}
	return nil
}
