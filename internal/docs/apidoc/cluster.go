package apidoc

import "github.com/hammr/hammr/internal/rpc/wire"

// Tasknode is a tasknode.
type Tasknode struct {
	Name           string      `json:"name"`
	State          string      `json:"state"` // RUNNING, UNHEALTHY, SILENT (its connection is lost), LOST, DECOMMISSIONING or DECOMMISSIONED
	Address        string      `json:"address"`
	HTTP           string      `json:"http"`
	Rack           string      `json:"rack"`
	Hosts          []string    `json:"hosts"`
	MapSlots       int32       `json:"mapSlots"`
	ReduceSlots    int32       `json:"reduceSlots"`
	MapsRunning    int32       `json:"mapsRunning"`
	ReducesRunning int32       `json:"reducesRunning"`
	MemoryMB       int64       `json:"memoryMB"`            // MiB that its tasks may take together; 0 for any amount
	MemoryUsedMB   int64       `json:"memoryUsedMB"`        // MiB that the limits of its running tasks add up to
	Suspicion      string      `json:"suspicion,omitempty"` // why all jobs avoid the machine
	LastHeartbeat  int64       `json:"lastHeartbeat"`
	ClockSkew      int64       `json:"clockSkew"` // ms by which its clock is ahead of the leader's clock
	Load           float64     `json:"load"`
	Directories    []Directory `json:"directories"`
	Attempts       []string    `json:"attempts"`
	Unhealthy      string      `json:"unhealthy,omitempty"`   // why it gets no new tasks although no operator excluded it
	Draining       bool        `json:"draining,omitempty"`    // its outputs and checkpoints are being moved to other tasknodes
	Outputs        []string    `json:"outputs,omitempty"`     // attempts whose output lies on this machine and is still needed; only if it accepts no tasks
	Checkpoints    []string    `json:"checkpoints,omitempty"` // tasks whose checkpoint lies on this machine and is still needed; only if it accepts no tasks

	Drain   *Drain           `json:"drain,omitempty"`   // absent if it is not being drained
	Running []RunningAttempt `json:"running,omitempty"` // what the attempts do; not in lists
	Starts  map[string]int64 `json:"starts,omitempty"`  // attempts that were started there since the leader leads, by the rack of their input

	Lost bool `json:"lost,omitempty"` // it was silent for too long; State does not show it if a user has excluded the tasknode
}

// RunningAttempt is what an attempt on a tasknode does.
type RunningAttempt struct {
	ID        string  `json:"id"`
	State     string  `json:"state"` // RUNNING or SUSPENDED; another one if its process has not ended yet
	StartTime int64   `json:"startTime"`
	Progress  float64 `json:"progress"` // 0 to 1, as last reported
	Phase     string  `json:"phase,omitempty"`
}

// Directory is a local directory of a tasknode.
type Directory struct {
	Path  string `json:"path"`
	Free  int64  `json:"free"`            // bytes
	Total int64  `json:"total"`           // bytes
	Fault string `json:"fault,omitempty"` // why the tasknode does not use it
}

// Masters describes the masters of a cluster.
type Masters struct {
	Cluster string   `json:"cluster"`
	Leader  string   `json:"leader"` // id of the leader, "" if there is none
	Term    uint64   `json:"term"`
	Version int      `json:"clusterVersion"` // version of the commands and snapshots that the masters exchange, from 1
	Masters []Master `json:"masters"`

	LeadChanges []LeadChange `json:"leadChanges,omitempty"` // as one master has seen them since its start, the latest first
}

// LeadChange is a change of the leader.
type LeadChange struct {
	Time   int64  `json:"time"`
	Term   uint64 `json:"term"`
	Leader string `json:"leader"`
	Before string `json:"before,omitempty"` // the leader before; absent if the master had just started
	Gap    int64  `json:"gapMillis"`        // time without a known leader
	Cause  string `json:"cause"`            // why the leader before did not lead any more
}

// Master describes one master of a cluster.
type Master struct {
	ID      string `json:"id"`
	Address string `json:"address"`
	HTTP    string `json:"http"`
	State   string `json:"state"` // leader, follower, candidate or unreachable

	NonVoter      bool    `json:"nonVoter,omitempty"`      // it has been added and has no vote yet
	Lag           *uint64 `json:"lag,omitempty"`           // committed log entries that it has not applied; absent if the master is unreachable
	LagMillis     *int64  `json:"lagMillis,omitempty"`     // time between the last entry that it has applied and the last one that any master has; absent if it is not known
	Version       string  `json:"version,omitempty"`       // of its program
	FormatVersion int     `json:"formatVersion,omitempty"` // newest cluster version that it supports; absent if the master is unreachable

	CommitIndex   uint64 `json:"commitIndex,omitempty"`   // last log entry that it knows to be committed; absent if it is unreachable
	AppliedIndex  uint64 `json:"appliedIndex,omitempty"`  // last log entry that it has applied
	SnapshotIndex uint64 `json:"snapshotIndex,omitempty"` // last log entry in its latest snapshot; absent if it has none

	LogWrites *LogWrites `json:"logWrites,omitempty"` // absent if the master is unreachable

	UnwrittenHistories int32  `json:"unwrittenHistories,omitempty"` // on the leader: finished jobs whose history is not written
	HistoryError       string `json:"historyError,omitempty"`       // on the leader: why histories cannot be written
}

