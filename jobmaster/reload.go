package jobmaster

import (
	"context"
	"time"
)

// Reloadable are the fields of Config that may change while a master runs. Any goroutine may
// read them with Master.settings; a set of them is never changed, only replaced.
type Reloadable struct {
	Retention      time.Duration
	KeepJobs       int
	KeepTasks      int
	TasknodeExpiry time.Duration
	TasknodeForget time.Duration
	PoolFile       *PoolFile
}

// reloadable returns the fields of the configuration that may change.
func (c *Config) reloadable() *Reloadable {
	return &Reloadable{
		Retention: c.Retention, KeepJobs: c.KeepJobs, KeepTasks: c.KeepTasks,
		TasknodeExpiry: c.TasknodeExpiry, TasknodeForget: c.TasknodeForget, PoolFile: c.PoolFile,
	}
}

// settings returns the present values of the settings that may change.
func (m *Master) settings() *Reloadable { return m.reloaded.Load() }

// Reload replaces the settings that may change. It does not wait. A leader reads a new pool file
// at once, and reviews its tasknodes and its finished jobs. Retention must be 0 before and after,
// or neither.
func (m *Master) Reload(r Reloadable) {
	before := m.reloaded.Swap(&r)
	m.post(func() {
		if before.PoolFile != r.PoolFile {
			m.startPoolFile()
		}
		m.archiveNext()
		m.scheduleReview(m.now())
	})
}

// startPoolFile begins to watch the pool file of the settings, if there is one, and ends the
// watch of an earlier file. The pools of the earlier file stay until the new one is read.
func (m *Master) startPoolFile() {
	l, file := m.lead, m.settings().PoolFile
	if l.endPoolFile != nil {
		l.endPoolFile()
	}
	l.poolFile, l.endPoolFile = poolFileState{}, nil
	if file == nil {
		return
	}
	ctx, cancel := context.WithCancel(l.ctx)
	l.endPoolFile = cancel
	m.workers.Go(func() { m.watchPoolFile(ctx, l, file) })
}
