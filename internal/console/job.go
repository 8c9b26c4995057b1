package console

import (
	"fmt"

	"github.com/hammr/hammr/internal/counter"
)

// TotalInputFiles tells how many files the job reads.
func (c *Console) TotalInputFiles(n int) {
	c.info(ClassInputFormat, "Total input files to process : %d", n)
}

// Splits tells how many map tasks the input is cut into.
func (c *Console) Splits(n int) { c.info(ClassSubmitter, "number of splits:%d", n) }

// URL tells where the job can be watched.
func (c *Console) URL(url string) { c.info(ClassJob, "The url to track the job: %s", url) }

// Running tells the job's id. Rate and remaining time count from here.
func (c *Console) Running(jobID string) {
	c.mu.Lock()
	c.mu.shown, c.mu.last = "", nil
	c.mu.bar.reset(c.opts.Now())
	c.mu.Unlock()
	c.info(ClassJob, "Running job: %s", jobID)
}

// Deprecated tells that a property has a newer name, in Hadoop's words.
func (c *Console) Deprecated(name, instead string) {
	c.info(ClassDeprecation, "%s is deprecated. Instead, use %s", name, instead)
}

// TaskFailed tells of an attempt that failed, while the job goes on, and why.
func (c *Console) TaskFailed(attemptID, diagnostics string) {
	c.taskEnded(attemptID, "FAILED", diagnostics)
}

// TaskKilled tells of an attempt that was killed. Hadoop shows these only when
// mapreduce.client.output.filter is KILLED or ALL.
func (c *Console) TaskKilled(attemptID, diagnostics string) {
	c.taskEnded(attemptID, "KILLED", diagnostics)
}

func (c *Console) taskEnded(attemptID, status, diagnostics string) {
	if c.opts.Quiet {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.logLocked(Info, ClassJob, fmt.Sprintf("Task Id : %s, Status : %s", attemptID, status))
	if diagnostics != "" {
		c.writeLocked(clean(diagnostics) + "\n")
	}
}

// Completed tells that the job succeeded.
func (c *Console) Completed(jobID string) {
	c.info(ClassJob, "Job %s completed successfully", jobID)
}

// Failed tells that the job ended otherwise: state is FAILED or KILLED, cause
// the first cause, "" when there is none.
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

// Counters shows the counters as Hadoop does at the end of a job.
func (c *Console) Counters(v counter.Values) { c.info(ClassJob, "%s", v) }
