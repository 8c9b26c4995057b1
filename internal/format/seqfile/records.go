package seqfile

import (
	"fmt"
)

// records is a body of single records. Values are compressed if a codec is set.
//
//	( ffffffff sync[16] )?  length[4]  keyLength[4]  key  value
//
// length is the sum of the lengths of key and value.
type records struct {
	src   *source
	sync  [syncSize]byte
	codec *decoder // nil for None
	limit int      // bytes in a record

	length   uint32 // of the record behind the boundary
	at       int64  // offset of its length
	k, v     []byte
	unpacked []byte
}

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

func checkSync(src *source, want [syncSize]byte) error {
	got, err := src.take(syncSize)
	if err == nil && [syncSize]byte(got) != want {
		err = src.corrupt("sync mark differs from the header's")
	}
	return err
}

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

func tooLong(src *source, offset, length int64, limit int) error {
	return fmt.Errorf("%s: record of %d bytes or more at offset %d, longer than the limit of %d", src.path, length, offset, limit)
}
