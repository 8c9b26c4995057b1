package histindex

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/storage"
)

// cache keeps the histories that were read last. Its lock is held while a history is read, so that one
// is read at a time: each may have 100,000 tasks.
type cache struct {
	sync.Mutex
	kept []*history.Job // the latest first
}

// Job returns the history of a job. The caller must not change it: others get the same. The error
// wraps cluster.ErrUnknown if there is no history, and storage.ErrCorrupt if it is damaged.
func (x *Index) Job(ctx context.Context, id string) (*history.Job, error) {
	if _, err := cluster.ParseJobID(id); err != nil {
		return nil, fmt.Errorf("%w: %w", cluster.ErrUnknown, err)
	}
	x.histories.Lock()
	defer x.histories.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err // the caller has waited too long for the lock
	}
	kept := x.histories.kept
	if i := slices.IndexFunc(kept, func(j *history.Job) bool { return j.Status.JobId == id }); i >= 0 {
		j := kept[i]
		x.histories.kept = slices.Insert(slices.Delete(kept, i, i+1), 0, j)
		return j, nil
	}
	j, err := x.readJob(ctx, id)
	if err != nil {
		return nil, err
	}
	x.histories.keep(j, x.cfg.CachedTasks)
	return j, nil
}

// keep adds a history, and drops the oldest ones.
func (c *cache) keep(j *history.Job, tasks int) {
	c.kept = slices.Insert(c.kept, 0, j)
	left := tasks - len(j.Status.Tasks)
	for i, other := range c.kept[1:] {
		if left -= len(other.Status.Tasks) + 1; left < 0 {
			clear(c.kept[i+1:])
			c.kept = c.kept[:i+1]
			return
		}
	}
}

// readJob reads the history of a job.
func (x *Index) readJob(ctx context.Context, id string) (*history.Job, error) {
	if x.cfg.Dir == "" {
		return nil, fmt.Errorf("%w: %s: %w", cluster.ErrUnknown, id, errNoDirectory)
	}
	fsys, root, err := x.cfg.Resolve(ctx, x.cfg.Dir)
	if err != nil {
		return nil, err
	}
	dirs, err := x.dirsOf(ctx, fsys, root, id)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		file := path.Join(dir, id+history.CompressedSuffix)
		f, err := fsys.Open(ctx, file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		j, err := history.Decode(f)
		_ = f.Close() // it was only read
		if err != nil {
			return nil, fmt.Errorf("history %s: %w", file, err)
		}
		return j, nil
	}
	return nil, fmt.Errorf("%w: %s has no history in %s: it is not over, or its history was removed after the retention time", cluster.ErrUnknown, id, x.cfg.Dir)
}

// dirsOf returns the directories that may have the history of a job: that of the day of which the
// view knows, else all.
func (x *Index) dirsOf(ctx context.Context, fsys storage.FS, root, id string) ([]string, error) {
	x.mu.Lock()
	known := x.mu.view.Find(id)
	x.mu.Unlock()
	if known != nil {
		return []string{path.Join(root, time.UnixMilli(known.FinishTime).UTC().Format(time.DateOnly)), root}, nil
	}
	entries, err := fsys.List(ctx, root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var dirs []string
	for _, e := range slices.Backward(entries) {
		if e.IsDir && isDay(path.Base(e.Path)) {
			dirs = append(dirs, e.Path)
		}
	}
	return append(dirs, root), nil
}
