package tasknode

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/task/checkpoint"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
)

var disk = local.New(local.Options{})

// checkpointIn makes a checkpoint in the directory of an attempt. The checkpoint names
// map.out there as the output of its task, and a run in it that is to be merged.
func checkpointIn(t *testing.T, dir string) *taskproc.Checkpoint {
	t.Helper()
	path := filepath.Join(dir, "map.out")
	b, err := shuffle.NewSortBuffer(t.Context(), shuffle.Options{FS: disk, Path: path, Partitions: 1, Memory: 64 << 10, MaxRuns: 1})
	must.Do(t, err)
	for i := range 5000 {
		b.Emit(fmt.Appendf(nil, "key %d", i), []byte("value"))
	}
	index, err := b.Finish(t.Context())
	must.Do(t, err)
	output := &taskproc.MapOutput{Attempt: attemptID, Path: path, IndexChecksum: index.Checksum}
	run := index.Partitions[0][0]
	body := &taskproc.CheckpointBody{JobId: "job_1_0001", Task: 3, Nodes: []*taskproc.NodeState{{
		Stage: 1, UserState: []byte("state"),
		Published: []*taskproc.MapOutput{output, {Edge: 1, Stored: true, Path: "mem:///out"}},
		Merge:     checkpoint.MergeInputs([]shuffle.MergeInputState{{Path: path, Run: run}}),
	}}}
	encoded, err := checkpoint.Encode(body)
	must.Do(t, err)
	c := &taskproc.Checkpoint{Path: filepath.Join(dir, "checkpoint"), Bytes: int64(len(encoded)), Checksum: xxhash.Sum64(encoded), Attempt: attemptID, JobId: "job_1_0001", Task: 3}
	must.Do(t, os.WriteFile(c.Path, encoded, 0o600))
	return c
}

// TestCopyCheckpoint checks that either the checkpoint is copied with its files, as if its
// attempt had run here, or nothing is. It also checks that an unusable checkpoint is
// reported as unusable.
func TestCopyCheckpoint(t *testing.T) {
	const key = "secret"
	for name, tt := range map[string]struct {
		spoil func(dir string, o *wire.Order_CopyOutput) error // before it is copied
		full  bool                                             // the disk here
		fails bool
		noUse bool
	}{
		"intact":              {},
		"no checkpoint":       {spoil: func(dir string, _ *wire.Order_CopyOutput) error { return os.Remove(dir + "/checkpoint") }, fails: true, noUse: true},
		"truncated":           {spoil: func(dir string, _ *wire.Order_CopyOutput) error { return os.Truncate(dir+"/checkpoint", 30) }, fails: true, noUse: true},
		"other checksum":      {spoil: func(_ string, o *wire.Order_CopyOutput) error { o.Checkpoint.Checksum++; return nil }, fails: true, noUse: true},
		"no data":             {spoil: func(dir string, _ *wire.Order_CopyOutput) error { return os.Remove(dir + "/map.out") }, fails: true, noUse: true},
		"data truncated":      {spoil: func(dir string, _ *wire.Order_CopyOutput) error { return os.Truncate(dir+"/map.out", 3) }, fails: true},
		"data flipped":        {spoil: func(dir string, _ *wire.Order_CopyOutput) error { return flip(dir + "/map.out") }, fails: true, noUse: true},
		"no index":            {spoil: func(dir string, _ *wire.Order_CopyOutput) error { return os.Remove(dir + "/map.out.index") }, fails: true, noUse: true},
		"disk is full":        {full: true, fails: true},
		"no tasknode answers": {spoil: func(_ string, o *wire.Order_CopyOutput) error { o.Checkpoint.Address = "127.0.0.1:0"; return nil }, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			there, here := t.TempDir(), filepath.Join(t.TempDir(), "job_1_0001", taskdir.InJob(attemptID))
			dir := filepath.Join(there, "job_1_0001", taskdir.InJob(attemptID))
			must.Do(t, os.MkdirAll(dir, 0o700))
			served, err := transfer.NewServer(transfer.ServerConfig{Dirs: []string{there}, Key: key})
			must.Do(t, err)
			server := httptest.NewServer(served)
			defer server.Close()
			order := &wire.Order_CopyOutput{AttemptId: attemptID, JobId: "job_1_0001", Token: transfer.JobToken(key, "job_1_0001"), Checkpoint: checkpointIn(t, dir)}
			order.Checkpoint.Address = server.Listener.Addr().String()
			if tt.spoil != nil {
				must.Do(t, tt.spoil(dir, order))
			}
			c := outputCopy{order: order, dir: here, create: createHere(t.Context())}
			if tt.full {
				c.create = func(string) (storage.Writer, error) { return nil, syscall.ENOSPC }
			}
			_, err = c.copy(t.Context())
			if tt.fails {
				if _, left := os.Stat(here); err == nil || isUnusable(err) != tt.noUse || !errors.Is(left, os.ErrNotExist) {
					t.Errorf("copy error %v, unusable: %v; directory left: %v", err, isUnusable(err), left)
				}
				return
			}
			must.Do(t, err)
			last, err := readRecord(here + recordSuffix)
			must.Do(t, err)
			moved := last.GetCheckpointed().GetCheckpoint()
			wantCopied(t, moved, here)
			if moved.Address != "" || order.Checkpoint.Address == "" || moved.Task != 3 {
				t.Errorf("reported checkpoint %v, original %v", moved, order.Checkpoint)
			}
		})
	}
}

