package task

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/task/checkpoint"
	"github.com/hammr/hammr/storage"
)

// origin is a place that has a checkpoint with its files: this machine, another one, or
// the file system of the job's output.
type origin struct {
	checkpoint.FileRef
	address string // address of another machine's shuffle server; "": the files are here or copied
	copied  bool   // whether Path is a full name in the file system of the job's output
}

// isHere reports whether the files are on this machine's disks.
func (o origin) isHere() bool { return o.address == "" && !o.copied }

// checkpointOrigins returns the places that have a checkpoint, in the order to try them: the
// machine that wrote it, unless it is lost, and then the copy, which is slower to read.
//
// A tasknode that runs as root makes files for itself when it copies a checkpoint off a drained
// machine. The attempt of another user gets them from its server.
func (a *Attempt) checkpointOrigins(c *taskproc.Checkpoint) (places []origin) {
	if !c.MachineLost {
		address := c.Address
		if address == "" && a.isForbidden(c.Path) {
			address = a.Start.ShuffleAddress
		}
		places = append(places, origin{checkpoint.FileRef{Path: c.Path, Bytes: c.Bytes, Checksum: c.Checksum}, address, false})
	}
	if c.Copy != nil {
		places = append(places, origin{checkpoint.FileRef{Path: c.Copy.Path, Bytes: c.Copy.Bytes, Checksum: c.Copy.Checksum}, "", true})
	}
	return places
}

// isForbidden reports whether a file of this machine is there, and this user may not read it.
func (a *Attempt) isForbidden(path string) bool {
	f, err := a.Local.Open(a.ctx, path)
	if err == nil {
		err = f.Close()
	}
	return errors.Is(err, fs.ErrPermission)
}

// open opens the files of a place, until done is called.
func (a *Attempt) open(o origin) (files checkpoint.Source, done func()) {
	switch {
	case o.copied:
		return storageFiles{a}, func() {}
	case o.address == "":
		return checkpoint.FSFiles{FS: a.Local}, func() {}
	}
	f := a.newFetcher(nil, a.checkpointRetry().Timeout)
	return checkpoint.RemoteFiles{Fetcher: f, Address: o.address, Job: a.Start.JobId}, f.Close
}

// storageFiles opens files by their full names.
type storageFiles struct{ attempt *Attempt }

// Open implements checkpoint.Source.
func (s storageFiles) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	fsys, path, err := s.attempt.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	return checkpoint.FSFiles{FS: fsys}.Open(ctx, path, offset, length)
}

// copyInto copies the files that a checkpoint names into a directory.
func (a *Attempt) copyInto(fsys storage.FS, dir string, from checkpoint.Source) *checkpoint.Copier {
	return &checkpoint.Copier{
		Source: from, Dir: dir, Retry: a.checkpointRetry(),
		Create: func(path string) (storage.Writer, error) { return a.create(fsys, path) },
	}
}

// checkpointRetry returns the time limit for a place that does not answer. The time is short
// if another place has the same checkpoint: the master notices a lost machine only later.
func (a *Attempt) checkpointRetry() checkpoint.RetryPolicy {
	p := checkpoint.RetryPolicy{Timeout: a.Conf.Duration(conf.ShuffleFetchTimeout), MaxDelay: a.Conf.Duration(conf.ShuffleRetryDelayMax)}
	if len(a.origins) > 0 {
		p.Timeout = min(p.Timeout, timeoutWithCopy)
	}
	return p
}

// timeoutWithCopy is how long a checkpoint's machine is tried if there is a copy
// elsewhere.
const timeoutWithCopy = 500 * time.Millisecond

// copyToOutput is the value of hammr.preempt.checkpoint.copies that makes a copy of
// each checkpoint.
const copyToOutput = "output"

// copyCheckpoint copies a checkpoint, and the files that it names, to where the job's
// output is staged. It returns nil if copies are not enabled or the copy fails: the
// checkpoint on the local disk is complete without it.
func (g *groupRun) copyCheckpoint(body *taskproc.CheckpointBody) *taskproc.Checkpoint_Copy {
	if g.Attempt.Conf.String(conf.CheckpointCopies) != copyToOutput || g.Attempt.Start.OutputDir == "" {
		return nil
	}
	g.nodes[0].enterPhase("copy")
	copied, err := g.Attempt.copyTo(body, g.Attempt.Start.OutputDir)
	if err != nil {
		g.Attempt.Logger().Warn("cannot copy checkpoint", "error", err)
		return nil
	}
	return copied
}

// copyTo copies the checkpoint with this body into the directory checkpoints/ATTEMPT of an
// output directory, and describes the copy for the master.
func (a *Attempt) copyTo(body *taskproc.CheckpointBody, outputDir string) (*taskproc.Checkpoint_Copy, error) {
	fsys, dir, err := a.Resolve(a.ctx, outputDir)
	if err != nil {
		return nil, err
	}
	dir += "/checkpoints/" + a.Start.AttemptId
	c := a.copyInto(fsys, dir, checkpoint.FSFiles{FS: a.Local})
	c.FullName = func(path string) string { return storage.Name(fsys, path) }
	copied, err := c.CopyCheckpoint(a.ctx, body, dir+"/checkpoint")
	if err != nil {
		return nil, err
	}
	return &taskproc.Checkpoint_Copy{Path: copied.Path, Bytes: copied.Bytes, Checksum: copied.Checksum}, nil
}
