package process

import (
	"slices"
	"time"
)

// takeIdle is a process that waits for a task of that class, nil when there is
// none. The caller has it for itself.
func (l *Launcher) takeIdle(k processClass) *child {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, c := range slices.Backward(l.mu.waiting) {
		if c.class == k && !l.mu.closed {
			l.mu.waiting = slices.Delete(l.mu.waiting, i, i+1)
			c.timer.Stop()
			return c
		}
	}
	return nil
}

// keepIdle has a process wait for another task, if it may.
func (l *Launcher) keepIdle(c *child) bool {
	if !c.isReusable() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.closed || len(l.mu.children) > l.cfg.MaxProcesses {
		return false
	}
	l.mu.waiting = append(l.mu.waiting, c)
	c.timer = time.AfterFunc(l.cfg.IdleTime, func() { l.dismiss(c) })
	return true
}

// dismiss ends a process that has waited for too long, unless it has a task.
func (l *Launcher) dismiss(c *child) {
	l.mu.Lock()
	i := slices.Index(l.mu.waiting, c)
	if i >= 0 {
		l.mu.waiting = slices.Delete(l.mu.waiting, i, i+1)
	}
	l.mu.Unlock()
	if i >= 0 {
		c.kill()
	}
}

// evictIdleLocked ends the process that has waited longest where there would be
// one too many with the next.
func (l *Launcher) evictIdleLocked() {
	if len(l.mu.waiting) == 0 || len(l.mu.children) < l.cfg.MaxProcesses {
		return
	}
	c := l.mu.waiting[0]
	l.mu.waiting = l.mu.waiting[1:]
	c.timer.Stop()
	c.kill()
}

// awaitTaskEnds hears from a process that a task is over, and has it wait for another,
// until it is gone.
func (l *Launcher) awaitTaskEnds(c *child) {
	for c.handover.AwaitTaskEnd() {
		t := c.detachTask()
		if t == nil {
			c.kill()
			return
		}
		whole := t.drain(time.Now().Add(drainTimeout))
		t.logTail = t.stderr.log.tail(logTailBytes)
		t.cleanUp()
		if !whole || !l.keepIdle(c) {
			c.kill()
			<-c.exited
		}
		close(t.exited)
	}
}
