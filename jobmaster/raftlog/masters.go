package raftlog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hammr/hammr/jobmaster"
	"github.com/hashicorp/raft"
)

// ErrNotLeading is wrapped by errors of calls that only the leader can carry out.
var ErrNotLeading = fmt.Errorf("raftlog: %w", jobmaster.ErrNotLeader)

// Leader returns the leader as far as this server knows; zero if it knows none.
func (l *Log) Leader() Peer {
	address, id := l.raft.LeaderWithID()
	return Peer{ID: string(id), Address: string(address)}
}

// Status describes the masters as one of them knows them.
type Status struct {
	ID      string
	Leader  Peer // zero when none is known
	Term    uint64
	Masters []Master

	LastIndex     uint64 // of the entries that this master has
	CommitIndex   uint64 // of the committed ones
	AppliedIndex  uint64 // of those passed to the jobmaster
	SnapshotIndex uint64 // of those in a snapshot; 0 for none

	Store Latency
}

// Master is a member of the cluster.
type Master struct {
	Peer
	Voter bool
	State string // leader, follower, candidate or, if the leader cannot reach it, unreachable; "" if unknown
}

// Status describes the masters.
//
// Only the leader knows which masters answer; a follower shows those that do not lead
// without a state.
func (l *Log) Status() Status {
	s := Status{
		ID: l.cfg.ID, Leader: l.Leader(), Term: l.raft.CurrentTerm(),
		LastIndex: l.raft.LastIndex(), CommitIndex: l.raft.CommitIndex(), AppliedIndex: l.raft.AppliedIndex(),
		Store: l.store.took.summary(),
	}
	if snapshots, err := l.snapshots.List(); err == nil && len(snapshots) > 0 {
		s.SnapshotIndex = snapshots[0].Index
	}
	for _, server := range l.raft.GetConfiguration().Configuration().Servers {
		s.Masters = append(s.Masters, Master{
			Peer:  Peer{ID: string(server.ID), Address: string(server.Address)},
			Voter: server.Suffrage == raft.Voter, State: l.stateOf(string(server.ID), s.Leader.ID),
		})
	}
	return s
}

// stateOf returns the state of a master as this one knows it, "" if it does not.
func (l *Log) stateOf(id, leader string) string {
	switch {
	case id == l.cfg.ID:
		return strings.ToLower(l.raft.State().String())
	case id == leader:
		return "leader"
	case leader != l.cfg.ID:
		return ""
	case l.peers.unreachable(id):
		return "unreachable"
	}
	return "follower"
}

// AddMaster adds a master to the cluster, or changes the address of one. The master must
// be running: otherwise the majority would grow without a further vote.
func (l *Log) AddMaster(ctx context.Context, id, address string) error {
	what := fmt.Sprintf("adding master %q at %s", id, address)
	if err := checkReachable(address); err != nil {
		return fmt.Errorf("raftlog: %s: %w", what, err)
	}
	return l.asLeader(ctx, what, func() error {
		conn, err := l.stream.Dial(raft.ServerAddress(address), l.cfg.ElectionTimeout)
		if err != nil {
			return fmt.Errorf("start it first: %w", err)
		}
		conn.Close()
		return l.raft.AddVoter(raft.ServerID(id), raft.ServerAddress(address), 0, timeLeft(ctx)).Error()
	})
}

// RemoveMaster removes a master from the cluster. The leader must transfer its lead
// first.
func (l *Log) RemoveMaster(ctx context.Context, id string) error {
	what := fmt.Sprintf("removing master %q", id)
	if _, err := l.addressOf(id); err != nil {
		return fmt.Errorf("raftlog: %s: %w", what, err)
	}
	if id == l.cfg.ID && l.raft.State() == raft.Leader {
		return fmt.Errorf("raftlog: %s: it is the leader: transfer leadership to another master first", what)
	}
	return l.asLeader(ctx, what, func() error {
		return l.raft.RemoveServer(raft.ServerID(id), 0, timeLeft(ctx)).Error()
	})
}

