package masterd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/syncutil"
	"github.com/hammr/hammr/internal/wire"
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
	masters := d.log.Status().Masters
	versions, errs := make([]int, len(masters)), make([]error, len(masters))
	var all sync.WaitGroup
	for i, m := range masters {
		if m.ID == d.cfg.ID {
			versions[i] = cluster.FormatVersion
			continue
		}
		all.Go(func() {
			if versions[i], errs[i] = d.askVersion(ctx, m.Peer); errs[i] == nil && versions[i] < cluster.FormatVersion {
				errs[i] = fmt.Errorf("master %s supports cluster version %d", m.ID, versions[i])
			}
		})
	}
	all.Wait()
	common := cluster.FormatVersion
	for _, v := range versions {
		common = min(common, v)
	}
	d.members.common = max(d.members.common, common)
	return common, errors.Join(errs...)
}

// askVersion asks a master which cluster version it supports. After an error the version is 0.
func (d *Daemon) askVersion(ctx context.Context, p raftlog.Peer) (int, error) {
	info, err := d.askInfo(ctx, p)
	return int(info.GetFormatVersion()), err
}

// askInfo asks the master at an address for its own description.
func (d *Daemon) askInfo(ctx context.Context, p raftlog.Peer) (*wire.Info, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	one, err := rpc.New(rpc.Config{Masters: []string{p.Address}, Token: d.Token, ClusterID: d.cfg.ClusterID, Timeout: askTimeout})
	if err != nil {
		return nil, err
	}
	defer one.Close() // an error of Close does not change the answer
	info, err := one.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("master %s at %s does not say which cluster version it supports: %w", p.ID, p.Address, err)
	}
	if info.AnsweredBy != p.ID {
		return nil, fmt.Errorf("master %s at %s: master %s answers there", p.ID, p.Address, info.AnsweredBy)
	}
	return info, nil
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
	supported, err := d.askVersion(ctx, p)
	if err != nil {
		// The cause is not wrapped: clients would take its timeout for one of this master, and look for another leader.
		return fmt.Errorf("%w: adding master %q: start it first: %v", cluster.ErrRefused, p.ID, err)
	}
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
