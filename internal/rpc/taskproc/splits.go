package taskproc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"
)

// The staging file of a job's splits holds one Split after another, each framed
// as on a task's connection. The job names it by path and by the xxhash64 over
// its bytes.

// ErrDamagedSplits marks a staging file that differs from what was written.
var ErrDamagedSplits = errors.New("taskproc: damaged file of splits")

// EncodeSplits returns the content of a staging file and its hash.
func EncodeSplits(splits []*Split) (data []byte, hash uint64, err error) {
	var b bytes.Buffer
	for i, s := range splits {
		if err := WriteMessage(&b, s); err != nil {
			return nil, 0, fmt.Errorf("split %d: %w", i, err)
		}
	}
	return b.Bytes(), xxhash.Sum64(b.Bytes()), nil
}

// DecodeSplits reads a staging file. The error wraps ErrDamagedSplits if the hash
// differs, or if the file ends inside a split.
func DecodeSplits(r io.Reader, hash uint64) ([]*Split, error) {
	sum := xxhash.New()
	in := bufio.NewReader(io.TeeReader(r, sum))
	var splits []*Split
	for {
		s := new(Split)
		err := ReadMessage(in, s)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("split %d: %w", len(splits), errors.Join(ErrDamagedSplits, err))
		}
		splits = append(splits, s)
	}
	if got := sum.Sum64(); got != hash {
		return nil, fmt.Errorf("%w: hash %x, but %x is recorded", ErrDamagedSplits, got, hash)
	}
	return splits, nil
}