// TransferLeadership makes another master lead, any that answers if id is "".
//
// Raft gives the successor one VoteTimeout to catch up with the log and to win its
// election. A busy machine needs longer, so the transfer is tried again until ctx ends.
// That is safe: it changes nothing but the leader. An earlier try may take effect late;
// this server does not lead then, which is what the caller wants.
func (l *Log) TransferLeadership(ctx context.Context, id string) error {
	what := "transferring leadership to another master"
	if id != "" {
		what = fmt.Sprintf("transferring leadership to master %q", id)
	}
	successors, err := l.successors(id)
	if err != nil {
		return fmt.Errorf("raftlog: %s: %w", what, err)
	}
	if id == l.cfg.ID && l.raft.State() == raft.Leader {
		return nil
	}
	return l.asLeader(ctx, what, func() error {
		for try := 0; ; try++ {
			to := successors[try%len(successors)]
			err := l.raft.LeadershipTransferToServer(raft.ServerID(to.ID), raft.ServerAddress(to.Address)).Error()
			switch {
			case try > 0 && errors.Is(err, raft.ErrNotLeader):
				return nil
			case !tookTooLong(err) || ctx.Err() != nil || !l.waitRetry():
				return err
			}
		}
	})
}

// tookTooLong reports whether a transfer failed only because it did not end in time, or
// because an earlier one has not ended yet. Raft has no value for its time-out.
func tookTooLong(err error) bool {
	return err != nil && (neverEntered(err) || err.Error() == "leadership transfer timeout")
}

// successors returns the masters that may lead next: the one with this id or, for "",
// every other voter that answers.
func (l *Log) successors(id string) (masters []Master, err error) {
	if id != "" {
		address, err := l.addressOf(id)
		return []Master{{Peer: Peer{ID: id, Address: string(address)}}}, err
	}
	for _, m := range l.Status().Masters {
		if m.ID != l.cfg.ID && m.Voter && m.State != "unreachable" {
			masters = append(masters, m)
		}
	}
	if len(masters) == 0 {
		return nil, errors.New("no other master can become leader")
	}
	return masters, nil
}

// ConfirmLead asks a majority of masters whether this one still leads. If it does,
// nothing that it has emitted is stale. Every error wraps ErrNotLeading.
//
// Raft sends heartbeats for that, so it takes one round trip.
func (l *Log) ConfirmLead(ctx context.Context) error {
	err := l.asLeader(ctx, "confirming leadership", func() error { return l.raft.VerifyLeader().Error() })
	if err != nil && !errors.Is(err, ErrNotLeading) {
		return fmt.Errorf("%w: %w", ErrNotLeading, err)
	}
	return err
}

// addressOf returns the address of a master in the latest configuration. The error
// lists the masters that there are.
func (l *Log) addressOf(id string) (raft.ServerAddress, error) {
	var known []string
	for _, server := range l.raft.GetConfiguration().Configuration().Servers {
		if string(server.ID) == id {
			return server.Address, nil
		}
		known = append(known, string(server.ID))
	}
	return "", fmt.Errorf("no such master: there are %s", strings.Join(known, ", "))
}

// asLeader runs f, which only the leader can carry out, in a goroutine and waits for it.
//
// Futures of Raft cannot be cancelled. If ctx ends first, f continues in its goroutine
// and its effect may still come, which the error says.
func (l *Log) asLeader(ctx context.Context, what string, f func() error) error {
	if l.raft.State() != raft.Leader {
		return fmt.Errorf("%s: %w: %s does", what, ErrNotLeading, l.leaderName())
	}
	done := make(chan error, 1)
	if !l.tasks.Go(func() { done <- f() }) {
		return fmt.Errorf("raftlog: %s: %w", what, errClosed)
	}
	select {
	case err := <-done:
		return l.explain(what, err)
	case <-ctx.Done():
		return fmt.Errorf("raftlog: %s: it may still take effect: %w", what, ctx.Err())
	case <-l.closing.Done():
		return fmt.Errorf("raftlog: %s: it may still take effect: %w", what, errClosed)
	}
}

// explain adds to an error of Raft what was attempted and, for a master that does not
// lead, which one does. After ErrLeadershipLost the outcome is unknown.
func (l *Log) explain(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, raft.ErrNotLeader):
		return fmt.Errorf("%s: %w: %s does", what, ErrNotLeading, l.leaderName())
	case errors.Is(err, raft.ErrLeadershipLost):
		return fmt.Errorf("raftlog: %s: it may have taken effect: %w", what, err)
	}
	return fmt.Errorf("raftlog: %s: %w", what, err)
}

// leaderName describes the leader for an error text.
func (l *Log) leaderName() string {
	leader := l.Leader()
	if leader.ID == "" {
		return "no known master"
	}
	return fmt.Sprintf("%q at %s", leader.ID, leader.Address)
}

// timeLeft returns a timeout for Raft, where 0 is no timeout.
func timeLeft(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return max(time.Until(deadline), time.Millisecond)
}
