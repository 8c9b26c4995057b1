package jobmaster

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/storage"
)

// open opens a file by its full name.
func (m *Master) open(ctx context.Context, name string) (storage.File, error) {
	fsys, path, err := m.cfg.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	return fsys.Open(ctx, path)
}

// loadSplits reads the staging file of a job.
func (m *Master) loadSplits(ctx context.Context, name string, hash uint64) ([]*taskproc.Split, error) {
	f, err := m.open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	splits, err := taskproc.DecodeSplits(f, hash)
	if err != nil {
		return nil, fmt.Errorf("staging file %s: %w", name, err)
	}
	return splits, nil
}
