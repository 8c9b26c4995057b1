package console

import (
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// ProgressOf returns the progress of a job. Its bytes estimate the speed: the input counts once for the map phase and
// once for the reduce phase.
func ProgressOf(s *wire.JobStatus) Progress {
	p := Progress{
		Map: s.MapProgress, Reduce: s.ReduceProgress, MapsOnly: s.Reduces == 0, Partial: s.ProgressPartial,
		BytesTotal: s.InputBytes,
		BytesDone:  int64(s.MapProgress * float64(s.InputBytes)),
	}
	if !p.MapsOnly {
		p.BytesTotal *= 2 // once through the map, once through the reduce
		p.BytesDone += int64(s.ReduceProgress * float64(s.InputBytes))
	}
	return p
}

// Ended shows the final state of a job: its counters if it has succeeded, else its cause, and the failure that ended
// the job, with its stack and log.
func (c *Console) Ended(s *wire.JobStatus, counters counter.Values) {
	if s.State == wire.JobState_SUCCEEDED {
		c.Completed(s.JobId)
		c.Counters(counters)
		return
	}
	c.Failed(s.JobId, s.State.String(), s.Cause)
	if n := len(s.Failures); n > 0 && s.State == wire.JobState_FAILED {
		c.Failure(report.FailureFromRecord(s.Failures[n-1]))
	}
}