// wantCopied checks that a checkpoint is complete after all other files are gone, and that
// it names files of one directory.
func wantCopied(t *testing.T, c *taskproc.Checkpoint, dir string) {
	t.Helper()
	from := checkpoint.FSFiles{FS: disk}
	body, err := checkpoint.FileRef{Path: c.Path, Bytes: c.Bytes, Checksum: c.Checksum}.Read(t.Context(), from, checkpoint.RetryPolicy{})
	must.Do(t, err)
	n := body.Nodes[0]
	if string(n.UserState) != "state" || n.Published[1].Path != "mem:///out" {
		t.Errorf("checkpoint body %v", body)
	}
	for _, path := range []string{n.Merge[0].Path, n.Published[0].Path, c.Path} {
		if !strings.HasPrefix(path, dir+"/") {
			t.Errorf("%s is named, not in %s", path, dir)
		}
	}
	again := checkpoint.Copier{Source: from, Dir: t.TempDir(), Create: createHere(t.Context())}
	if _, err := again.Copy(t.Context(), body); err != nil {
		t.Errorf("files of the checkpoint: %v", err)
	}
}

func flip(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	b[len(b)/2] ^= 4
	return os.WriteFile(path, b, 0o600)
}

// TestDropCopy removes a copy, also after a restart, and leaves the job.
func TestDropCopy(t *testing.T) {
	dropCopy := func(attempt string) *wire.Order {
		return &wire.Order{Order: &wire.Order_DropCopy_{DropCopy: &wire.Order_DropCopy{JobId: "job_1_0001", AttemptId: attempt}}}
	}
	restarts(t, func(b *rig, _ *wire.Report_Joined) {
		b.finishMap()
		b.orders.Put(dropCopy("another"))
		synctest.Wait()
		if got := b.files(); len(got) == 0 {
			t.Error("the job directory is gone")
		}
		b.orders.Put(dropCopy(attemptID))
		synctest.Wait()
		if got := b.files(); !slices.Equal(got, []string{"job_1_0001", "job_1_0001/m_000000"}) {
			t.Errorf("files left: %v", got)
		}
	}, func(_ *rig, joined *wire.Report_Joined) {
		if len(joined.Retained) != 0 {
			t.Errorf("joined with %v", joined)
		}
	})
}
