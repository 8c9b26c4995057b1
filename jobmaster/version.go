package jobmaster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/kit/syncutil"
)

// The leader raises the cluster version when all masters and tasknodes support a newer one:
//
//	becomeLeader ──► raiseVersion: asks all masters, every versionInterval
//	                   │ all support more than the state has, and so do all tasknodes
//	                   ▼
//	                 SetVersion ──► log ──► the state of every master
//
// Until then, propose keeps what needs the newer version out of the log. From then on, no master
// and no tasknode joins that supports less.

// versionInterval is how often a leader asks what masters support, until the cluster has the
// version that it supports itself.
const versionInterval = time.Second

// raiseVersion runs until the cluster version is the newest that this program supports, or the
// lead ends. It logs each reason for which the version stays lower once.
func (m *Master) raiseVersion(ctx context.Context, l *lead) {
	logged := new(string) // used by the loop of the master
	for m.ClusterVersion() < cluster.FormatVersion {
		masters, missing := m.cfg.CommonVersion(ctx)
		if ctx.Err() != nil {
			return
		}
		m.postUnder(l, func() {
			tasknodes, older := m.supportedByTasknodes()
			if err := cmp.Or(missing, older); err != nil && err.Error() != *logged {
				*logged = err.Error()
				m.cfg.Logger.Info("cluster version not raised to the newest", "newest", cluster.FormatVersion, "error", err)
			}
			if version := min(masters, tasknodes); version > m.view.Version() {
				m.request(cluster.SetVersion{Version: version})
			}
		})
		if syncutil.Sleep(ctx, versionInterval) != nil {
			return
		}
	}
}

// supportedByTasknodes returns the newest cluster version that all tasknodes support, and an error that names one that
// supports less than this program. What a tasknode supports is not in the replicated state: a new leader learns it when
// the tasknode attaches.
func (m *Master) supportedByTasknodes() (version int, err error) {
	version = cluster.FormatVersion
	for machine := range m.view.Machines() {
		if machine.Lost {
			continue
		}
		switch n := m.tasknode(machine.Name); {
		case !n.seenThisTerm:
			version, err = min(version, m.view.Version()), fmt.Errorf("tasknode %s is silent", machine.Name)
		case n.supports < version:
			version, err = n.supports, fmt.Errorf("tasknode %s supports cluster version %d", machine.Name, n.supports)
		}
	}
	return version, err
}

// checkSupport refuses a tasknode that does not support the cluster version.
func (m *Master) checkSupport(name string, version int) error {
	if version >= m.view.Version() {
		return nil
	}
	return fmt.Errorf("%w: tasknode %s supports cluster version %d, and the cluster has version %d: start it with the version of hammr that the other tasknodes run",
		cluster.ErrRefused, name, version, m.view.Version())
}

// endTooOld ends the session of a tasknode that has joined while the version was raised above
// what it supports. It reports whether it did.
func (m *Master) endTooOld(machine *cluster.Machine, n *tasknodeRecord) bool {
	err := m.checkSupport(machine.Name, n.supports)
	if err == nil {
		return false
	}
	m.cfg.Logger.Warn("tasknode too old", "tasknode", machine.Name, "error", err)
	n.detach(err)
	m.expire(machine, n)
	return true
}

// propose puts a batch into the log, without the commands that need a newer cluster version.
// These are answered as if the state had refused them. Every command passes through here.
func (m *Master) propose(batch []cluster.Entry) {
	batch = slices.DeleteFunc(batch, func(e cluster.Entry) bool {
		err := m.view.CheckVersion(e.Command)
		if err != nil {
			m.cfg.Logger.Debug("command refused", "command", e.Command, "error", err)
			m.refuseChanges(e.Command, err)
			m.answerSubmit(e, cluster.Delta{}, err)
			m.unproposed = append(m.unproposed, control.Result{Entry: e, Err: err})
		}
		return err != nil
	})
	if len(batch) > 0 {
		m.cfg.Log.Propose(batch)
		return
	}
	m.events = append(m.events, control.Applied{Results: m.takeUnproposed()})
	m.wakeAt = m.now()
}

// takeUnproposed returns the results of commands that were not proposed. The controller gets
// them with those of the batch that it has made them for.
func (m *Master) takeUnproposed() []control.Result {
	results := m.unproposed
	m.unproposed = nil
	return results
}

// AppliedTime returns when the last entry was proposed that this master has applied since it started,
// ms since the epoch; 0 for none.
func (m *Master) AppliedTime() int64 { return m.appliedTime.Load() }

// ClusterVersion returns the cluster version of the state, whether this master leads or not.
func (m *Master) ClusterVersion() int { return int(m.version.Load()) }

// LeaderVersion returns the cluster version that counts for masters that are added. Its error
// wraps ErrNotLeader if this master does not lead.
func (m *Master) LeaderVersion(ctx context.Context) (int, error) {
	return ask(ctx, m, func() (int, error) { return m.view.Version(), nil })
}
