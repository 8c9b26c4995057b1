package process

import (
	"github.com/hammr/hammr/tasknode"
)

// A launcher is paused while its state is handed over to another program (handover.go). What a
// process reports is left with the kernel then, where the other program finds it:
//
//	exit status of a process        not collected
//	report that a task has ended    not read
//	output of a task                not read
//
// Activities move a task between two states of the tables. They begin by enter, which waits
// while the launcher is paused.

// enter begins an activity, when the launcher is not paused.
func (l *Launcher) enter() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.mu.paused {
		l.resumed.Wait()
	}
	l.mu.active++
}

// leave ends an activity.
func (l *Launcher) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.active--
}

// Pause stops the launcher until resume is called, and returns the attempts whose tasks have a
// process. It does not wait: the error wraps tasknode.ErrLauncherBusy if an activity is in
// progress, or output is being written to a log.
func (l *Launcher) Pause() (running []string, resume func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.active > 0 || l.mu.paused || l.mu.closed {
		return nil, nil, tasknode.ErrLauncherBusy
	}
	var streams []*stream
	release := func() {
		for _, s := range streams {
			s.moving.Unlock()
		}
	}
	for c := range l.mu.children {
		t := c.currentTask()
		if t == nil {
			continue
		}
		for _, s := range []*stream{&t.stdout, &t.stderr} {
			if !s.moving.TryLock() {
				release()
				return nil, nil, tasknode.ErrLauncherBusy
			}
			streams = append(streams, s)
		}
		running = append(running, t.attempt)
	}
	l.watcher.mu.Lock() // it kills no process whose cause of death would be forgotten
	l.mu.paused = true
	return running, func() {
		release()
		l.watcher.mu.Unlock()
		l.mu.Lock()
		l.mu.paused = false
		l.mu.Unlock()
		l.resumed.Broadcast()
	}, nil
}

// currentTask returns the task that a process runs, nil if the process is idle.
func (c *child) currentTask() *task {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.task
}
