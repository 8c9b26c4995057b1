package pipeline

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	packetBytes = 256 << 10 // data of a full packet
	chunkBytes  = 512       // data that a checksum covers
	windowSize  = 16        // packets that wait for their acknowledgement

	checksumCRC32C = 2 // the type of Checksum
	headerBytes    = 4 + 2 + packetHeaderBytes
)

// packetHeaderBytes is the size of an encoded PacketHeader, whose fields all have a fixed size.
const packetHeaderBytes = 1 + 8 + 1 + 8 + 1 + 1 + 1 + 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendHead appends what comes before the data of a packet:
//
//	uint32  bytes of checksums and data, and 4
//	uint16  bytes of the header
//	        PacketHeader
//	uint32  checksum of each chunk of the data
func appendHead(to []byte, offset, seqno int64, last bool, data []byte) []byte {
	chunks := (len(data) + chunkBytes - 1) / chunkBytes
	to = binary.BigEndian.AppendUint32(to, uint32(4+4*chunks+len(data)))
	to = binary.BigEndian.AppendUint16(to, packetHeaderBytes)
	to = appendPacketHeader(to, offset, seqno, last, len(data))
	for len(data) > 0 {
		n := min(len(data), chunkBytes)
		to = binary.BigEndian.AppendUint32(to, crc32.Checksum(data[:n], castagnoli))
		data = data[n:]
	}
	return to
}

// appendPacketHeader appends an encoded PacketHeader. It writes all fields, because their
// sizes must not depend on their values.
func appendPacketHeader(to []byte, offset, seqno int64, last bool, length int) []byte {
	to = append(to, 1<<3|1)
	to = binary.LittleEndian.AppendUint64(to, uint64(offset))
	to = append(to, 2<<3|1)
	to = binary.LittleEndian.AppendUint64(to, uint64(seqno))
	to = append(to, 3<<3, 0)
	if last {
		to[len(to)-1] = 1
	}
	to = append(to, 4<<3|5)
	return binary.LittleEndian.AppendUint32(to, uint32(length))
}
