package jobmaster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/storage"
)

// Work for a job that fails because HDFS is not available is tried again, until it succeeds
// or the job has waited for hammr.hdfs.outage.limit. Any other error ends the work at once.
//
// The wait is counted in each lead. It is not replicated: the next leader sees the outage by
// itself, since it starts the same work again. A change of the leader makes the wait longer,
// so a job never fails too early.

// maxOutagePause is the longest pause between two tries of work during an outage.
const maxOutagePause = 30 * time.Second

// outage is why work for a job waits. The zero value means that it does not wait.
type outage struct {
	since time.Time // when the work first failed
	cause string    // error of the latest try
}

// untilAvailable calls try until it returns nil or an error that does not mean an outage, or
// until the outage limit of the job has passed. The loop knows the outage meanwhile.
func (w *jobWork) untilAvailable(ctx context.Context, try func(context.Context) error) error {
	var now outage
	var began time.Time
	limit := w.conf.Duration(conf.HDFSOutageLimit)
	for pause := time.Second; ; pause = min(2*pause, maxOutagePause) {
		err := try(ctx)
		if !storage.Unavailable(err) || ctx.Err() != nil {
			if !now.since.IsZero() {
				w.reportOutage(outage{})
			}
			return err
		}
		if now.since.IsZero() {
			began, now.since = time.Now(), w.m.cfg.Now()
			w.m.cfg.Logger.Warn("work for a job waits for HDFS", "job", w.job, "error", err)
		}
		if waited := time.Since(began); waited >= limit {
			return fmt.Errorf("HDFS is not available, and the job has waited for %v (%s is %v): %w",
				waited.Round(time.Second), conf.HDFSOutageLimit, limit, err)
		}
		now.cause = truncateText(err.Error())
		w.reportOutage(now)
		// Half of the pause is random, so that the work of many jobs is not repeated in step.
		if wait := syncutil.Sleep(ctx, pause/2+rand.N(pause/2)); wait != nil {
			return wait
		}
	}
}

// reportOutage passes the outage of a job to the loop, for the job's status.
func (w *jobWork) reportOutage(o outage) {
	w.m.postUnder(w.lead, func() {
		r := w.m.record(w.job)
		r.outage = o
		r.touch()
	})
}
