package seqfile

import (
	"errors"
	"fmt"
	"math"

	"github.com/hammr/hammr/internal/data/format/writable"
)

// body is the part of a file behind the header. For each record the Reader calls boundary
// and then, if its range owns the record, read. The Reader must see the mark of a record to
// know whether it owns the record, and must not read a record that it does not own.
// Therefore there are two calls.
type body interface {
	// boundary moves to the next record. If a mark precedes it, fresh is set, and mark is
	// the offset of the last such mark. ok is false at the end of the file.
	boundary() (mark int64, fresh, ok bool, err error)
	// read reads the record behind the boundary.
	read() error
	// offset, key and value describe the record.
	offset() int64
	key() []byte
	value() []byte
}

// records is a body of single records. Values are compressed if a codec is set.
//
//	( ffffffff sync[16] )?  length[4]  keyLength[4]  key  value
//
// length is the sum of the lengths of key and value. For the key "ab" and the value "xyz",
// uncompressed:
//
//	00 00 00 05  00 00 00 02  61 62  78 79 7a
//
// No record has the length ffffffff, so the mark is recognized where a length is expected.
type records struct {
	src   *source
	sync  [syncSize]byte
	codec *decoder // nil for None
	limit int      // bytes in a record

	length   uint32 // length of the record behind the boundary
	at       int64  // offset of this length
	k, v     []byte
	unpacked []byte
}

// boundary implements body. It skips marks until it finds a length.
func (r *records) boundary() (mark int64, fresh, ok bool, err error) {
	for {
		r.at = r.src.pos
		if r.at == r.src.size {
			return 0, false, false, nil
		}
		if r.length, err = r.src.word(); err != nil {
			return 0, false, false, err
		}
		if r.length != syncEscape {
			return mark, fresh, true, nil
		}
		mark, fresh = r.at, true
		if err := checkSync(r.src, r.sync); err != nil {
			return 0, false, false, err
		}
	}
}

// checkSync reads a sync mark and compares it with the header's. A difference means that the
// reader has lost its place, or that two files were joined.
func checkSync(src *source, want [syncSize]byte) error {
	got, err := src.take(syncSize)
	if err == nil && [syncSize]byte(got) != want {
		err = src.corrupt("sync mark differs from the header's")
	}
	return err
}

// read implements body. The lengths are checked against each other, the limit and the file
// before anything is allocated.
func (r *records) read() error {
	keyLength, err := r.src.word()
	if err != nil {
		return err
	}
	if int32(r.length) < 0 || keyLength > r.length {
		return r.src.corruptAt(r.at, "record of %d bytes with a key of %d", int32(r.length), int32(keyLength))
	}
	if int(r.length) > r.limit {
		return tooLong(r.src, r.at, int64(r.length), r.limit)
	}
	both, err := r.src.take(int(r.length))
	if err != nil {
		return err
	}
	r.k, r.v = both[:keyLength], both[keyLength:]
	if r.codec == nil {
		return nil
	}
	return r.unpack()
}

// unpack decompresses the value; keys are never compressed.
func (r *records) unpack() (err error) {
	r.unpacked, err = r.codec.decode(r.unpacked[:0], r.v, r.limit)
	if err == errLong {
		return tooLong(r.src, r.at, int64(len(r.unpacked)), r.limit)
	}
	if err != nil {
		return r.src.corruptAt(r.at, "compressed value: %v", err)
	}
	r.v = r.unpacked
	return nil
}

func (r *records) offset() int64 { return r.at }
func (r *records) key() []byte   { return r.k }
func (r *records) value() []byte { return r.v }

// tooLong returns the error for a record above the limit that the user has set. This error
// is not marked as corrupt data.
func tooLong(src *source, offset, length int64, limit int) error {
	return fmt.Errorf("%s: record of %d bytes or more at offset %d, longer than the limit of %d", src.path, length, offset, limit)
}

// blocks is a body of compressed blocks.
//
//	ffffffff sync[16] count
//	size keyLengths  size keys  size valueLengths  size values
//
// count, the sizes of the compressed parts, and the lengths are vints. Each part is
// compressed alone. A record has no offset of its own in the file, so its Offset is the
// offset of its block.
type blocks struct {
	src   *source
	sync  [syncSize]byte
	codec *decoder
	limit int // bytes in a record

	at    int64 // offset of the block's mark
	left  int   // number of records of the block behind the current record
	fresh bool  // the block's parts are still to be read

	keyLengths, keys, valueLengths, values part
	k, v                                   []byte
}

// part is one decompressed part of a block, with the number of bytes that are used. Its
// buffer serves the same part of the next block.
type part struct {
	data []byte
	used int
}

// boundary implements body. All records of a block have the block's mark as their Position.
// boundary skips empty blocks.
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

// readCount reads the mark and the number of records of a block.
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

// read implements body. For the first record of a block it reads and decompresses the whole
// block.
func (b *blocks) read() error {
	if b.fresh {
		if err := b.readParts(b.left); err != nil {
			return err
		}
		b.fresh = false
	}
	b.left--
	// The lengths add up: readParts has checked them.
	b.k = b.keys.next(b.keyLengths.length())
	b.v = b.values.next(b.valueLengths.length())
	if size := len(b.k) + len(b.v); size > b.limit {
		return tooLong(b.src, b.at, int64(size), b.limit)
	}
	return nil
}

// readParts reads the four parts of a block of count records: the lengths of the keys, the
// keys, the lengths of the values, and the values.
func (b *blocks) readParts(count int) error {
	if err := b.readPair(&b.keyLengths, &b.keys, count); err != nil {
		return err
	}
	return b.readPair(&b.valueLengths, &b.values, count)
}

// readPair reads the lengths and the data that they describe. It checks that the lengths are
// complete and add up to the data.
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

// readPart reads and decompresses a part of at most limit bytes. A part that decompresses to
// more is damaged or malicious.
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

// sum checks that data contains exactly count lengths, none of them negative, and returns
// their sum.
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

// length returns the next vint of a part. It cannot fail, because sum has checked the part.
func (p *part) length() int {
	v, n, _ := writable.VInt(p.data[p.used:])
	p.used += n
	return int(v)
}

// next returns the next n bytes of a part. They are valid until the next block is read.
func (p *part) next(n int) []byte {
	b := p.data[p.used : p.used+n : p.used+n]
	p.used += n
	return b
}
