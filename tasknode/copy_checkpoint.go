package tasknode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cespare/xxhash/v2"
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

// copyCheckpoint copies the files that a checkpoint names, as far as they are still needed.
// It writes a checkpoint that names the copies.
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
	if body, err = files.Copy(ctx, body); err != nil {
		return nil, fmt.Errorf("files of checkpoint %s on %s: %w", here.Path, here.Address, err)
	}
	encoded, err := checkpoint.Encode(body)
	if err != nil {
		return nil, err
	}
	here.Path, here.Address = filepath.Join(t.dir, "checkpoint"), ""
	here.Bytes, here.Checksum = int64(len(encoded)), xxhash.Sum64(encoded)
	if err := failpoint.Disk(ctx, "write", here.Path); err != nil {
		return nil, err
	}
	if err := os.WriteFile(here.Path, encoded, 0o600); err != nil {
		return nil, err
	}
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
