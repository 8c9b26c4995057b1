package masterd

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/jobmaster/raftlog"
)

const (
	// membershipTimeout bounds a change of the set of masters. It is less than callers wait for
	// an answer.
	membershipTimeout = 20 * time.Second
	// askTimeout bounds a question to another master.
	askTimeout = 2 * time.Second
	// transferTimeout bounds a transfer of leadership. Nothing is committed during a
	// transfer, so a successor that does not answer must not delay the cluster for long.
	transferTimeout = 5 * time.Second
	// yieldTimeout bounds the transfer of leadership when a master stops. After this time an
	// election is faster than another try.
	yieldTimeout = time.Second
)

// admin implements server.Admin: changes of the set of masters.
type admin struct{ *Daemon }

// AddMaster implements server.Admin. It refuses a master that is too old for the cluster, and
// another master at that address. It asks the master how much of the log it has.
func (a admin) AddMaster(id, address string) error {
	newcomer := raftlog.Peer{ID: id, Address: address}
	return withTimeout(membershipTimeout, func(ctx context.Context) error {
		a.members.Lock()
		defer a.members.Unlock()
		if err := a.checkNewcomer(ctx, newcomer); err != nil {
			return err
		}
		err := a.log.AddMaster(ctx, id, address, func(ctx context.Context) (uint64, error) {
			about := a.askInfos(ctx, newcomer)[0]
			return about.Info.GetAppliedIndex(), about.Err
		})
		a.master.AnnounceMasters() // after an error it may still be a master without a vote
		return err
	})
}

// Backup implements server.Admin.
func (a admin) Backup(ctx context.Context, to io.Writer) error {
	return a.log.Backup(ctx, to, a.cfg.Version)
}

// RemoveMaster implements server.Admin. It refuses a removal that leaves no majority.
func (a admin) RemoveMaster(id string) error {
	if err := checkMajority(a.log.Status(), id); err != nil {
		return err
	}
	return withTimeout(membershipTimeout, func(ctx context.Context) error { return a.log.RemoveMaster(ctx, id) })
}

// TransferLeadership implements server.Admin. It makes the master with this id the leader,
// or any follower if id is "".
func (a admin) TransferLeadership(id string) error {
	return withTimeout(transferTimeout, func(ctx context.Context) error { return a.log.TransferLeadership(ctx, id) })
}

// withTimeout calls f with a time limit. It does not use the caller's context: a change of
// the masters that has begun continues after the client has disconnected.
func withTimeout(limit time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return f(ctx)
}

// checkMajority refuses to remove a master if the remaining masters that answer are no
// majority. The cluster could then commit nothing, not even the next change of its masters.
// Only the leader knows which masters answer.
func checkMajority(s raftlog.Status, without string) error {
	voters, alive := 0, 0
	var silent []string
	for _, m := range s.Masters {
		switch {
		case m.ID == without || !m.Voter:
			continue
		case m.State == "unreachable":
			silent = append(silent, m.ID)
		default:
			alive++
		}
		voters++
	}
	if s.Leader.ID != s.ID || len(silent) == 0 || alive > voters/2 {
		return nil
	}
	return fmt.Errorf("%w: without master %s there would be no majority, since %s does not answer; start or remove that one first",
		cluster.ErrRefused, without, strings.Join(silent, ", "))
}

// yieldLeadership makes another master the leader before this master stops, so that the
// cluster does not wait for an election timeout.
func (d *Daemon) yieldLeadership() {
	s := d.log.Status()
	if s.Leader.ID != d.cfg.ID || len(s.Masters) < 2 {
		return
	}
	err := withTimeout(yieldTimeout, func(ctx context.Context) error { return d.log.TransferLeadership(ctx, "") })
	if err != nil {
		d.cfg.Logger.Info("leadership transfer failed", "error", err)
	}
}
