package localcluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hammr/hammr/internal/kit/owndir"
	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/kit/syncutil"
)

// Down ends the cluster of a directory: the processes of cluster.json whose ids have not
// been reused, and whose directories are those of daemons in this directory. Tasknodes end first, so that they can end their tasks. The directory stays,
// and Up starts the cluster again. running reports whether a cluster ran. Down also works
// after a crash of the process that called Up, because it reads the processes from a file.
func Down(ctx context.Context, dir string) (running bool, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return false, err
	}
	if _, err := os.Stat(filepath.Join(dir, layoutFile)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err := owndir.Check(dir); err != nil {
		return false, err
	}
	unlock, err := lock(ctx, dir)
	if err != nil {
		return false, err
	}
	defer unlock()
	state, err := readRunning(dir)
	if err != nil {
		return false, err
	}
	tasknodes, masters := state.processes()
	if len(tasknodes)+len(masters) == 0 {
		return false, nil
	}
	for _, group := range []map[string]Process{tasknodes, masters} {
		all := slices.Collect(maps.Values(group)) // at once: a daemon may take seconds to end its tasks
		if err := syncutil.Each(all, 0, func(p Process) error { return p.end(ctx) }); err != nil {
			return true, err
		}
	}
	return true, errors.Join(removeIfThere(filepath.Join(dir, startingFile)), removeIfThere(filepath.Join(dir, StateFile)))
}

// lock takes the lock of an existing directory, and waits while another process has it.
func lock(ctx context.Context, dir string) (unlock func(), err error) {
	unlock, err = procfs.Lock(ctx, filepath.Join(dir, lockFile))
	switch {
	case err == nil:
		return unlock, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("lock of the cluster's directory, which another hammr up or down has: %w", err)
	}
	return nil, fmt.Errorf("lock of the cluster's directory: %w", err)
}

// removeIfThere removes a file and ignores one that is missing.
func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cluster's directory: %w", err)
	}
	return nil
}
