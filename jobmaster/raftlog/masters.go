package raftlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/kit/percentile"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hashicorp/raft"
)

// ErrNotLeading is wrapped by errors of calls that only the leader can carry out.
var ErrNotLeading = fmt.Errorf("raftlog: %w", jobmaster.ErrNotLeader)

// Leader returns the leader that this server knows; zero if it knows none.
func (l *Log) Leader() Peer {
	address, id := l.raft.LeaderWithID()
	return Peer{ID: string(id), Address: string(address)}
}

// LastContact returns when this master last knew that its data is that of the cluster: now if it
// leads, else the time of the leader's last message. It is zero if there was none.
func (l *Log) LastContact() time.Time {
	if l.raft.State() == raft.Leader {
		return time.Now()
	}
	return l.raft.LastContact()
}

// Status is the view that one master has of all masters.
type Status struct {
	ID      string
	Leader  Peer // zero if this master knows no leader
	Term    uint64
	Masters []Master

	LastIndex     uint64 // index of the last entry that this master has
	CommitIndex   uint64 // index of the last committed entry
	AppliedIndex  uint64 // index of the last entry that was passed to the jobmaster
	SnapshotIndex uint64 // index of the last entry in a snapshot; 0 if there is no snapshot

	Store         percentile.Summary[time.Duration] // writes to the log, fsync included
	StoreBins     []int64                           // of the latest of them: below 100 us, 200 us, 400 us and so on; the last has no bound
	Snapshots     percentile.Summary[time.Duration] // snapshots that this master took, from the copy of the state to the end of the write
	SnapshotBytes int64                             // size of the latest of these; 0 if there is none
}

// Master is a member of the cluster.
type Master struct {
	Peer
	Voter bool
	State string // leader, follower, candidate; unreachable if the leader cannot reach it; "" if unknown
}

// PendingWrite returns how long the active write to the log has taken so far, 0 if none is
// active. A disk that does not answer makes it grow.
func (l *Log) PendingWrite() time.Duration { return l.store.pending() }

