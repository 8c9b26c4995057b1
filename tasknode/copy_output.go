package tasknode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/checkpoint"
	"github.com/hammr/hammr/internal/taskdir"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/shuffle"
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
	patience checkpoint.RetryPolicy // how to retry requests for a checkpoint
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
		d.reportCopy(id, nil, fmt.Errorf("job %s is over, and its local files are being removed", o.JobId))
		return
	case retained:
		d.reportRetained(ctx, o)
		return
	}
	local, release, err := d.cfg.DirChooser.Acquire()
	if err != nil {
		d.reportCopy(id, nil, err)
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
			d.reportCopy(o.AttemptId, last, nil)
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
	d.reportCopy(id, last, err)
	d.releaseJob(t.order.JobId)
}

// reportCopy reports the result of a copy: the new paths, or the error and whether the
// source is bad. The jobmaster orders the copy again if the report is lost.
func (d *Daemon) reportCopy(id string, last *wire.Report, err error) {
	took := &wire.Report_OutputCopied{Outputs: last.GetFinished().GetOutputs(), Checkpoint: last.GetCheckpointed().GetCheckpoint()}
	if err != nil {
		took.Error, took.BadCheckpoint = err.Error(), isUnusable(err)
	}
	d.send(&wire.Report{Machine: d.cfg.Name, AttemptId: id, Report: &wire.Report_OutputCopied_{OutputCopied: took}})
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
func (t *outputCopy) copyOutputs(ctx context.Context, fetcher *transfer.Fetcher) (*wire.Report, error) {
	done := proto.CloneOf(t.order.Finished)
	for _, o := range done.Outputs {
		if o.Stored {
			continue
		}
		if err := t.copyOutput(ctx, fetcher, o); err != nil {
			return nil, fmt.Errorf("copy of %s from %s: %w", o.Path, o.Address, err)
		}
		o.Path, o.Address = filepath.Join(t.dir, filepath.Base(o.Path)), ""
	}
	return &wire.Report{AttemptId: t.order.AttemptId, Report: &wire.Report_Finished{Finished: done}}, nil
}

// copyOutput copies a data file and its index. It verifies the copy, because the original or
// the transfer may be damaged.
func (t *outputCopy) copyOutput(ctx context.Context, f *transfer.Fetcher, o *taskproc.MapOutput) error {
	for _, path := range []string{o.Path, shuffle.IndexPath(o.Path)} {
		if err := t.copyFile(ctx, f, o.Address, path); err != nil {
			return err
		}
	}
	local := filepath.Join(t.dir, filepath.Base(o.Path))
	encoded, err := readBounded(shuffle.IndexPath(local), maxIndex)
	if err != nil {
		return err
	}
	index, err := shuffle.DecodeIndex(encoded)
	if err != nil {
		return err
	}
	data, err := os.Open(local)
	if err != nil {
		return err
	}
	defer data.Close() // the file was only read
	for _, runs := range index.Partitions {
		for _, run := range runs {
			if err := shuffle.VerifyRun(ctx, io.NewSectionReader(data, run.Offset, run.Length), run); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyFile copies one file of the other tasknode into the directory of the copy. The base
// name stays the same.
func (t *outputCopy) copyFile(ctx context.Context, f *transfer.Fetcher, address, path string) error {
	file, err := transfer.FileOf(address, t.order.JobId, path)
	if err != nil {
		return err
	}
	from, err := f.Open(ctx, file, 0, -1)
	if err != nil {
		return err
	}
	defer from.Close() // the file was only read
	to, err := os.OpenFile(filepath.Join(t.dir, filepath.Base(path)), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
