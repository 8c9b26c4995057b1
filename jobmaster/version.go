package jobmaster

import (
	"context"
	"slices"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/syncutil"
)

// The leader raises the cluster version when all masters support a newer one:
//
//	becomeLeader ──► raiseVersion: asks all masters, every versionInterval
//	                   │ all support more than the state has
//	                   ▼
//	                 SetVersion ──► log ──► the state of every master
//
// Until then, propose keeps what needs the newer version out of the log.

// versionInterval is how often a leader asks what masters support, until all support what it
// supports itself.
const versionInterval = time.Second

// raiseVersion runs until the cluster version is the newest that this program supports, or the
// lead ends. It logs each reason for which the version stays lower once.
func (m *Master) raiseVersion(ctx context.Context, l *lead) {
	for logged := ""; ; {
		version, err := m.cfg.CommonVersion(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && err.Error() != logged {
			logged = err.Error()
			m.cfg.Logger.Info("cluster version not raised to the newest", "newest", cluster.FormatVersion, "error", err)
		}
		if version > cluster.FirstVersion {
			m.postUnder(l, func() {
				if version > m.view.Version() {
					m.request(cluster.SetVersion{Version: version})
				}
			})
		}
		if version >= cluster.FormatVersion || syncutil.Sleep(ctx, versionInterval) != nil {
			return
		}
	}
}

// propose puts a batch into the log, without the commands that need a newer cluster version.
// These are answered as if the state had refused them. Every command passes through here. Users
// are left out if an older master cannot decode them.
func (m *Master) propose(batch []cluster.Entry) {
	if !m.view.NamesUsers() {
		for i := range batch {
			batch[i].By = ""
		}
	}
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
