package raftlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/hammr/hammr/internal/kit/syncutil"
)

// A master that has just been added has nothing of the log. If it had a vote at once, it would
// count for the majority, but it could not confirm an entry before it has all earlier ones. So it
// is added in two steps, as the Raft thesis describes in section 4.2.1:
//
//	unknown ── AddNonvoter ──► non-voter ── caught up ── AddVoter ──► voter
//	                             │      ▲
//	                             └──────┘ not in time: a repeated AddMaster continues here
//
// The leader does not publish how much of the log each follower has, so the newcomer is asked. It
// catches up in rounds: in a round it applies what was committed when the round began. It has
// caught up when a round takes less than an election timeout, so that its vote delays the others
// less than an election would.

const (
	// catchUpInterval is the time between two questions to a newcomer.
	catchUpInterval = 50 * time.Millisecond
	// newcomerTimeout bounds a connection to a newcomer, which may be a busy machine.
	newcomerTimeout = 3 * time.Second
)

// Applied asks a master for the index of the last entry that it has applied.
type Applied func(ctx context.Context) (uint64, error)

// AddMaster adds a master to the cluster, first as a non-voter. It waits until the master has
// caught up, for which it calls applied, and then gives it a vote. If ctx ends before, the master
// stays a non-voter, and another call continues. It has no effect on a voter with this address.
//
// The master must be running: a member that does not answer could cost the cluster its majority.
// A known master with another address must be removed first, except for this one itself.
func (l *Log) AddMaster(ctx context.Context, id, address string, applied Applied) error {
	what := fmt.Sprintf("adding master %q at %s", id, address)
	if err := l.ConfirmLead(ctx); err != nil {
		return err
	}
	err := CheckReachable(address)
	voter := false
	if err == nil {
		voter, err = l.checkNewcomer(id, address)
	}
	if err != nil {
		return fmt.Errorf("raftlog: %s: %w", what, err)
	}
	server, at := raft.ServerID(id), raft.ServerAddress(address)
	if id != l.cfg.ID && !voter {
		err := l.changeMasters(ctx, what, func() error {
			if err := l.tryDial(at); err != nil {
				return err
			}
			return l.raft.AddNonvoter(server, at, 0, timeLeft(ctx)).Error()
		})
		if err != nil {
			return err
		}
		if err := l.awaitCaughtUp(ctx, applied); err != nil {
			return l.explain(what, err)
		}
	}
	return l.changeMasters(ctx, what, func() error {
		if err := l.tryDial(at); err != nil {
			return err
		}
		return l.raft.AddVoter(server, at, 0, timeLeft(ctx)).Error()
	})
}

// tryDial checks that a master answers at an address.
func (l *Log) tryDial(address raft.ServerAddress) error {
	conn, err := l.stream.Dial(address, newcomerTimeout)
	if err != nil {
		return fmt.Errorf("start it first: %w", err)
	}
	return conn.Close()
}

// checkNewcomer refuses an id or an address that belongs to another master, and reports whether
// the master is a voter already.
func (l *Log) checkNewcomer(id, address string) (voter bool, err error) {
	for _, server := range l.raft.GetConfiguration().Configuration().Servers {
		sameID, sameAddress := string(server.ID) == id, string(server.Address) == address
		switch {
		case sameID && sameAddress:
			voter = server.Suffrage == raft.Voter
		case sameID && id != l.cfg.ID:
			return false, fmt.Errorf("a master with this id is at %s; to move it, remove it first: hammr master remove %s", server.Address, id)
		case sameAddress:
			return false, fmt.Errorf("master %q has this address; remove it first: hammr master remove %s", server.ID, server.ID)
		}
	}
	return voter, nil
}

// awaitCaughtUp waits until a newcomer has caught up.
func (l *Log) awaitCaughtUp(ctx context.Context, applied Applied) error {
	began, target := time.Now(), l.raft.CommitIndex()
	var has uint64
	var silent error
	err := syncutil.Poll(ctx, catchUpInterval, func(ctx context.Context) (bool, error) {
		if l.raft.State() != raft.Leader {
			return false, raft.ErrNotLeader
		}
		if has, silent = applied(ctx); silent != nil || has < target {
			return false, nil
		}
		round := time.Since(began)
		began, target = time.Now(), l.raft.CommitIndex()
		return round < l.cfg.ElectionTimeout, nil
	})
	switch {
	case err == nil, errors.Is(err, raft.ErrNotLeader):
		return err
	case silent != nil:
		return fmt.Errorf("it is a non-voter now, but does not answer: %w; check it, and repeat the command", silent)
	}
	return fmt.Errorf("it is a non-voter now and has applied entry %d of %d; repeat the command to wait until it has caught up", has, target)
}
