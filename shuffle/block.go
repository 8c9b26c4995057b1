package shuffle

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

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
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// blockHeader describes one block.
type blockHeader struct {
	codec   Codec
	flags   uint8
	stored  int    // bytes of payload in the file
	raw     int    // bytes of payload once decompressed
	records int    // in the payload; of a table, its ranks
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

func (h *blockHeader) check(b []byte, limit int64) error {
	switch {
	case b[0] != blockMagic:
		return fmt.Errorf("%w: no block begins here", storage.ErrCorrupt)
	case h.codec >= codecCount || h.flags&^flagsKnown != 0 || b[3] != 0:
		return fmt.Errorf("%w: block of an unknown kind (codec %d, flags %#x)", storage.ErrCorrupt, h.codec, h.flags)
	case int64(h.stored) > limit:
		return fmt.Errorf("%w: block of %d bytes where the run has %d left", storage.ErrCorrupt, h.stored, limit)
	case h.raw > maxBlockRaw || h.stored == 0 || h.records == 0 || h.raw/h.stored >= maxRatio:
		return fmt.Errorf("%w: block of %d bytes and %d records", storage.ErrCorrupt, h.raw, h.records)
	case h.codec == None && h.stored != h.raw:
		return fmt.Errorf("%w: uncompressed block of %d and %d bytes", storage.ErrCorrupt, h.stored, h.raw)
	}
	return nil
}
