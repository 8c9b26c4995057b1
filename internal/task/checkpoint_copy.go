package task

import (
	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/internal/checkpoint"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/storage"
)

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

func (a *Attempt) copyTo(body *taskproc.CheckpointBody, outputDir string) (*taskproc.Checkpoint_Copy, error) {
	fsys, dir, err := a.Resolve(a.ctx, outputDir)
	if err != nil {
		return nil, err
	}
	dir += "/checkpoints/" + a.Start.AttemptId
	c := a.copyInto(fsys, dir, checkpoint.FSFiles{FS: a.Local})
	c.FullName = func(path string) string { return storage.Name(fsys, path) }
	if body, err = c.Copy(a.ctx, body); err != nil {
		return nil, err
	}
	encoded, err := checkpoint.Encode(body)
	if err != nil {
		return nil, err
	}
	w, err := a.create(fsys, dir+"/checkpoint")
	if err != nil {
		return nil, err
	}
	if err := writeAll(w, encoded); err != nil {
		return nil, err
	}
	return &taskproc.Checkpoint_Copy{
		Path: storage.Name(fsys, dir+"/checkpoint"), Bytes: int64(len(encoded)), Checksum: xxhash.Sum64(encoded),
	}, nil
}
