package jobmaster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/storage"
)

// The staging file of a job's splits holds one taskproc.Split after another,
// each framed as on a task's connection. The job names it by path and by the
// xxhash64 over its bytes.

// EncodeSplits is the content of a staging file and its hash.
func EncodeSplits(splits []*taskproc.Split) (data []byte, hash uint64, err error) {
	var b bytes.Buffer
	for i, s := range splits {
		if err := taskproc.WriteMessage(&b, s); err != nil {
			return nil, 0, fmt.Errorf("split %d: %w", i, err)
		}
	}
	return b.Bytes(), xxhash.Sum64(b.Bytes()), nil
}

// DecodeSplits reads a staging file. One that does not have the hash, or that
// ends inside a split, is an error that wraps storage.ErrCorrupt.
func DecodeSplits(r io.Reader, hash uint64) ([]*taskproc.Split, error) {
	sum := xxhash.New()
	in := bufio.NewReader(io.TeeReader(r, sum))
	var splits []*taskproc.Split
	for {
		s := new(taskproc.Split)
		err := taskproc.ReadMessage(in, s)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("split %d: %w", len(splits), errors.Join(storage.ErrCorrupt, err))
		}
		splits = append(splits, s)
	}
	if got := sum.Sum64(); got != hash {
		return nil, fmt.Errorf("%w: hash %x where %x is recorded", storage.ErrCorrupt, got, hash)
	}
	return splits, nil
}

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
	splits, err := DecodeSplits(f, hash)
	if err != nil {
		return nil, fmt.Errorf("staging file %s: %w", name, err)
	}
	return splits, nil
}
