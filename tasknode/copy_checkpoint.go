package tasknode

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/task/checkpoint"
	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
)

// copyRetry says how to retry requests to a tasknode that has the files and does not
// answer. The time is short, since the master orders a failed copy again.
var copyRetry = checkpoint.RetryPolicy{Timeout: 5 * time.Second, MaxDelay: time.Second}

// isUnusable reports whether a copy failed because of its source, so that another try would
// fail too.
func isUnusable(err error) bool {
	_, later := transfer.RetryLater(err)
	return checkpoint.IsUnusable(err) && !later && !errors.Is(err, context.Canceled)
}

// copyCheckpoint copies a checkpoint, and the files that it names as far as they are still needed.
//
// A checkpoint names files of its attempt, such as fetched segments. These are copied too.
func (t *outputCopy) copyCheckpoint(ctx context.Context, f *transfer.Fetcher) (*wire.Report, error) {
	here := proto.CloneOf(t.order.Checkpoint)
	here.MachineLost, here.Copy = false, nil
	there := checkpoint.RemoteFiles{Fetcher: f, Address: here.Address, Job: t.order.JobId}
	body, err := checkpoint.FileRef{Path: here.Path, Bytes: here.Bytes, Checksum: here.Checksum}.Read(ctx, there, t.patience)
	if err != nil {
		return nil, fmt.Errorf("checkpoint %s on %s: %w", here.Path, here.Address, err)
	}
	files := checkpoint.Copier{Source: there, Dir: filepath.Join(t.dir, "moved"), Create: t.create, Retry: t.patience}
	copied, err := files.CopyCheckpoint(ctx, body, filepath.Join(t.dir, "checkpoint"))
	if err != nil {
		return nil, fmt.Errorf("copy of checkpoint %s on %s: %w", here.Path, here.Address, err)
	}
	here.Path, here.Address, here.Bytes, here.Checksum = copied.Path, "", copied.Bytes, copied.Checksum
	return &wire.Report{AttemptId: t.order.AttemptId, Report: &wire.Report_Checkpointed{Checkpointed: &taskproc.Checkpointed{Checkpoint: here}}}, nil
}

// createHere returns a function that creates files on the local disk.
func createHere(ctx context.Context) func(path string) (storage.Writer, error) {
	disk := local.New(local.Options{})
	return func(path string) (storage.Writer, error) {
		if err := failpoint.Disk(ctx, "create", path); err != nil {
			return nil, err
		}
		return disk.Create(ctx, path, storage.CreateOptions{})
	}
}
