package tasknode

import (
	"sync/atomic"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
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
func (c *counts) begin(start *taskproc.Start) {
	c.started.Add(1)
	c.resume(start)
}

// resume counts an attempt that an earlier program of the process has started.
func (c *counts) resume(start *taskproc.Start) {
	c.running.Add(1)
	c.memoryMB.Add(memoryMB(start))
}

// end counts an attempt that has ended.
func (c *counts) end(start *taskproc.Start, last *wire.Report) {
	c.running.Add(-1)
	c.memoryMB.Add(-memoryMB(start))
	c.countEnd(last)
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

// memoryMB returns the memory limit of an attempt, in MiB; 0 if its properties have errors, so
// that it will not run.
func memoryMB(start *taskproc.Start) int64 {
	c, err := conf.FromMap(start.Properties)
	if err != nil {
		return 0
	}
	if start.Kind == taskproc.Kind_REDUCE {
		return c.Int64(conf.ReduceMemoryMB)
	}
	return c.Int64(conf.MapMemoryMB)
}
