package seqfile

import (
	"errors"
	"fmt"

	"github.com/hammr/hammr/internal/data/format/writable"
)

// Checkpoint writes out all complete data. It returns what the Writer of the next piece must
// know: the distance from the last mark, and the records of the incomplete block. The Writer
// must not be used afterwards. The result is never empty.
//
//	vlong   bytes since the last mark, -1 if a mark must come first
//	vlong   records of the block
//	text    key lengths, keys, value lengths, values: a vint length and the bytes, each
func (w *Writer) Checkpoint() (pending []byte, err error) {
	if err := w.start(); err != nil {
		return nil, err
	}
	sinceMark := w.pos - w.lastMark
	if w.lastMark < 0 {
		sinceMark = -1
	}
	b := &w.block
	pending = writable.AppendVLong(nil, sinceMark)
	pending = writable.AppendVLong(pending, int64(b.count))
	for _, part := range [][]byte{b.keyLengths, b.keys, b.valueLengths, b.values} {
		pending = writable.Text.Append(pending, part)
	}
	return pending, w.out.Flush()
}

// Resume continues a file that another Writer with the same Options has checkpointed. Call
// it before the first Write. Empty pending bytes mean a new file. The next bytes are written
// as if this Writer had written the whole file, so the joined pieces are one valid file.
func (w *Writer) Resume(pending []byte) error {
	if len(pending) == 0 {
		return nil
	}
	if err := w.restore(pending); err != nil {
		return fmt.Errorf("state of a suspended SequenceFile writer: %w", err)
	}
	w.started = true
	return nil
}

// restore reads the result of Checkpoint. It validates everything, including the lengths of
// the block.
func (w *Writer) restore(pending []byte) error {
	sinceMark, n, err := writable.VLong(pending)
	if err != nil {
		return err
	}
	pending = pending[n:]
	w.pos, w.lastMark = sinceMark, 0
	if sinceMark < 0 {
		w.pos, w.lastMark = 0, -1
	}
	count, n, err := writable.VInt(pending)
	if err != nil {
		return err
	}
	if count < 0 {
		return fmt.Errorf("%d records", count)
	}
	pending = pending[n:]
	b := &w.block
	b.count = int(count)
	for _, part := range []*[]byte{&b.keyLengths, &b.keys, &b.valueLengths, &b.values} {
		if *part, pending, err = cutText(pending); err != nil {
			return err
		}
	}
	if len(pending) > 0 {
		return errors.New("bytes left over")
	}
	return b.check()
}

// cutText returns a copy of the text at the start of b, and the rest of b.
func cutText(b []byte) (text, rest []byte, err error) {
	length, n, err := writable.VInt(b)
	if err != nil {
		return nil, nil, err
	}
	if length < 0 || int(length) > len(b)-n {
		return nil, nil, fmt.Errorf("part of %d bytes in %d", length, len(b)-n)
	}
	end := n + int(length)
	return append([]byte(nil), b[n:end]...), b[end:], nil
}

// check compares the lengths of a block with its data. A checkpoint comes from a file, which
// may be damaged.
func (b *block) check() error {
	keys, err := sum(b.keyLengths, b.count)
	if err != nil {
		return err
	}
	values, err := sum(b.valueLengths, b.count)
	if err != nil {
		return err
	}
	if keys != int64(len(b.keys)) || values != int64(len(b.values)) {
		return errors.New("lengths of a block that do not add up")
	}
	return nil
}
