package cluster

import (
	"fmt"
	"time"
)

// Outage is an outage of the storage, as attempts of a job report it. While it lasts, a
// failure that it causes is no try of the task, and tasks of the job start only after a
// pause. When it has lasted for JobSpec.OutageLimitMillis, the next such failure ends the job.
//
//	none ── FailAttempt ──► paused ── EndOutagePause ──► tried again ── FailAttempt ──► paused …
//	  ▲                                                      │
//	  └── an attempt finishes, or none fails for outageGap ──┘
//
// The zero value means none. Times are in ms since the epoch.
type Outage struct {
	Since       int64 `cbor:"1,keyasint,omitempty"` // when an attempt first failed because of it
	Last        int64 `cbor:"2,keyasint,omitempty"` // when an attempt last failed because of it
	Pause       int64 `cbor:"3,keyasint,omitempty"` // length of the latest pause, ms
	PausedUntil int64 `cbor:"4,keyasint,omitempty"` // no task of the job starts before; 0 between pauses
}

const (
	minOutagePause = int64(time.Second / time.Millisecond)
	maxOutagePause = 30 * minOutagePause
	// outageGap is the time without a failure after which the next failure begins another
	// outage. It is longer than the default time for which an attempt repeats a call.
	outageGap = 10 * 60 * minOutagePause
)

// noteOutage records that an attempt has failed because of an outage, and pauses the job. It
// returns an error if the outage has lasted too long.
func (tx *transition) noteOutage(j *Job) error {
	o := &j.Outage
	if o.Since == 0 || tx.at-o.Last > outageGap {
		*o = Outage{Since: tx.at, PausedUntil: o.PausedUntil}
	}
	o.Last = tx.at
	if lasted := tx.at - o.Since; lasted >= j.Spec.OutageLimitMillis {
		return fmt.Errorf("the job has waited for the storage for %v (hammr.hdfs.outage.limit)", time.Duration(lasted)*time.Millisecond)
	}
	if o.PausedUntil == 0 && j.State == JobRunning {
		o.Pause = min(max(2*o.Pause, minOutagePause), maxOutagePause)
		o.PausedUntil = tx.at + o.Pause
		j.hideTasks()
		tx.delta.Jobs = append(tx.delta.Jobs, j.ID)
	}
	return nil
}

// endOutage ends the outage of a job, because the storage is available.
func (tx *transition) endOutage(j *Job) {
	if j.Outage == (Outage{}) {
		return
	}
	j.Outage = Outage{}
	j.hideTasks()
	tx.delta.Jobs = append(tx.delta.Jobs, j.ID)
}
