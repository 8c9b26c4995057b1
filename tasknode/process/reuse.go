package process

import (
	"slices"
	"time"
)

// A new process costs more than a small task. So a process that has finished its task
// waits, idle, for another one of its class:
//
//	keepIdle ──► Launcher.mu.waiting, newest last ── takeIdle ──► next task
//	                │             │
//	                │ IdleTime    │ evictIdleLocked: the slot is needed for another class
//	                ▼             ▼
//	              dismiss: killed
//
// Idle processes count against MaxProcesses, so they never take memory beyond the slots.

// SetMaxProcesses replaces Config.MaxProcesses. It does not change whether processes are reused
// at all. Processes that are too many run their tasks to the end.
func (l *Launcher) SetMaxProcesses(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.maxProcesses = n
}

// takeIdle removes an idle process of a class from the list and returns it, nil if there is
// none. It prefers the process that became idle last, so that the others reach their
// IdleTime.
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

// keepIdle makes a process wait for another task. It returns false if the process may run no
// other task.
func (l *Launcher) keepIdle(c *child) bool {
	if !c.isReusable() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.closed || len(l.mu.children) > l.mu.maxProcesses {
		return false
	}
	l.waitIdleLocked(c)
	return true
}

// waitIdleLocked adds a process to those that wait for another task.
func (l *Launcher) waitIdleLocked(c *child) {
	l.mu.waiting = append(l.mu.waiting, c)
	c.timer = time.AfterFunc(l.cfg.IdleTime, func() { l.dismiss(c) })
}

// dismiss kills a process that has been idle too long, unless it has a task again.
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

// evictIdleLocked kills the process that has been idle longest, if one more process would
// exceed MaxProcesses.
func (l *Launcher) evictIdleLocked() {
	if len(l.mu.waiting) == 0 || len(l.mu.children) < l.mu.maxProcesses {
		return
	}
	c := l.mu.waiting[0]
	l.mu.waiting = l.mu.waiting[1:]
	c.timer.Stop()
	c.kill()
}

// awaitTaskEnds makes the process idle each time it reports the end of a task, until the
// process exits. A process whose output is incomplete may have left a child process behind,
// so it is killed.
func (l *Launcher) awaitTaskEnds(c *child) {
	for {
		c.next.AwaitTaskEnd()
		if !l.endTask(c) {
			return
		}
	}
}

// endTask ends the task whose end a process has reported. It returns false if the process has
// exited, or will.
func (l *Launcher) endTask(c *child) bool {
	l.enter()
	defer l.leave()
	if !c.next.TakeTaskEnd() {
		return false
	}
	t := c.detachTask()
	if t == nil {
		c.kill()
		return false
	}
	whole := t.drain(time.Now().Add(drainTimeout))
	t.logTail = t.stderr.log.tail(logTailBytes)
	t.cleanUp()
	if !whole || !l.keepIdle(c) {
		c.kill()
		<-c.exited
	}
	close(t.exited)
	return true
}
