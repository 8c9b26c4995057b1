package seqfile

import (
	"errors"
	"math"

	"github.com/hammr/hammr/internal/format/writable"
)

// blocks is a body of compressed blocks.
//
//	ffffffff sync[16] count
//	size keyLengths  size keys  size valueLengths  size values
//
// count, the sizes (of the compressed parts) and the lengths are vints.
type blocks struct {
	src   *source
	sync  [syncSize]byte
	codec *decoder
	limit int // bytes in a record

	at    int64 // where the block's mark begins
	left  int   // records of the block behind the current one
	fresh bool  // the block's parts are still to be read

	keyLengths, keys, valueLengths, values part
	k, v                                   []byte
}

// part is one decompressed part of a block and how much of it is used.
type part struct {
	data []byte
	used int
}

func (b *blocks) boundary() (mark int64, fresh, ok bool, err error) {
	if b.left > 0 {
		return 0, false, true, nil
	}
	for b.left == 0 {
		if b.at = b.src.pos; b.at == b.src.size {
			return 0, false, false, nil
		}
		if err := b.readCount(); err != nil {
			return 0, false, false, err
		}
		if b.left > 0 {
			break
		}
		if err := b.readParts(0); err != nil {
			return 0, false, false, err
		}
	}
	b.fresh = true
	return b.at, true, true, nil
}

func (b *blocks) readCount() error {
	escape, err := b.src.word()
	if err != nil {
		return err
	}
	if escape != syncEscape {
		return b.src.corruptAt(b.at, "no sync mark where a block begins")
	}
	if err = checkSync(b.src, b.sync); err != nil {
		return err
	}
	b.left, err = b.src.vint()
	return err
}

func (b *blocks) read() error {
	if b.fresh {
		if err := b.readParts(b.left); err != nil {
			return err
		}
		b.fresh = false
	}
	b.left--
	// readParts has checked that the lengths add up.
	b.k = b.keys.next(b.keyLengths.length())
	b.v = b.values.next(b.valueLengths.length())
	if size := len(b.k) + len(b.v); size > b.limit {
		return tooLong(b.src, b.at, int64(size), b.limit)
	}
	return nil
}

// readParts reads the four parts of a block of count records.
func (b *blocks) readParts(count int) error {
	if err := b.readPair(&b.keyLengths, &b.keys, count); err != nil {
		return err
	}
	return b.readPair(&b.valueLengths, &b.values, count)
}

// readPair reads the lengths and the data they describe. Afterwards the
// lengths are whole and add up to the data.
func (b *blocks) readPair(lengths, data *part, count int) error {
	const maxVInt = 5
	if err := b.readPart(lengths, int64(count)*maxVInt); err != nil {
		return err
	}
	total, err := sum(lengths.data, count)
	if err != nil {
		return b.src.corruptAt(b.at, "lengths of a block: %v", err)
	}
	if total > math.MaxInt32 {
		return b.src.corruptAt(b.at, "block of %d bytes", total)
	}
	if err := b.readPart(data, total); err != nil {
		return err
	}
	if int64(len(data.data)) != total {
		return b.src.corruptAt(b.at, "%d bytes in a block, its lengths add up to %d", len(data.data), total)
	}
	return nil
}

// readPart reads and decompresses a part of at most limit bytes.
func (b *blocks) readPart(p *part, limit int64) error {
	size, err := b.src.vint()
	if err != nil {
		return err
	}
	packed, err := b.src.take(size)
	if err != nil {
		return err
	}
	p.used = 0
	p.data, err = b.codec.decode(p.data[:0], packed, int(limit))
	if err != nil {
		return b.src.corruptAt(b.at, "compressed block: %v", err)
	}
	return nil
}

func (b *blocks) offset() int64 { return b.at }
func (b *blocks) key() []byte   { return b.k }
func (b *blocks) value() []byte { return b.v }

// sum checks that data is count lengths and adds them up.
func sum(data []byte, count int) (total int64, err error) {
	for range count {
		v, n, err := writable.VInt(data)
		if err != nil {
			return 0, err
		}
		if v < 0 {
			return 0, errors.New("negative length")
		}
		total += int64(v)
		data = data[n:]
	}
	if len(data) > 0 {
		return 0, errors.New("more lengths than records")
	}
	return total, nil
}

// length is the next vint of a part that sum has checked.
func (p *part) length() int {
	v, n, _ := writable.VInt(p.data[p.used:])
	p.used += n
	return int(v)
}

func (p *part) next(n int) []byte {
	b := p.data[p.used : p.used+n : p.used+n]
	p.used += n
	return b
}
