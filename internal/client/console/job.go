package console

import (
	"fmt"

	"github.com/hammr/hammr/internal/conf/counter"
)

// TotalInputFiles prints how many files the job reads.
func (c *Console) TotalInputFiles(n int) {
	c.info(ClassInputFormat, "Total input files to process : %d", n)
}

// Splits prints the number of input splits. There is one map task for each.
func (c *Console) Splits(n int) { c.info(ClassSubmitter, "number of splits:%d", n) }

// Running prints the job's id. Rate and remaining time count from this call.
func (c *Console) Running(jobID string) {
	c.mu.Lock()
	c.mu.shown, c.mu.last = "", nil
	c.mu.bar.reset(c.opts.Now())
	c.mu.Unlock()
	c.info(ClassJob, "Running job: %s", jobID)
}

// TaskFailed prints why an attempt failed while the job continues: a line with its id, which
// Hadoop's users search for, and the diagnostics below it.
func (c *Console) TaskFailed(attemptID, diagnostics string) {
	if c.opts.Quiet {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.logLocked(Info, ClassJob, fmt.Sprintf("Task Id : %s, Status : FAILED", attemptID))
	if diagnostics != "" {
		c.writeLocked(clean(diagnostics) + "\n")
	}
}

// Completed prints that the job succeeded.
func (c *Console) Completed(jobID string) {
	c.info(ClassJob, "Job %s completed successfully", jobID)
}

// Failed prints that the job did not succeed: state is FAILED or KILLED; cause is the first
// cause, "" if there is none.
func (c *Console) Failed(jobID, state, cause string) {
	text := fmt.Sprintf("Job %s failed with state %s", jobID, state)
	if cause != "" {
		text += " due to: " + cause
	}
	level := Info
	if c.opts.Quiet {
		level = Error
	}
	c.Log(level, ClassJob, text)
}

// Counters prints the counters as Hadoop does at the end of a job.
func (c *Console) Counters(v counter.Values) { c.info(ClassJob, "%s", v) }
