package seqfile

import (
	"math"

	"github.com/hammr/hammr/internal/format/writable"
)

// block is the records that wait to be compressed together.
type block struct {
	count                                  int
	keyLengths, keys, valueLengths, values []byte
}

func (w *Writer) writeToBlock(key, value []byte) error {
	b := &w.block
	if int64(len(b.keys)+len(b.values)+len(key)+len(value)) > math.MaxInt32 {
		if err := w.writeBlock(); err != nil {
			return err
		}
	}
	b.count++
	b.keyLengths = writable.AppendVLong(b.keyLengths, int64(len(key)))
	b.keys = append(b.keys, key...)
	b.valueLengths = writable.AppendVLong(b.valueLengths, int64(len(value)))
	b.values = append(b.values, value...)
	if len(b.keys)+len(b.values) < w.o.BlockSize {
		return nil
	}
	return w.writeBlock()
}

func (w *Writer) writeBlock() error {
	b := &w.block
	if b.count == 0 {
		return nil
	}
	if err := w.mark(); err != nil {
		return err
	}
	if err := w.put(writable.AppendVLong(nil, int64(b.count))); err != nil {
		return err
	}
	for _, part := range [][]byte{b.keyLengths, b.keys, b.valueLengths, b.values} {
		if err := w.writePart(part); err != nil {
			return err
		}
	}
	b.count = 0
	b.keyLengths, b.keys = b.keyLengths[:0], b.keys[:0]
	b.valueLengths, b.values = b.valueLengths[:0], b.values[:0]
	return nil
}

func (w *Writer) writePart(data []byte) error {
	packed, err := w.codec(w.packed[:0], data)
	if err != nil {
		return err
	}
	w.packed = packed
	return w.put(writable.AppendVLong(nil, int64(len(packed))), packed)
}
