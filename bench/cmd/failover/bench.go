package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/percentile"
)

const (
	patience = 2 * time.Minute        // for anything
	asking   = 250 * time.Millisecond // for an answer, before it is asked for again
	pause    = 5 * time.Millisecond   // between two questions
)

// cluster is one whose leaders are lost.
type cluster struct {
	rig   *rig.Rig
	turns int // changes so far, no two alike
}

func begin(ctx context.Context, program, dir string, flags []string) (*cluster, error) {
	r, err := rig.Start(ctx, rig.Config{Dir: dir, Hammr: program, Tasknodes: 1, MasterFlags: flags})
	if err != nil {
		return nil, err
	}
	return &cluster{rig: r}, nil
}

func (b *cluster) end() error { return b.rig.Close() }

// fault is how a leader is lost and comes back.
type fault struct {
	strike, mend func(ctx context.Context, r *rig.Rig, leader string) error
}

func startAgain(ctx context.Context, r *rig.Rig, leader string) error {
	if err := r.Kill(ctx, leader); err != nil {
		return err
	}
	return r.Start(ctx, leader)
}

var faults = map[string]*fault{
	"killed": {
		func(ctx context.Context, r *rig.Rig, leader string) error { return r.Kill(ctx, leader) }, startAgain,
	},
	"stopped": {
		func(ctx context.Context, r *rig.Rig, leader string) error { return r.Stop(ctx, leader) },
		func(ctx context.Context, r *rig.Rig, leader string) error { return r.Continue(ctx, leader) },
	},
	"stalled": {
		func(ctx context.Context, r *rig.Rig, leader string) error {
			return r.Failpoint(ctx, leader, "jobmaster/log-append", "delay=10m")
		},
		startAgain,
	},
}

// round loses a leader, and is the time until another master has made a change.
func (b *cluster) round(ctx context.Context, f *fault) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it had %v", patience))
	defer cancel()
	leader, err := b.settled(ctx)
	if err != nil {
		return 0, err
	}
	others, err := b.others(leader)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, others.Close()) }()
	began := time.Now()
	if err := f.strike(ctx, b.rig, leader); err != nil {
		return 0, err
	}
	if err := b.change(ctx, others); err != nil {
		return 0, fmt.Errorf("no other master leads than %s: %w", leader, err)
	}
	return time.Since(began), f.mend(ctx, b.rig, leader)
}

// settled waits until all masters are there, and is the one that leads.
func (b *cluster) settled(ctx context.Context) (leader string, err error) {
	err = again(ctx, func(ctx context.Context) error {
		info, err := b.rig.Client().Info(ctx)
		if err != nil {
			return err
		}
		if leader = info.Leader; leader == "" || info.AnsweredBy != leader {
			return errors.New("nobody leads")
		}
		for _, m := range info.Masters {
			if m.State != "leader" && m.State != "follower" {
				return fmt.Errorf("%s is %s", m.Id, m.State)
			}
		}
		return nil
	})
	return leader, err
}

// others speaks to the masters that do not lead now.
func (b *cluster) others(leader string) (*remote.Client, error) {
	names, _ := b.rig.Names()
	return b.rig.ClientOf(slices.DeleteFunc(names, func(name string) bool { return name == leader })...)
}

// change has a master that leads change something, and a majority write that down.
func (b *cluster) change(ctx context.Context, client *remote.Client) error {
	b.turns++
	policy := []string{"fifo", "fair"}[b.turns%2]
	return again(ctx, func(ctx context.Context) error { return client.SetPolicy(ctx, policy, nil) })
}

// again calls f until it succeeds.
func again(ctx context.Context, f func(ctx context.Context) error) error {
	for {
		call, cancel := context.WithTimeout(ctx, asking)
		err := f(call)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; %w", context.Cause(ctx), err)
		case <-time.After(pause):
		}
	}
}

// row is a line of the table.
func row(kind string, times []time.Duration) string {
	of := func(p int) int64 { return percentile.Of(times, p).Milliseconds() }
	return fmt.Sprintf("| %s | %d | %d | %d | %d |", kind, len(times), of(50), of(95), of(100))
}
