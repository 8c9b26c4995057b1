package raftlog

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/hashicorp/raft"
)

// watch detects leads without progress. A leader whose disk stalls still sends
// heartbeats, so that Raft elects no other.
//
//	every WatchInterval, while this server leads:
//	  entries were committed since ──► fine
//	  else an empty entry is committed within WatchPatience ──► fine
//	  else giveUp: transfer the lead ──► it is not the leader any more: fine
//	                                 ──► it still is: fatal, the process exits
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
		if err := l.checkProgress(&committed); err != nil {
			l.giveUp(lead, err)
		}
	}
}

// checkProgress returns why a leader cannot serve. If nothing was committed since index
// committed, it writes an empty entry. It updates committed.
func (l *Log) checkProgress(committed *uint64) error {
	if _, err := l.snapshots.List(); outOfFiles(err) {
		// The disk is not to blame: connections come and go. Commits show whether the log works.
		l.cfg.Logger.Warn("snapshots cannot be listed; raise the limit of open files (ulimit -n)", "error", err)
	} else if err != nil {
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
	return nil // After any other error Raft has already stepped down.
}

// outOfFiles reports whether the process or the machine has too many open files.
func outOfFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// transferPatience is how long a transfer of a lead may take. A leader whose disk stalls
// never completes one.
const transferPatience = time.Second

// giveUp transfers a lead that makes no progress to another server. If the transfer fails,
// it ends this server.
func (l *Log) giveUp(lead uint64, cause error) {
	if l.closing.Err() != nil {
		return
	}
	l.cfg.Logger.Error("leader makes no progress, stepping down", "error", cause)
	err, ok := l.within(transferPatience, func() error { return l.raft.LeadershipTransfer().Error() })
	if (!ok || err != nil) && l.lead.holds(lead) && l.closing.Err() == nil {
		l.fatal(cause)
	}
}

// within calls f in a goroutine. It returns false if f does not return in time, or if
// the log closes.
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

// fatal ends the daemon once. It first closes the connections to the other masters, and
// emits no more events. Otherwise a leader with a stalled disk would send heartbeats until
// its process has exited.
func (l *Log) fatal(err error) {
	l.failOnce.Do(func() {
		l.cfg.Logger.Error("master cannot serve, exiting", "error", err)
		l.cancel()
		go func() {
			err = errors.Join(err, l.transport.Close())
			l.cfg.Fatal(err)
		}()
	})
}
