package shuffle

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"

	"github.com/hammr/hammr/storage"
)

// A run is a sequence of blocks. A block is this header and a payload. See
// docs/formats/segment.md.
//
//	0      1      2      3      4         8      12       16       20        24
//	+------+------+------+------+---------+------+--------+--------+---------+
//	|magic |codec |flags |  0   | stored  | raw  |records |payload |header   |
//	|      |      |      |      | length  |length|        |CRC32C  |CRC32C   |
//	+------+------+------+------+---------+------+--------+--------+---------+
const (
	blockHeaderSize = 24
	blockMagic      = 0xB7

	// blockRaw is the target for the bytes of records in a block. A record that does not fit
	// begins a new block, so a longer record has a block of its own.
	blockRaw = 64 << 10

	// maxBlockRaw bounds a block, and with it a record.
	maxBlockRaw = 2<<30 - 1

	flagRanks  = 1 << 0 // payload is the table of ranks of a tagged run
	flagTagged = 1 << 1 // each record begins with an index into that table
	flagsKnown = flagRanks | flagTagged
	maxRanks   = 1 << 28
	maxTagSize = 4 // bytes of the largest tag, which is less than maxRanks
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// blockHeader describes one block.
type blockHeader struct {
	codec   Codec
	flags   uint8
	stored  int    // bytes of payload in the file
	raw     int    // bytes of payload once decompressed
	records int    // records in the payload, or ranks in a table
	crc     uint32 // CRC32C of the stored payload
}

// put writes the header to dst, which holds blockHeaderSize bytes.
func (h *blockHeader) put(dst []byte) {
	_ = dst[blockHeaderSize-1]
	dst[0], dst[1], dst[2], dst[3] = blockMagic, byte(h.codec), h.flags, 0
	binary.LittleEndian.PutUint32(dst[4:], uint32(h.stored))
	binary.LittleEndian.PutUint32(dst[8:], uint32(h.raw))
	binary.LittleEndian.PutUint32(dst[12:], uint32(h.records))
	binary.LittleEndian.PutUint32(dst[16:], h.crc)
	binary.LittleEndian.PutUint32(dst[20:], crc32.Checksum(dst[:20], castagnoli))
}

// parseBlockHeader verifies a header. limit is the number of bytes of the run after it.
func parseBlockHeader(b []byte, limit int64) (blockHeader, error) {
	var h blockHeader
	if crc32.Checksum(b[:20], castagnoli) != binary.LittleEndian.Uint32(b[20:]) {
		return h, fmt.Errorf("%w: block header does not match its checksum", storage.ErrCorrupt)
	}
	h = blockHeader{
		codec:   Codec(b[1]),
		flags:   b[2],
		stored:  int(binary.LittleEndian.Uint32(b[4:])),
		raw:     int(binary.LittleEndian.Uint32(b[8:])),
		records: int(binary.LittleEndian.Uint32(b[12:])),
		crc:     binary.LittleEndian.Uint32(b[16:]),
	}
	return h, h.check(b, limit)
}

// check refuses a header whose checksum is right but whose numbers are impossible. Such a
// header is from another version, or from a file that this package did not write. The limits
// keep a reader from allocating memory for a block that the run cannot hold.
func (h *blockHeader) check(b []byte, limit int64) error {
	switch {
	case b[0] != blockMagic:
		return fmt.Errorf("%w: no block begins here", storage.ErrCorrupt)
	case h.codec >= codecCount || h.flags&^flagsKnown != 0 || b[3] != 0:
		return fmt.Errorf("%w: block of an unknown kind (codec %d, flags %#x)", storage.ErrCorrupt, h.codec, h.flags)
	case int64(h.stored) > limit:
		return fmt.Errorf("%w: block of %d bytes, but the run has %d more", storage.ErrCorrupt, h.stored, limit)
	case h.raw > maxBlockRaw || h.stored == 0 || h.records == 0 || h.raw/h.stored >= maxRatio:
		return fmt.Errorf("%w: invalid block of %d bytes and %d records", storage.ErrCorrupt, h.raw, h.records)
	case h.codec == None && h.stored != h.raw:
		return fmt.Errorf("%w: uncompressed block of %d bytes stored, %d bytes raw", storage.ErrCorrupt, h.stored, h.raw)
	}
	return nil
}

// A record is the same bytes in memory, in a spill and in a segment: uvarint key
// length, uvarint value length, key, value.

// uvarintLen returns how many bytes x takes as a uvarint.
func uvarintLen(x int) int { return (bits.Len64(uint64(x)|1) + 6) / 7 }

// recordLen returns the length of a record in bytes.
func recordLen(keyLen, valueLen int) int {
	return uvarintLen(keyLen) + uvarintLen(valueLen) + keyLen + valueLen
}

// putRecord writes a record to dst, which must be long enough.
func putRecord(dst, key, value []byte) {
	n := 2
	if len(key)|len(value) < 0x80 {
		dst[0], dst[1] = byte(len(key)), byte(len(value))
	} else {
		n = binary.PutUvarint(dst, uint64(len(key)))
		n += binary.PutUvarint(dst[n:], uint64(len(value)))
	}
	copy(dst[n:], key)
	copy(dst[n+len(key):], value)
}

// span locates the parts of a record in the bytes that contain it.
type span struct {
	start int // start of the record
	key   int // start of the key
	value int // start of the value, end of the key
	end   int // end of the record
}

// parseRecord locates the parts of the record that begins at b[at]. ok is false if the
// record is incomplete.
func parseRecord(b []byte, at int) (s span, ok bool) {
	if at+2 <= len(b) && b[at]|b[at+1] < 0x80 {
		s.start, s.key = at, at+2
		s.value = s.key + int(b[at])
		s.end = s.value + int(b[at+1])
		return s, s.end <= len(b)
	}
	return parseLongRecord(b, at)
}

// parseLongRecord does the work of parseRecord for lengths of more than one byte. It refuses
// lengths beyond len(b) before it adds them, so that the sums cannot overflow.
func parseLongRecord(b []byte, at int) (s span, ok bool) {
	s.start = at
	keyLen, n := binary.Uvarint(b[at:])
	if n <= 0 || keyLen > uint64(len(b)) {
		return s, false
	}
	at += n
	valueLen, n := binary.Uvarint(b[at:])
	if n <= 0 || valueLen > uint64(len(b)) {
		return s, false
	}
	s.key = at + n
	s.value = s.key + int(keyLen)
	s.end = s.value + int(valueLen)
	return s, s.end <= len(b)
}
