package tasknode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/task/checkpoint"
	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/storage"
)

// outputCopy is a copy of the segments or the checkpoint of an attempt on a tasknode that is
// being drained.
//
//	tasknode that is drained                 this tasknode
//	map.out, map.out.index  ── fetched ──►   DIR/JOB/SHARD/ATTEMPT/map.out, map.out.index, verified
//	checkpoint and its files ── fetched ──►  DIR/JOB/SHARD/ATTEMPT/checkpoint, moved/…
//	                                         DIR/JOB/SHARD/ATTEMPT.retained: the record
//
// After the record is written, the attempt is retained as if it had run here. The jobmaster
// then sends readers the address of this copy.
type outputCopy struct {
	order    *wire.Order_CopyOutput
	dir      string                 // directory for the attempt's files
	patience checkpoint.RetryPolicy // how to retry requests to the other tasknode
	create   func(path string) (storage.Writer, error)
}

// copyOutput starts to copy the files that an attempt has left on another tasknode. If a
// copy already exists, it reports that copy and makes no other.
func (d *Daemon) copyOutput(ctx context.Context, o *wire.Order_CopyOutput) {
	id := o.AttemptId
	switch _, retained := d.retained[id]; {
	case d.copying[id]:
		return
	case d.job(o.JobId).removed:
		d.reportCopy(o, nil, fmt.Errorf("job %s is over, and its local files are being removed", o.JobId))
		return
	case retained:
		d.reportRetained(ctx, o)
		return
	}
	local, release, err := d.cfg.DirChooser.Acquire()
	if err != nil {
		d.reportCopy(o, nil, err)
		return
	}
	d.copying[id] = true
	d.job(o.JobId).busy++
	t := &outputCopy{order: o, dir: filepath.Join(local, o.JobId, taskdir.InJob(id)), patience: copyRetry, create: createHere(ctx)}
	d.workers.Go(func() {
		last, err := t.copy(ctx)
		release()
		d.inbox.Put(func() { d.outputCopied(t, last, err) })
	})
}

// reportRetained reports a copy that exists. If its record cannot be read, the copy is made
// again.
func (d *Daemon) reportRetained(ctx context.Context, o *wire.Order_CopyOutput) {
	d.readRecord(o.AttemptId, func(last *wire.Report, err error) {
		if err == nil {
			d.reportCopy(o, last, nil)
			return
		}
		delete(d.retained, o.AttemptId)
		d.copyOutput(ctx, o)
	})
}

// outputCopied retains the files as if the attempt had run here.
func (d *Daemon) outputCopied(t *outputCopy, last *wire.Report, err error) {
	id := t.order.AttemptId
	delete(d.copying, id)
	if err == nil {
		d.addKnown(t.order.JobId, id)
		d.retained[id] = t.dir + recordSuffix
	}
	d.reportCopy(t.order, last, err)
	d.releaseJob(t.order.JobId)
}

// reportCopy reports the result of a copy: the new paths, or the error and whether the
// checkpoint is bad. The jobmaster orders the copy again if the report is lost.
func (d *Daemon) reportCopy(o *wire.Order_CopyOutput, last *wire.Report, err error) {
	took := &wire.Report_OutputCopied{Outputs: last.GetFinished().GetOutputs(), Checkpoint: last.GetCheckpointed().GetCheckpoint()}
	if err != nil {
		took.Error, took.BadCheckpoint = err.Error(), o.Checkpoint != nil && isUnusable(err)
	}
	d.send(&wire.Report{Machine: d.cfg.Name, AttemptId: o.AttemptId, Report: &wire.Report_OutputCopied_{OutputCopied: took}})
}

// copy copies all files. After an error it leaves no files. It returns the attempt's final
// report, as if the attempt had run here.
func (t *outputCopy) copy(ctx context.Context) (last *wire.Report, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, removeTree(t.dir))
		}
	}()
	if err := errors.Join(removeTree(t.dir), os.MkdirAll(t.dir, 0o700)); err != nil { // files of an earlier copy may exist
		return nil, err
	}
	fetcher := transfer.NewFetcher(transfer.FetcherConfig{Token: t.order.Token})
	defer fetcher.Close()
	if t.order.Checkpoint != nil {
		last, err = t.copyCheckpoint(ctx, fetcher)
	} else {
		last, err = t.copyOutputs(ctx, fetcher)
	}
	if err != nil {
		return nil, err
	}
	if err := checkRecord(t.dir, last); err != nil {
		return nil, err
	}
	return last, writeRecord(t.dir, last)
}

// copyOutputs copies the segments of a finished attempt.
func (t *outputCopy) copyOutputs(ctx context.Context, f *transfer.Fetcher) (*wire.Report, error) {
	done := proto.CloneOf(t.order.Finished)
	for _, o := range done.Outputs {
		if o.Stored {
			continue
		}
		there := checkpoint.RemoteFiles{Fetcher: f, Address: o.Address, Job: t.order.JobId}
		files := checkpoint.Copier{Source: there, Create: t.create, Retry: t.patience}
		if err := files.CopyOutput(ctx, o, filepath.Join(t.dir, filepath.Base(o.Path))); err != nil {
			return nil, fmt.Errorf("copy of %s from %s: %w", o.Path, o.Address, err)
		}
		o.Address = ""
	}
	return &wire.Report{AttemptId: t.order.AttemptId, Report: &wire.Report_Finished{Finished: done}}, nil
}
