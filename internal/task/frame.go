package task

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/hammr/hammr/storage"
)

// This file encodes and decodes streams of records; docs/formats/channel.md has the bytes.

const (
	streamMagic     = "HMRCHAN\x01" // the last byte is the version
	frameBatch      = 'B'
	frameEnd        = 'E'
	frameCheckpoint = 'P'
	batchHead       = 1 + 4 + 4 // kind, length, records
	endHead         = 1 + 8     // kind, records; of either end
	frameTail       = 4         // checksum
	maxPayload      = 1 << 30   // bytes in a batch
	leastRecord     = 2         // bytes: two lengths of 0
	firstPayload    = 1 << 20   // bytes that are allocated for an announced length
	maxRecordHead   = 2 * binary.MaxVarintLen32
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frameWriter encodes records into frames:
//
//	| HMRCHAN 1 | frame | frame | … | end frame |
//	batch:  | 'B' | length | records | payload | CRC32C |
//	end:    | 'E' or 'P' | records of the stream | CRC32C |
//
// A checksum covers all bytes before it, so frames can neither be lost nor change places.
// One goroutine uses it.
type frameWriter struct {
	w       io.Writer // gets one Write per frame
	batch   int       // size in bytes at which a batch is sent
	buf     []byte    // the current frame
	records uint32    // number of records in the current frame
	total   uint64    // number of records in all sent frames
	sum     uint32    // CRC32C of all bytes so far, checksums left out
}

// newFrameWriter begins a stream. Its head is sent with the first frame.
func newFrameWriter(w io.Writer, batch int) *frameWriter {
	f := &frameWriter{w: w, batch: batch, buf: make([]byte, 0, batch+batchHead+frameTail)}
	f.sum = crc32.Checksum([]byte(streamMagic), castagnoli)
	return f
}

// begin reserves the head of a batch, after that of the stream if nothing has been
// sent.
func (f *frameWriter) begin() {
	if f.total == 0 {
		f.buf = append(f.buf[:0], streamMagic...)
	} else {
		f.buf = f.buf[:0]
	}
	f.buf = append(f.buf, make([]byte, batchHead)...)
}

// add appends a record to the batch, after sending the batch if the record does not fit. It
// copies its arguments.
func (f *frameWriter) add(key, value []byte) error {
	size := len(key) + len(value) + maxRecordHead
	if size > maxPayload {
		return fmt.Errorf("record of %d bytes: more than the %d that a stream carries", size, maxPayload)
	}
	if f.records > 0 && len(f.buf)+size > f.batch {
		if err := f.send(); err != nil {
			return err
		}
	}
	if f.records == 0 {
		f.begin()
	}
	f.buf = binary.AppendUvarint(f.buf, uint64(len(key)))
	f.buf = binary.AppendUvarint(f.buf, uint64(len(value)))
	f.buf = append(f.buf, key...)
	f.buf = append(f.buf, value...)
	f.records++
	return nil
}

// send sends the current batch, if it has records.
func (f *frameWriter) send() error {
	if f.records == 0 {
		return nil
	}
	start := 0
	if f.total == 0 {
		start = len(streamMagic)
	}
	frame := f.buf[start:]
	frame[0] = frameBatch
	binary.LittleEndian.PutUint32(frame[1:], uint32(len(frame)-batchHead))
	binary.LittleEndian.PutUint32(frame[5:], f.records)
	f.total += uint64(f.records)
	f.records = 0
	return f.seal(start)
}

// seal appends the checksum of the frame that begins at start, and sends the buffer.
func (f *frameWriter) seal(start int) error {
	f.sum = crc32.Update(f.sum, castagnoli, f.buf[start:])
	f.buf = binary.LittleEndian.AppendUint32(f.buf, f.sum)
	_, err := f.w.Write(f.buf)
	return err
}

// end sends the rest and the end frame: frameEnd for good, or frameCheckpoint if the
// writer was checkpointed.
func (f *frameWriter) end(kind byte) error {
	if err := f.send(); err != nil {
		return err
	}
	f.buf = f.buf[:0]
	if f.total == 0 {
		f.buf = append(f.buf, streamMagic...)
	}
	start := len(f.buf)
	f.buf = append(f.buf, kind)
	f.buf = binary.LittleEndian.AppendUint64(f.buf, f.total)
	return f.seal(start)
}

// frameReader decodes frames. For invalid bytes the error wraps storage.ErrCorrupt. For a
// stream that ends before its end frame it is io.ErrUnexpectedEOF: the writer's process may
// have ended before it sent all data.
type frameReader struct {
	r     io.Reader
	total uint64 // records so far
	sum   uint32
	begun bool // the head of the stream has been read
}

// next reads a batch into buf, which grows with the bytes that arrive, and returns its
// payload and the number of records. The error is io.EOF at the end of the stream, and
// errWriterCheckpointed if the writer was checkpointed. The checksum of the payload has
// been verified.
func (f *frameReader) next(buf []byte) (payload []byte, records int, err error) {
	if err := f.begin(); err != nil {
		return buf, 0, err
	}
	var head [batchHead]byte // the head of an end frame has the same length
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return buf, 0, unexpectedEOF(err)
	}
	f.sum = crc32.Update(f.sum, castagnoli, head[:])
	switch head[0] {
	case frameBatch:
		return f.batch(head, buf)
	case frameEnd:
		return buf, 0, f.end(head, io.EOF)
	case frameCheckpoint:
		return buf, 0, f.end(head, errWriterCheckpointed)
	}
	return buf, 0, fmt.Errorf("%w: frame of kind %q", storage.ErrCorrupt, head[0])
}

