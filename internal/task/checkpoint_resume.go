package task

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/task/checkpoint"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage"
)

// unusableCheckpointError reports that the attempt cannot resume from its checkpoint. Its
// task starts over. No failure is counted, because the program is not the cause.
type unusableCheckpointError struct{ Err error }

func (e *unusableCheckpointError) Error() string {
	return fmt.Sprintf("checkpoint unusable: %v", e.Err)
}
func (e *unusableCheckpointError) Unwrap() error { return e.Err }

// resume loads the checkpoint that the attempt resumes from, if there is one.
//
//	resume ─► read the file from an origin ─► fetchCheckpointFiles: check or copy its files
//	             ▲        │ unreadable               │ unusable
//	             └────────┴── next origin ◄──────────┘
//	                          none left: unusableCheckpointError
//
// Fetching is a step of its own, since it may take long and orders must be obeyed meanwhile.
// Counters continue from those of the checkpoint, and so do the numbers of output files.
func (a *Attempt) resume() error {
	if a.Start.Checkpoint == nil {
		return nil
	}
	a.origins = a.checkpointOrigins(a.Start.Checkpoint)
	body, err := a.nextOrigin(nil)
	if err != nil {
		return err
	}
	for _, n := range body.Nodes {
		a.serial.Add(int64(len(n.Pieces)))
	}
	addCounters(a.Counters, body.Counters)
	return nil
}

// nextOrigin reads the checkpoint from the next place and sets resumed. errs are the errors of
// the places before.
func (a *Attempt) nextOrigin(errs error) (*taskproc.CheckpointBody, error) {
	for len(a.origins) > 0 {
		a.origin, a.origins = a.origins[0], a.origins[1:]
		body, err := a.readCheckpoint(a.origin)
		if err == nil {
			a.resumed = body
			return body, nil
		}
		errs = errors.Join(errs, fmt.Errorf("checkpoint %s: %w", a.origin.Path, err))
		if a.ctx.Err() != nil {
			return nil, errs // the attempt ends; the checkpoint may be good
		}
	}
	if errs == nil {
		errs = errors.New("the machine that has it is lost")
	}
	return nil, &unusableCheckpointError{errs}
}

// readCheckpoint reads the checkpoint from one place. It must be one of this task.
func (a *Attempt) readCheckpoint(o origin) (*taskproc.CheckpointBody, error) {
	files, done := a.open(o)
	defer done()
	body, err := o.Read(a.ctx, files, a.checkpointRetry())
	if err != nil {
		return nil, err
	}
	if body.JobId != a.Start.JobId || body.Task != a.Start.Task || body.Kind != a.Start.Kind {
		return nil, fmt.Errorf("checkpoint of %s task %d of job %s, not of this task", body.Kind, body.Task, body.JobId)
	}
	return body, nil
}

// fetchCheckpointFiles copies the files that the checkpoint names to this machine. If
// they are on this machine, it only checks them.
func (a *Attempt) fetchCheckpointFiles() error {
	for a.resumed != nil {
		var err error
		if a.origin.isHere() {
			err = a.checkFiles(a.resumed)
		} else {
			err = a.fetchFiles()
		}
		if err == nil || !checkpoint.IsUnusable(err) {
			return err
		}
		if _, err := a.nextOrigin(fmt.Errorf("checkpoint %s: %w", a.origin.Path, err)); err != nil {
			return err
		}
	}
	return nil
}

// fetchFiles copies the files into the attempt's directory.
func (a *Attempt) fetchFiles() error {
	files, done := a.open(a.origin)
	defer done()
	body, err := a.copyInto(a.Local, a.LocalFile("resumed"), files).Copy(a.ctx, a.resumed)
	if err == nil {
		a.resumed = body
	}
	return err
}

// checkFiles checks that all files exist and are long enough. Their content is verified
// when it is read.
func (a *Attempt) checkFiles(body *taskproc.CheckpointBody) error {
	for _, n := range body.Nodes {
		if err := a.checkFilesOf(n); err != nil {
			return &checkpoint.SourceError{Err: err}
		}
	}
	return nil
}

// checkFilesOf checks the files of one Node.
func (a *Attempt) checkFilesOf(n *taskproc.NodeState) error {
	for _, m := range n.Merge {
		if err := a.checkFile(m.Path, m.Offset+m.Length); err != nil {
			return err
		}
	}
	for _, o := range n.Published {
		if o.Stored {
			continue // it is with the job's output
		}
		x, err := a.readIndex(o)
		if err != nil {
			return err
		}
		if err := a.checkFile(o.Path, x.DataLength); err != nil {
			return err
		}
	}
	return nil
}

// checkFile checks that a file has at least size bytes.
func (a *Attempt) checkFile(path string, size int64) error {
	info, err := a.Local.Stat(a.ctx, path)
	if err == nil && info.Size < size {
		err = fmt.Errorf("%w: %s has %d bytes of at least %d", storage.ErrCorrupt, path, info.Size, size)
	}
	return err
}

// readIndex reads the index of an output on this machine.
func (a *Attempt) readIndex(o *taskproc.MapOutput) (*shuffle.Index, error) {
	return shuffle.ReadReportedIndex(a.ctx, a.Local, o.Path, o.IndexChecksum)
}

// blameCheckpoint turns an error about a file that the checkpoint names into one about
// the checkpoint.
func (n *NodeRun) blameCheckpoint(err error) error {
	read, ok := errors.AsType[*shuffle.ReadError](err)
	if ok && slices.ContainsFunc(n.resumed.GetMerge(), func(m *taskproc.MergeInput) bool { return m.Path == read.Path }) {
		return &unusableCheckpointError{err}
	}
	return err
}
