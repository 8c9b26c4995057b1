package raftlog

import (
	"github.com/hashicorp/raft"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/jobmaster"
)

var _ jobmaster.Log = (*Log)(nil)

// Events yields what happens. The channel has no room and is never closed.
func (l *Log) Events() <-chan jobmaster.LogEvent { return l.events }

// Propose hands a batch to Raft, as one entry of the log. The caller leaves the
// entries as they are from now on.
func (l *Log) Propose(batch []cluster.Entry) {
	lead := l.lead.announced.Load()
	if lead == 0 {
		return // Following is on its way.
	}
	l.tasks.Go(func() { l.propose(lead, batch) })
}

// propose tries until the batch has entered the log or the lead is over.
func (l *Log) propose(lead uint64, batch []cluster.Entry) {
	data, err := cluster.EncodeEntries(batch)
	if err != nil {
		l.fatal(err)
		return
	}
	for {
		var future raft.ApplyFuture
		if !l.lead.during(lead, func() { future = l.raft.Apply(data, enqueueTimeout) }) {
			return
		}
		err := future.Error()
		if err == nil {
			return // The FSM has handed it over.
		}
		if !neverEntered(err) {
			l.cfg.Logger.Warn("a batch has no known outcome, the lead is over", "entries", len(batch), "error", err)
			return
		}
		if !l.waitRetry() {
			return
		}
	}
}

// emit hands an event over and reports whether it was taken before the log
// closed.
func (l *Log) emit(event jobmaster.LogEvent) bool {
	select {
	case <-l.fsm.opened: // What was restored while opening goes first.
	case <-l.closing.Done():
		return false
	}
	return l.send(event)
}

func (l *Log) send(event jobmaster.LogEvent) bool {
	if l.closing.Err() != nil {
		return false
	}
	select {
	case l.events <- event:
		return true
	case <-l.closing.Done():
		return false
	}
}
