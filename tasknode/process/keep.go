package process

import (
	"slices"
	"time"
)

// take is a process that waits for a task of that class, nil when there is
// none. The caller has it for itself.
func (l *Launcher) take(k class) *child {
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

// keep has a process wait for another task, if it may.
func (l *Launcher) keep(c *child) bool {
	if !c.mayGoOn() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.closed || len(l.mu.children) > l.cfg.Keep {
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

// makeRoomLocked ends the process that has waited longest where there would be
// one too many with the next.
func (l *Launcher) makeRoomLocked() {
	if len(l.mu.waiting) == 0 || len(l.mu.children) < l.cfg.Keep {
		return
	}
	c := l.mu.waiting[0]
	l.mu.waiting = l.mu.waiting[1:]
	c.timer.Stop()
	c.kill()
}

// listen hears from a process that a task is over, and has it wait for another,
// until it is gone.
func (l *Launcher) listen(c *child) {
	for c.handover.Over() {
		t := c.letGo()
		if t == nil {
			c.kill()
			return
		}
		whole := t.drain(time.Now().Add(drainPatience))
		t.logTail = t.stderr.log.tail(logTailBytes)
		t.cleanUp()
		if !whole || !l.keep(c) {
			c.kill()
			<-c.gone
		}
		close(t.gone)
	}
}
