// Package failover measures how long a cluster of three masters takes until it serves
// again after its leader is killed, stopped, or has a disk that stalls.
//
//	results, err := failover.Run(ctx, failover.Config{Hammr: program, Dir: dir, Rounds: 20, Logf: log.Printf})
//
// A time starts just before the fault. It ends when another master answers a client's call
// that changes something, so that the change is in the log of a majority. The client repeats
// its call until then. Times depend on the load of the machine and on the masters'
// time-outs.
package failover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	orders "github.com/hammr/hammr/internal/client"

	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/percentile"
	"github.com/hammr/hammr/internal/syncutil"
	"github.com/hammr/hammr/internal/testcluster"
	"github.com/hammr/hammr/sim/tables"
)

// Config describes a measurement. All fields are required.
type Config struct {
	Hammr    string        // file of the hammr program
	Dir      string        // of the cluster
	Faults   []string      // some of Faults
	Rounds   int           // faults of each kind
	Election time.Duration // silence of a leader before an election
	Stall    time.Duration // after which a leader with a stalled log gives up
	Logf     func(format string, args ...any)
}

const (
	roundTimeout = 2 * time.Minute
	callTimeout  = 250 * time.Millisecond // of one call; a call that takes longer is repeated
	pollInterval = 5 * time.Millisecond
)

// Faults returns the kinds of faults.
func Faults() []string { return []string{"killed", "stopped", "stalled"} }

// fault describes how a leader is lost and comes back. A killed leader closes its
// connections. A stopped one keeps them open, so that only time-outs reveal the fault. A
// leader with a stalled log answers until it gives up after Config.Stall.
type fault struct {
	inject, undo func(ctx context.Context, r *rig.Rig, leader string) error
}

var faults = map[string]fault{
	"killed":  {kill, restart},
	"stopped": {stop, resume},
	"stalled": {stall, restart},
}

// Run measures all faults. All rounds use the same cluster; each round starts with all masters
// running. With an error it returns the rounds before.
func Run(ctx context.Context, cfg Config) (result tables.Results, err error) {
	result = tables.Results{
		Samples: tables.New("leader", "round", "ms"),
		Summary: tables.New("LEADER|%s", "ROUNDS|%d", "P50|%d ms", "P95|%d ms", "MOST|%d ms"),
	}
	r, err := rig.Start(ctx, rig.Config{
		Dir: cfg.Dir, Hammr: cfg.Hammr, Tasknodes: 1,
		MasterFlags: []string{"--election-timeout", testcluster.Millis(cfg.Election), "--stall-timeout", testcluster.Millis(cfg.Stall)},
	})
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	m := &measurement{rig: r}
	for _, kind := range cfg.Faults {
		var all []time.Duration
		for n := range cfg.Rounds {
			took, err := m.round(ctx, faults[kind])
			if err != nil {
				return result, fmt.Errorf("%s, round %d: %w", kind, n+1, err)
			}
			cfg.Logf("%s, round %d: %v", kind, n+1, took.Round(time.Millisecond))
			result.Samples.Add(kind, n+1, took.Milliseconds())
			all = append(all, took)
		}
		of := func(p int) int64 { return percentile.Of(all, p).Milliseconds() }
		result.Summary.Add(kind, len(all), of(50), of(95), of(100))
	}
	return result, nil
}

func kill(ctx context.Context, r *rig.Rig, leader string) error   { return r.Kill(ctx, leader) }
func stop(ctx context.Context, r *rig.Rig, leader string) error   { return r.Stop(ctx, leader) }
func resume(ctx context.Context, r *rig.Rig, leader string) error { return r.Continue(ctx, leader) }

func stall(ctx context.Context, r *rig.Rig, leader string) error {
	return r.Failpoint(ctx, leader, "jobmaster/log-append", "delay=10m")
}

func restart(ctx context.Context, r *rig.Rig, leader string) error {
	if err := r.Kill(ctx, leader); err != nil {
		return err
	}
	return r.Start(ctx, leader)
}

// measurement injects the faults into the leaders of one cluster.
type measurement struct {
	rig     *rig.Rig
	changes int // number of changes so far; successive changes differ
}

// round injects the fault into the leader, and returns the time until another master has
// made a change. Only the other masters are called, so no time is spent on calls to the lost
// leader: the result is the unavailability of the cluster, not the time-out of a client.
func (m *measurement) round(ctx context.Context, f fault) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, roundTimeout, fmt.Errorf("timed out after %v", roundTimeout))
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
	if err := f.inject(ctx, m.rig, leader); err != nil {
		return 0, err
	}
	if err := m.change(ctx, others); err != nil {
		return 0, fmt.Errorf("no other master than %s has become leader: %w", leader, err)
	}
	return time.Since(start), f.undo(ctx, m.rig, leader)
}

// awaitAllMasters waits until all masters lead or follow, and returns the leader. The next
// round then has a majority without the leader.
func (m *measurement) awaitAllMasters(ctx context.Context) (leader string, err error) {
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
func (m *measurement) change(ctx context.Context, client *remote.Client) error {
	m.changes++
	policy := []string{"fifo", "fair"}[m.changes%2]
	return repeat(ctx, func(ctx context.Context) error { return orders.SetPolicy(ctx, client, policy, nil) })
}

// repeat calls f until it succeeds.
func repeat(ctx context.Context, f func(ctx context.Context) error) error {
	var last error
	err := syncutil.Poll(ctx, pollInterval, func(ctx context.Context) (bool, error) {
		call, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		last = f(call)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%w; %w", err, last)
	}
	return nil
}
