package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/task/sealed"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage"
)

// file is the format of checkpoint files; docs/formats/checkpoint.md has the messages. Another
// version is refused: a task then starts over.
var file = sealed.Format{Name: "checkpoint", Magic: "HAMMRCKP", Version: 3, Max: maxLength}

const maxLength = 1 << 30 // bytes

// Encode returns a checkpoint file with the body. Equal bodies give equal bytes.
func Encode(body *taskproc.CheckpointBody) ([]byte, error) { return file.Encode(body) }

// Write writes a checkpoint file with the body.
func Write(create func(path string) (storage.Writer, error), path string, body *taskproc.CheckpointBody) (FileRef, error) {
	encoded, err := Encode(body)
	if err != nil {
		return FileRef{}, err
	}
	w, err := create(path)
	if err != nil {
		return FileRef{}, err
	}
	_, err = w.Write(encoded)
	return FileRef{Path: path, Bytes: int64(len(encoded)), Checksum: xxhash.Sum64(encoded)}, storage.Finish(w, err)
}

// Decode verifies and decodes a checkpoint file. For an invalid file the error wraps
// storage.ErrCorrupt. A file of another version is intact, so its error does not.
func Decode(b []byte) (*taskproc.CheckpointBody, error) {
	body := new(taskproc.CheckpointBody)
	if err := file.Decode(b, body); err != nil {
		return nil, err
	}
	return body, nil
}

// FileRef identifies a checkpoint file by its length and checksum when it was written. The
// master has the record, so a reader notices a file that was replaced or truncated.
type FileRef struct {
	Path     string
	Bytes    int64  // length of the file
	Checksum uint64 // xxhash64 over the file
}

// Read reads and verifies a checkpoint file. Every error is a *SourceError, except the end of
// ctx: that says nothing about the file.
func (r FileRef) Read(ctx context.Context, from Source, retry RetryPolicy) (*taskproc.CheckpointBody, error) {
	if r.Bytes < 0 || r.Bytes > maxLength {
		return nil, &SourceError{fmt.Errorf("%w: invalid recorded length %d", storage.ErrCorrupt, r.Bytes)}
	}
	var b []byte
	err := retry.Do(ctx, func() error {
		f, err := from.Open(ctx, r.Path, 0, -1)
		if err != nil {
			return err
		}
		b, err = io.ReadAll(io.LimitReader(f, r.Bytes+1))
		if err = errors.Join(err, f.Close()); err == nil && (int64(len(b)) != r.Bytes || xxhash.Sum64(b) != r.Checksum) {
			err = fmt.Errorf("%w: %d bytes do not match the recorded length and checksum", storage.ErrCorrupt, len(b))
		}
		return err
	})
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, err
	case err != nil:
		return nil, &SourceError{err}
	}
	body, err := Decode(b)
	if err != nil {
		return nil, &SourceError{err}
	}
	return body, nil
}

// MergeInputs encodes sorted runs, and the position up to which each has been read.
func MergeInputs(state []shuffle.MergeInputState) (messages []*taskproc.MergeInput) {
	for _, s := range state {
		messages = append(messages, mergeInput(s))
	}
	return messages
}

// mergeInput encodes one run, with its rank, so that equal keys keep their order.
func mergeInput(s shuffle.MergeInputState) *taskproc.MergeInput {
	return &taskproc.MergeInput{
		Path: s.Path, Offset: s.Run.Offset, Length: s.Run.Length, RawLength: s.Run.RawLength,
		Records: s.Run.Records, Checksum: s.Run.Checksum, Tagged: s.Run.Tagged,
		BlockOffset: s.From.BlockOffset, BlockRecord: s.From.Record,
		Input: s.Ordinal.Input, Start: taskproc.FromPosition(s.Ordinal.Start), Sequence: s.Sequence,
	}
}

// MergeStates decodes the sorted runs of a checkpoint.
func MergeStates(inputs []*taskproc.MergeInput) []shuffle.MergeInputState {
	var state []shuffle.MergeInputState
	for _, m := range inputs {
		state = append(state, shuffle.MergeInputState{
			Path: m.Path, Sequence: m.Sequence,
			Ordinal: shuffle.Ordinal{Input: m.Input, Start: taskproc.ToPosition(m.Start)},
			Run: shuffle.Run{
				Offset: m.Offset, Length: m.Length, RawLength: m.RawLength,
				Records: m.Records, Checksum: m.Checksum, Tagged: m.Tagged,
			},
			From: shuffle.RunPosition{BlockOffset: m.BlockOffset, Record: m.BlockRecord},
		})
	}
	return state
}