// Status describes the masters.
//
// Only the leader knows which masters answer. So a follower shows no state for other
// followers.
func (l *Log) Status() Status {
	s := Status{
		ID: l.cfg.ID, Leader: l.Leader(), Term: l.raft.CurrentTerm(),
		LastIndex: l.raft.LastIndex(), CommitIndex: l.raft.CommitIndex(), AppliedIndex: l.raft.AppliedIndex(),
		Store: l.store.took.Summary(), StoreBins: l.store.took.Histogram(firstWriteBound, writeBins), Snapshots: l.fsm.took.Summary(), SnapshotBytes: l.fsm.bytes.Load(),
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

// Addresses returns the addresses of the masters, also of those without a vote.
func (l *Log) Addresses() (addresses []string) {
	for _, server := range l.raft.GetConfiguration().Configuration().Servers {
		addresses = append(addresses, string(server.Address))
	}
	return addresses
}

// stateOf returns the state of a master, "" if this master does not know it.
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

// RemoveMaster removes a master from the cluster. The leader cannot be removed before it has
// transferred its lead.
//
// Only the leader knows the masters: the configuration of any other one may be old. So this
// server first confirms that it leads, here and in the other changes of the masters.
func (l *Log) RemoveMaster(ctx context.Context, id string) error {
	what := fmt.Sprintf("removing master %q", id)
	if err := l.ConfirmLead(ctx); err != nil {
		return err
	}
	if _, err := l.addressOf(id); err != nil {
		return fmt.Errorf("raftlog: %s: %w", what, err)
	}
	if id == l.cfg.ID {
		return refusal{cluster.ErrRefused, fmt.Errorf("raftlog: %s: it is the leader: transfer leadership to another master first", what)}
	}
	return l.changeMasters(ctx, what, func() error {
		return l.raft.RemoveServer(raft.ServerID(id), 0, timeLeft(ctx)).Error()
	})
}

// changeMasters runs change as the leader, again and again while Raft refuses it for a moment.
//
// A change has no effect if it was made before. So after a loss of leadership, which leaves
// the outcome open, the caller repeats it with the next leader: the error wraps ErrNotLeading.
func (l *Log) changeMasters(ctx context.Context, what string, change func() error) error {
	err := l.asLeader(ctx, what, func() error {
		for {
			err := change()
			switch {
			case !neverEntered(err):
				return err
			case ctx.Err() != nil:
				return ctx.Err()
			case !l.waitRetry():
				return errClosed
			}
		}
	})
	if errors.Is(err, raft.ErrLeadershipLost) {
		return fmt.Errorf("%w: %w", ErrNotLeading, err)
	}
	return err
}

// TransferLeadership makes the master with this id the leader, or any master that answers if
// id is "".
//
// Raft gives the successor one VoteTimeout to catch up with the log and to win its election.
// A busy machine needs longer, so the transfer is tried again until ctx ends. Trying again
// is safe, because it changes only the leader. An earlier try may take effect late. In that
// case too this server no longer leads.
//
// The successor may lose its election to another master. If id names the successor, the error
// then wraps ErrNotLeading, and the caller repeats the call with the master that leads.
func (l *Log) TransferLeadership(ctx context.Context, id string) error {
	what := "transferring leadership to another master"
	if id != "" {
		what = fmt.Sprintf("transferring leadership to master %q", id)
	}
	if err := l.ConfirmLead(ctx); err != nil {
		return err
	}
	successors, err := l.successors(id)
	if err != nil {
		return fmt.Errorf("raftlog: %s: %w", what, err)
	}
	if id == l.cfg.ID {
		return nil
	}
	if err := l.transferTo(ctx, what, successors); err != nil || id == "" {
		return err
	}
	return l.awaitLeader(ctx, what, id)
}

// awaitLeader waits until this server knows its successor, which must be the master with this id.
func (l *Log) awaitLeader(ctx context.Context, what, id string) error {
	var leader string
	err := syncutil.Poll(ctx, retryInterval, func(context.Context) (bool, error) {
		leader = l.Leader().ID
		if l.closing.Err() != nil {
			return false, errClosed
		}
		// Raft names this server for a moment after it has stepped down.
		return leader != "" && (leader != l.cfg.ID || l.raft.State() == raft.Leader), nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("raftlog: %s: %w", what, err)
	case leader != id:
		return fmt.Errorf("%s: %w: master %q has become the leader", what, ErrNotLeading, leader)
	}
	return nil
}

// transferTo transfers the lead to one of some masters, which it tries in turn.
func (l *Log) transferTo(ctx context.Context, what string, successors []Master) error {
	return l.asLeader(ctx, what, func() error {
		for try := 0; ; try++ {
			to := successors[try%len(successors)]
			err := l.raft.LeadershipTransferToServer(raft.ServerID(to.ID), raft.ServerAddress(to.Address)).Error()
			switch {
			case try > 0 && errors.Is(err, raft.ErrNotLeader):
				return nil
			case tookTooLong(err) && ctx.Err() != nil:
				return ctx.Err()
			case !tookTooLong(err) || !l.waitRetry():
				return err
			}
		}
	})
}

// tookTooLong reports whether a transfer failed only because it did not end in time, or
// because an earlier transfer has not ended yet. Raft has no error value for its timeout.
func tookTooLong(err error) bool {
	return err != nil && (neverEntered(err) || err.Error() == "leadership transfer timeout")
}

// successors returns the masters that may lead next: the master with this id or, if id is
// "", every other voter that answers.
func (l *Log) successors(id string) (masters []Master, err error) {
	all := l.Status().Masters
	if id != "" {
		if _, err := l.addressOf(id); err != nil {
			return nil, err
		}
		chosen := slices.DeleteFunc(all, func(m Master) bool { return m.ID != id })
		if len(chosen) == 1 && !chosen[0].Voter {
			return nil, refusal{cluster.ErrRefused, fmt.Errorf("it is a non-voter; give it a vote first: hammr master add %s %s", id, chosen[0].Address)}
		}
		return chosen, nil
	}
	for _, m := range all {
		if m.ID != l.cfg.ID && m.Voter && m.State != "unreachable" {
			masters = append(masters, m)
		}
	}
	if len(masters) == 0 {
		return nil, refusal{cluster.ErrRefused, errors.New("no other master can become leader")}
	}
	return masters, nil
}

// ConfirmLead asks a majority of masters whether this one still leads. If it does, no event
// that it has emitted is stale. Every error wraps ErrNotLeading.
//
// Raft sends heartbeats for this, so it takes one round trip.
func (l *Log) ConfirmLead(ctx context.Context) error {
	err := l.asLeader(ctx, "confirming leadership", func() error { return l.raft.VerifyLeader().Error() })
	if err != nil && !errors.Is(err, ErrNotLeading) {
		return fmt.Errorf("%w: %w", ErrNotLeading, err)
	}
	return err
}

// addressOf returns the address of a master in the latest configuration. If there is no such
// master, the error lists the existing masters.
func (l *Log) addressOf(id string) (raft.ServerAddress, error) {
	var known []string
	for _, server := range l.raft.GetConfiguration().Configuration().Servers {
		if string(server.ID) == id {
			return server.Address, nil
		}
		known = append(known, string(server.ID))
	}
	return "", refusal{cluster.ErrUnknown, fmt.Errorf("no such master: there are %s", strings.Join(known, ", "))}
}

// refusal is an error of a class for callers, cluster.ErrRefused or cluster.ErrUnknown, whose text is
// that of error alone.
type refusal struct{ class, error error }

func (r refusal) Error() string { return r.error.Error() }

// Unwrap returns the class.
func (r refusal) Unwrap() error { return r.class }

// asLeader runs f in a goroutine and waits for it. Only the leader can carry out f.
//
// Futures of Raft cannot be cancelled. If ctx ends first, f continues in its goroutine and
// may still take effect. The error says so.
func (l *Log) asLeader(ctx context.Context, what string, f func() error) error {
	if err := l.checkLeads(what); err != nil {
		return err
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

// checkLeads returns an error that names the leader if this master does not lead.
func (l *Log) checkLeads(what string) error {
	if l.raft.State() == raft.Leader {
		return nil
	}
	return fmt.Errorf("%s: %w: %s does", what, ErrNotLeading, l.leaderName())
}

// explain adds to an error of Raft what was attempted. If this master does not lead, it adds
// which master leads. After ErrLeadershipLost the outcome is unknown.
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

// timeLeft returns the time until the deadline of ctx as a timeout for Raft; 0 means no
// timeout.
func timeLeft(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return max(time.Until(deadline), time.Millisecond)
}
