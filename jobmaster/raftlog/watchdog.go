package raftlog

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// watch finds out when a lead makes no progress. A leader whose disk stalls goes
// on to tell the others that it lives, so that nobody else is elected.
func (l *Log) watch() {
	ticker := time.NewTicker(l.cfg.WatchInterval)
	defer ticker.Stop()
	var committed uint64
	for {
		select {
		case <-ticker.C:
		case <-l.closing.Done():
			return
		}
		lead, held := l.lead.current()
		if !held {
			continue
		}
		if fault := l.checkProgress(&committed); fault != nil {
			l.giveUp(lead, fault)
		}
	}
}

// checkProgress says what keeps a leader from serving. It writes an empty entry when
// nothing was committed since committed, which it brings up to date.
func (l *Log) checkProgress(committed *uint64) error {
	if _, err := l.snapshots.List(); err != nil {
		return fmt.Errorf("raftlog: snapshots cannot be read: %w", err)
	}
	if index := l.raft.CommitIndex(); index != *committed {
		*committed = index
		return nil
	}
	err, ok := l.within(l.cfg.WatchPatience, func() error { return l.raft.Apply(nil, l.cfg.WatchPatience).Error() })
	if !ok || errors.Is(err, raft.ErrEnqueueTimeout) {
		return fmt.Errorf("raftlog: nothing was committed for %v (is the disk of %s stalled?)", l.cfg.WatchPatience, l.cfg.Dir)
	}
	*committed = l.raft.CommitIndex()
	return nil // With any other error Raft has stepped down by itself.
}

// transferPatience is how long another server may take to have a lead handed
// over. One whose disk stalls never hands it over.
const transferPatience = time.Second

// giveUp hands a lead that makes no progress to another server, or ends this
// one.
func (l *Log) giveUp(lead uint64, fault error) {
	if l.closing.Err() != nil {
		return
	}
	l.cfg.Logger.Error("this master leads without progress and gives up", "error", fault)
	err, ok := l.within(transferPatience, func() error { return l.raft.LeadershipTransfer().Error() })
	if (!ok || err != nil) && l.lead.holds(lead) && l.closing.Err() == nil {
		l.fatal(fault)
	}
}

// within calls f in a goroutine and reports false when it has not returned in
// time, or the log closes.
func (l *Log) within(limit time.Duration, f func() error) (err error, ok bool) {
	done := make(chan error, 1)
	if !l.tasks.Go(func() { done <- f() }) {
		return nil, false
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-done:
		return err, true
	case <-timer.C:
	case <-l.closing.Done():
	}
	return nil, false
}

// fatal ends the daemon, once. Nothing is handed over any more, and the other
// masters hear nothing more: a leader whose disk stalls would tell them that it
// lives for as long as its process takes to end.
func (l *Log) fatal(err error) {
	l.failOnce.Do(func() {
		l.cfg.Logger.Error("this master cannot serve", "error", err)
		l.cancel()
		go func() {
			err = errors.Join(err, l.transport.Close())
			l.cfg.Fatal(err)
		}()
	})
}
