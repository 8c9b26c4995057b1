package tasknode

import (
	"fmt"
	"slices"

	"github.com/hammr/hammr/internal/rpc/wire"
)

// If the masters are lost and restored from a backup, the state of the cluster is older than what
// this tasknode has done. Every session says how often the state was restored
// (wire.Order_Directories.Restores). Attempts that run in the restored state and on this machine
// continue. Where the two differ:
//
//	runs here, unknown to the state          the master orders the end of the attempt when the tasknode joins
//	suspended here, runs in the state        startedBefore resumes it
//	ended here, runs in the state            repeatEnd reports the end again
//	has read output unknown to the state     endReaders ends it
//
// A restored state never gives the id of an earlier attempt to another one (cluster/restores.go).

// startedBefore handles an order to start an attempt that was started before. Masters repeat it in
// every session, and before an order to suspend the attempt.
func (d *Daemon) startedBefore(job, attempt string) {
	if a := d.attempts[attempt]; a != nil && a.unconfirmed {
		a.unconfirmed = false
		a.resume()
	}
	d.repeatEnd(job, attempt)
}

// repeatEnd answers an order for an attempt that has ended on this machine, and whose final
// report a master has acknowledged. Only a state that was restored from a backup knows nothing of
// that report. If the files of the attempt are retained, their record is the report. Otherwise the
// task has to run again: nothing else says what the attempt has written.
func (d *Daemon) repeatEnd(job, attempt string) {
	if d.attempts[attempt] != nil || d.unacked[attempt] != nil {
		return // its final report will be sent, or sent again
	}
	lost := func() {
		if d.unacked[attempt] == nil {
			d.rejectStart(job, attempt, "it has ended, and the masters were restored from a backup that does not have its end")
		}
	}
	if _, retained := d.retained[attempt]; !retained {
		lost()
		return
	}
	d.readRecord(attempt, func(last *wire.Report, err error) {
		if err != nil {
			d.cfg.Logger.Warn("cannot read the record of an attempt", "attempt", attempt, "error", err)
			lost()
			return
		}
		d.sendRecord(last)
	})
}

// noteRestores notes how often the state of the present master was restored.
func (d *Daemon) noteRestores(restores int32) {
	if restores > d.restores {
		for _, a := range d.attempts {
			a.unconfirmed = true
		}
		for _, j := range d.jobs {
			for _, w := range j.outputs {
				w.unconfirmed = true
			}
		}
	}
	d.restores = max(d.restores, restores)
}

// confirmedRestores returns how often the state was restored, without a restore that the masters
// have not answered for all attempts and outputs: the next session begins with it again.
func (d *Daemon) confirmedRestores() int32 {
	for _, a := range d.attempts {
		if a.unconfirmed {
			return d.restores - 1
		}
	}
	for _, j := range d.jobs {
		for _, w := range j.outputs {
			if w.unconfirmed {
				return d.restores - 1
			}
		}
	}
	return d.restores
}

// endReaders ends the attempts that read an edge, because they may have read the output of
// attempts that the restored state does not know. It may divide the same input among other tasks,
// so that such a reader would get records twice, or not at all. Their tasks resume from their
// checkpoints, or run again.
func (d *Daemon) endReaders(job string, edge int32, unknown []string) {
	for id, a := range d.attempts {
		if a.start.JobId == job && slices.Contains(a.reads, edge) {
			d.cfg.Logger.Warn("attempt ended: it may have read output that is lost to the restored masters",
				"attempt", id, "outputs", len(unknown), "first", unknown[0])
			a.kill("the masters were restored from a backup that does not have output which this attempt may have read, such as that of " + unknown[0])
		}
	}
}

// checkRestores refuses a session with a master whose state was restored less often than that of
// an earlier one. Such a master belongs to the masters that were replaced.
func checkRestores(orders []*wire.Order, newest *int32) error {
	for _, o := range orders {
		dirs := o.GetDirectories()
		switch {
		case dirs == nil:
		case dirs.Restores < *newest:
			return fmt.Errorf("the master has the state from before restore %d of the cluster; stop that master", *newest)
		default:
			*newest = dirs.Restores
		}
	}
	return nil
}