// LogWrites describes how long recent writes to a master's log took, fsync included.
type LogWrites struct {
	Count        uint64 `json:"count"` // since the master's start
	MedianMicros int64  `json:"medianMicros"`
	P99Micros    int64  `json:"p99Micros"`
	MaxMicros    int64  `json:"maxMicros"`

	Histogram []WriteBin `json:"histogram,omitempty"` // of the latest 512 writes
}

// WriteBin counts writes that took as long as at least the bin before and less than its bound.
type WriteBin struct {
	BelowMicros int64 `json:"belowMicros,omitempty"` // absent on the last, which has no bound
	Writes      int64 `json:"writes"`
}

// firstBinMicros is the bound of the first WriteBin; that of each other bin is twice the one before.
const firstBinMicros = 100

// logWritesOf returns the document of writes.
func logWritesOf(l *wire.Info_LogWrites) *LogWrites {
	doc := &LogWrites{Count: l.Count, MedianMicros: l.MedianMicros, P99Micros: l.P99Micros, MaxMicros: l.MaxMicros}
	for i, n := range l.Histogram {
		bin := WriteBin{Writes: n}
		if i+1 < len(l.Histogram) {
			bin.BelowMicros = firstBinMicros << min(i, 40)
		}
		doc.Histogram = append(doc.Histogram, bin)
	}
	return doc
}

// MastersOf combines what one master knows of the cluster (info) with the answer of each
// master. The answers are in the order of info.Masters; nil stands for a master that does
// not answer. The answer of the latest term names the leader.
func MastersOf(info *wire.Info, answers []*wire.Info) Masters {
	doc := Masters{Cluster: info.ClusterId, Leader: info.Leader, Term: info.Term, Version: int(info.ClusterVersion), Masters: []Master{}}
	committed, newest := info.CommitIndex, info.AppliedTime
	for _, a := range answers {
		committed, newest = max(committed, a.GetCommitIndex()), max(newest, a.GetAppliedTime())
	}
	for i, m := range info.Masters {
		master := Master{ID: m.Id, Address: m.Address, HTTP: m.Http, State: "unreachable", NonVoter: m.NonVoter}
		if a := answers[i]; a != nil {
			lag := committed - min(committed, a.AppliedIndex)
			master.Lag = &lag
			if behind := newest - a.AppliedTime; lag == 0 || a.AppliedTime > 0 {
				if lag == 0 {
					behind = 0
				}
				master.LagMillis = &behind
			}
			if a.Term > doc.Term {
				doc.Term, doc.Leader = a.Term, a.Leader
			}
			doc.Version = max(doc.Version, int(a.ClusterVersion))
			master.CommitIndex, master.AppliedIndex, master.SnapshotIndex = a.CommitIndex, a.AppliedIndex, a.SnapshotIndex
			doc.addLeadChanges(a)
			master.Version, master.FormatVersion = a.Version, int(a.FormatVersion)
			if l := a.LogWrites; l != nil {
				master.LogWrites = logWritesOf(l)
			}
			master.UnwrittenHistories, master.HistoryError = a.UnwrittenHistories, a.HistoryError
			for _, self := range a.Masters {
				if self.Id == m.Id {
					master.HTTP, master.State = self.Http, self.State
				}
			}
		}
		doc.Masters = append(doc.Masters, master)
	}
	return doc
}

// addLeadChanges takes the changes of the leader that a master has seen, if it has seen more of them
// than the others: it has run for longer.
func (doc *Masters) addLeadChanges(a *wire.Info) {
	if len(a.LeadChanges) <= len(doc.LeadChanges) {
		return
	}
	doc.LeadChanges = nil
	for _, c := range a.LeadChanges {
		doc.LeadChanges = append(doc.LeadChanges, LeadChange{c.Time, c.Term, c.Leader, c.Before, c.GapMillis, c.Cause})
	}
}

// Change is one change that a command has made.
type Change struct {
	ID   string `json:"id"`           // of the thing that changed
	Done string `json:"done"`         // past participle, as "killed"
	To   string `json:"to,omitempty"` // new value
}
