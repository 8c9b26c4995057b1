package masterd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/jobmaster/raftlog"
)

// members orders the changes of the set of masters and the questions for their versions: no
// older master may join between its question and the SetVersion that follows from the answers.
type members struct {
	sync.Mutex     // held while masters are asked or added
	common     int // newest cluster version that this master has found to be common to all masters
}

// commonVersion implements jobmaster.Config.CommonVersion. Masters that have no vote are asked
// too, since they get the same log.
func (d *Daemon) commonVersion(ctx context.Context) (int, error) {
	d.members.Lock()
	defer d.members.Unlock()
	var others []raftlog.Peer
	for _, m := range d.log.Status().Masters {
		if m.ID != d.cfg.ID {
			others = append(others, m.Peer)
		}
	}
	common, errs := cluster.FormatVersion, []error(nil)
	for i, a := range d.askInfos(ctx, others...) {
		version := int(a.Info.GetFormatVersion())
		if a.Err == nil && version < cluster.FormatVersion {
			a.Err = fmt.Errorf("master %s supports cluster version %d", others[i].ID, version)
		}
		common, errs = min(common, version), append(errs, a.Err)
	}
	d.members.common = max(d.members.common, common)
	return common, errors.Join(errs...)
}

// askAll asks masters of a cluster for their own description.
func askAll(ctx context.Context, masters []raftlog.Peer, clusterID, token string) []rpc.Answer {
	addresses := make([]string, len(masters))
	for i, p := range masters {
		addresses[i] = p.Address
	}
	return rpc.AskAll(ctx, addresses, askTimeout, func(address string) (*rpc.Masters, error) {
		return rpc.New(rpc.Config{Token: token, ClusterID: clusterID}.ToOne(address, askTimeout))
	})
}

// askInfos asks masters for their own description, which has the cluster version that they support.
func (d *Daemon) askInfos(ctx context.Context, masters ...raftlog.Peer) []rpc.Answer {
	answers := askAll(ctx, masters, d.cfg.ClusterID, d.Token)
	for i, a := range answers {
		switch p := masters[i]; {
		case a.Err != nil:
			answers[i].Err = fmt.Errorf("master %s at %s does not say which cluster version it supports: %w", p.ID, p.Address, a.Err)
		case a.Info.AnsweredBy != p.ID:
			answers[i] = rpc.Answer{Err: fmt.Errorf("master %s at %s: master %s answers there", p.ID, p.Address, a.Info.AnsweredBy)}
		}
	}
	return answers
}

// checkNewcomer refuses a master that does not support the cluster version. The caller holds
// members. Before it sends the token to the address, the master there proves that it has it.
func (d *Daemon) checkNewcomer(ctx context.Context, p raftlog.Peer) error {
	version, err := d.master.LeaderVersion(ctx)
	if err != nil {
		return err
	}
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if err := rpc.CheckMaster(asking, d.Token, p.ID, p.Address); err != nil {
		// Not wrapped: see below.
		return fmt.Errorf("%w: adding master %q at %s: start it first: %v", cluster.ErrRefused, p.ID, p.Address, err)
	}
	a := d.askInfos(ctx, p)[0]
	if a.Err != nil {
		// The cause is not wrapped: clients would take its timeout for one of this master, and look for another leader.
		return fmt.Errorf("%w: adding master %q: start it first: %v", cluster.ErrRefused, p.ID, a.Err)
	}
	supported := int(a.Info.GetFormatVersion())
	if needed := max(version, d.members.common); supported < needed {
		return fmt.Errorf("adding master %q: it supports cluster version %d, and the cluster has version %d; start it with the version of hammr that the other masters run",
			p.ID, supported, needed)
	}
	return nil
}

// newClusterPatience is how long the masters of a new cluster wait for one another before they
// are ready at a lower cluster version.
const newClusterPatience = 5 * time.Second

// awaitVersion waits until a new cluster has the newest cluster version. So the first job can use
// all of it. It gives up when one of the first masters is late or of an older version.
func (d *Daemon) awaitVersion(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, newClusterPatience)
	defer cancel()
	_ = syncutil.Poll(ctx, 10*time.Millisecond, func(context.Context) (bool, error) { // a lower version is no error
		return d.master.ClusterVersion() >= cluster.FormatVersion, nil
	})
}
