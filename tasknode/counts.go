package tasknode

import (
	"sync/atomic"

	"github.com/hammr/hammr/internal/rpc/wire"
)

// Counts describes the attempts of a tasknode since its program started.
type Counts struct {
	Started   int64 // attempts whose start was executed
	Succeeded int64 // attempts that finished
	Failed    int64
	Killed    int64 // attempts that were ordered to exit, ended for a cause outside the task, or never started
	Preempted int64 // attempts that ended with a checkpoint
	Running   int64 // attempts that have not ended; a suspended attempt counts
	MemoryMB  int64 // memory limits of the running attempts, in MiB
	Offered   int64 // memory that the machine offers to attempts, in MiB; 0 for any amount
}

// counts are the counts of a Daemon. The loop changes them; any goroutine may read them.
type counts struct {
	started, succeeded, failed, killed, preempted, running, memoryMB atomic.Int64

	offeredMB atomic.Int64 // of the present Offer
}

// Counts returns the counts so far. Any goroutine may call it.
func (d *Daemon) Counts() Counts {
	c := &d.counts
	return Counts{
		Started: c.started.Load(), Succeeded: c.succeeded.Load(), Failed: c.failed.Load(), Killed: c.killed.Load(), Preempted: c.preempted.Load(),
		Running: c.running.Load(), MemoryMB: c.memoryMB.Load(), Offered: c.offeredMB.Load(),
	}
}

// begin counts an attempt that starts.
func (c *counts) begin(a *attempt) {
	c.started.Add(1)
	c.resume(a)
}

// resume counts an attempt that an earlier program of the process has started.
func (c *counts) resume(a *attempt) {
	c.running.Add(1)
	c.memoryMB.Add(a.limits.MemoryMB)
}

// end counts an attempt that has ended.
func (c *counts) end(a *attempt) {
	c.running.Add(-1)
	c.memoryMB.Add(-a.limits.MemoryMB)
	c.countEnd(a.finalReport)
}

// countEnd counts a final report.
func (c *counts) countEnd(last *wire.Report) {
	switch last.Report.(type) {
	case *wire.Report_Finished:
		c.succeeded.Add(1)
	case *wire.Report_Failed:
		c.failed.Add(1)
	case *wire.Report_Checkpointed:
		c.preempted.Add(1)
	default:
		c.killed.Add(1)
	}
}
