package raftlog

import (
	"github.com/hashicorp/raft"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/jobmaster"
)

var _ jobmaster.Log = (*Log)(nil)

// Events yields the events of the log. The channel is unbuffered and never closed.
func (l *Log) Events() <-chan jobmaster.LogEvent { return l.events }

// Propose proposes a batch as one entry of the log. The caller must not change the entries
// afterwards.
//
// A batch that is proposed while this server does not lead is dropped. The jobmaster will
// soon get Following, and the next leader makes its own batches.
func (l *Log) Propose(batch []cluster.Entry) {
	lead := l.lead.announced.Load()
	if lead == 0 {
		return // Following is on its way.
	}
	l.tasks.Go(func() { l.propose(lead, batch) })
}

// propose retries until the batch has entered the log or the lead is over. It retries only
// if the batch has certainly not entered the log, because a batch that enters twice would be
// applied twice. If the outcome is unknown, Raft steps down, and Following is emitted.
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
			return // The FSM has emitted it.
		}
		if !neverEntered(err) {
			l.cfg.Logger.Warn("leadership lost, outcome of a batch is unknown", "entries", len(batch), "error", err)
			return
		}
		if !l.waitRetry() {
			return
		}
	}
}

// emit passes an event to the jobmaster. It returns false if the log closes first.
func (l *Log) emit(event jobmaster.LogEvent) bool {
	select {
	case <-l.fsm.opened: // The state restored while opening comes first.
	case <-l.closing.Done():
		return false
	}
	return l.send(event)
}

// send passes an event to the jobmaster and waits until the jobmaster has received it. It
// returns false if the log closes first. The first check makes sure that a closed log sends
// no event, even if a receiver is waiting.
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