// begin reads the head of the stream.
func (f *frameReader) begin() error {
	if f.begun {
		return nil
	}
	var magic [len(streamMagic)]byte
	if _, err := io.ReadFull(f.r, magic[:]); err != nil {
		return unexpectedEOF(err)
	}
	if string(magic[:]) != streamMagic {
		return fmt.Errorf("%w: stream begins with %q, which this program does not read", storage.ErrCorrupt, magic)
	}
	f.begun, f.sum = true, crc32.Checksum(magic[:], castagnoli)
	return nil
}

// batch reads a batch whose head has been read. The head's numbers are checked before memory
// is allocated for them.
func (f *frameReader) batch(head [batchHead]byte, buf []byte) ([]byte, int, error) {
	length, records := binary.LittleEndian.Uint32(head[1:]), binary.LittleEndian.Uint32(head[5:])
	if length > maxPayload || records == 0 || records > length/leastRecord {
		return buf, 0, fmt.Errorf("%w: batch of %d records in %d bytes", storage.ErrCorrupt, records, length)
	}
	buf, err := readPayload(f.r, buf, int(length))
	if err != nil {
		return buf, 0, err
	}
	f.sum = crc32.Update(f.sum, castagnoli, buf)
	f.total += uint64(records)
	return buf, int(records), f.check()
}

// readPayload reads length bytes. Its buffer grows only with the bytes that have
// arrived.
func readPayload(r io.Reader, buf []byte, length int) ([]byte, error) {
	buf = buf[:0]
	for len(buf) < length {
		step := min(length, max(cap(buf), firstPayload, 2*len(buf))) - len(buf)
		if need := len(buf) + step; need > cap(buf) {
			buf = append(make([]byte, 0, need), buf...)
		}
		n, err := io.ReadFull(r, buf[len(buf):len(buf)+step])
		buf = buf[:len(buf)+n]
		if err != nil {
			return buf, unexpectedEOF(err)
		}
	}
	return buf, nil
}

// errWriterCheckpointed is the end of a stream whose writer was checkpointed.
var errWriterCheckpointed = errors.New("the writer was checkpointed")

// end verifies an end frame and returns meaning, which is how the stream has ended.
func (f *frameReader) end(head [batchHead]byte, meaning error) error {
	if err := f.check(); err != nil {
		return err
	}
	if records := binary.LittleEndian.Uint64(head[1:]); records != f.total {
		return fmt.Errorf("%w: stream of %d records ends after %d", storage.ErrCorrupt, records, f.total)
	}
	if n, err := f.r.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return fmt.Errorf("%w: bytes after the end", storage.ErrCorrupt)
	}
	return meaning
}

// check reads and verifies a checksum.
func (f *frameReader) check() error {
	var tail [frameTail]byte
	if _, err := io.ReadFull(f.r, tail[:]); err != nil {
		return unexpectedEOF(err)
	}
	if binary.LittleEndian.Uint32(tail[:]) != f.sum {
		return fmt.Errorf("%w: frame does not match its checksum", storage.ErrCorrupt)
	}
	return nil
}

// unexpectedEOF returns the error of a stream that ends too early.
func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// nextRecord splits the first record off a payload.
func nextRecord(payload []byte) (key, value, rest []byte, err error) {
	if len(payload) >= leastRecord && payload[0]|payload[1] < 0x80 {
		k, v := 2+int(payload[0]), 2+int(payload[0])+int(payload[1])
		if v <= len(payload) {
			return payload[2:k:k], payload[k:v:v], payload[v:], nil
		}
	}
	keyLen, n := binary.Uvarint(payload)
	if n <= 0 || keyLen > maxPayload {
		return nil, nil, nil, errRecord
	}
	valueLen, m := binary.Uvarint(payload[n:])
	at := uint64(n + m)
	if m <= 0 || valueLen > maxPayload || at+keyLen+valueLen > uint64(len(payload)) {
		return nil, nil, nil, errRecord
	}
	k, v := at+keyLen, at+keyLen+valueLen
	return payload[at:k:k], payload[k:v:v], payload[v:], nil
}

var errRecord = fmt.Errorf("%w: invalid record in a batch", storage.ErrCorrupt)
