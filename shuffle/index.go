package shuffle

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/storage"
)

// Index lists the runs of a data file by partition. It is a file next to the data file:
//
//	0       8        12          16           24            32
//	| magic | version| partitions| data length| data xxhash | partitions … | xxhash |
//	partition: | number of runs | run … |
//	run:       | flags | offset | length | raw length | records | CRC32C of headers |
//
// Numbers before offset 32 are little-endian, those after it uvarints. A reader fetches the
// index first, and from it knows the bytes of its partition.
type Index struct {
	Path         string  // data file; not stored
	Partitions   [][]Run // runs of each partition, in the order of equal keys
	DataLength   int64   // bytes in the data file
	DataChecksum uint64  // xxhash64 over the data file
	Checksum     uint64  // xxhash64 over the stored index before its last 8 bytes
}

const (
	indexMagic      = "HMRINDEX"
	indexVersion    = 1
	indexHeadSize   = 32        // magic, version, partitions, data length, data checksum
	maxIndexSize    = 1 << 30   // limit for the bytes of an index that is read
	indexTagged     = 1 << 0    // flag of a run
	minIndexRunSize = 1 + 4 + 4 // least size of an encoded run: flags, four uvarints, checksum
)

// IndexPath names the index of a data file.
func IndexPath(dataPath string) string { return dataPath + ".index" }

// ReadIndex reads and verifies the index of a data file.
func ReadIndex(ctx context.Context, fsys storage.FS, dataPath string) (*Index, error) {
	path := IndexPath(dataPath)
	f, err := fsys.Open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("index %s: %w", path, err)
	}
	x, err := LoadIndex(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("index %s: %w", path, err)
	}
	x.Path = dataPath
	return x, nil
}

// ReadReportedIndex reads the index of a data file whose writer has reported the checksum of
// its index. Another checksum means that the file is not what the writer published; the
// error then wraps storage.ErrCorrupt.
func ReadReportedIndex(ctx context.Context, fsys storage.FS, dataPath string, reported uint64) (*Index, error) {
	x, err := ReadIndex(ctx, fsys, dataPath)
	if err == nil && x.Checksum != reported {
		return nil, fmt.Errorf("index of %s: %w: checksum %x, but its writer reported %x", dataPath, storage.ErrCorrupt, x.Checksum, reported)
	}
	return x, err
}

// LoadIndex reads an index to the end of r, and decodes it.
func LoadIndex(r io.Reader) (*Index, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxIndexSize))
	if err != nil {
		return nil, err
	}
	return DecodeIndex(b)
}

// write creates the index file next to the data file.
func (x *Index) write(ctx context.Context, fsys storage.FS) error {
	path := IndexPath(x.Path)
	err := storage.WriteFile(ctx, fsys, path, storage.CreateOptions{}, func(w io.Writer) error {
		_, err := w.Write(x.Encode())
		return err
	})
	if err != nil {
		return fmt.Errorf("index %s: %w", path, err)
	}
	return nil
}

// Encode returns the index as it is stored. It sets Checksum.
func (x *Index) Encode() []byte {
	le := binary.LittleEndian
	b := append([]byte(nil), indexMagic...)
	b = le.AppendUint32(b, indexVersion)
	b = le.AppendUint32(b, uint32(len(x.Partitions)))
	b = le.AppendUint64(b, uint64(x.DataLength))
	b = le.AppendUint64(b, x.DataChecksum)
	for _, runs := range x.Partitions {
		b = binary.AppendUvarint(b, uint64(len(runs)))
		for _, r := range runs {
			b = r.appendTo(b)
		}
	}
	x.Checksum = xxhash.Sum64(b)
	return le.AppendUint64(b, x.Checksum)
}

// appendTo appends the run's entry in the index.
func (r *Run) appendTo(b []byte) []byte {
	flags := byte(0)
	if r.Tagged {
		flags = indexTagged
	}
	b = append(b, flags)
	for _, n := range []int64{r.Offset, r.Length, r.RawLength, r.Records} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return binary.LittleEndian.AppendUint32(b, r.Checksum)
}

// DecodeIndex verifies and decodes an index. Its errors wrap storage.ErrCorrupt.
func DecodeIndex(b []byte) (*Index, error) {
	le := binary.LittleEndian
	if len(b) < indexHeadSize+8 || string(b[:8]) != indexMagic {
		return nil, fmt.Errorf("%w: not an index", storage.ErrCorrupt)
	}
	body, sum := b[:len(b)-8], le.Uint64(b[len(b)-8:])
	if xxhash.Sum64(body) != sum {
		return nil, fmt.Errorf("%w: index does not match its checksum", storage.ErrCorrupt)
	}
	if v := le.Uint32(b[8:]); v != indexVersion {
		return nil, fmt.Errorf("%w: index of version %d; this program reads version %d", storage.ErrCorrupt, v, indexVersion)
	}
	x := &Index{DataLength: int64(le.Uint64(b[16:])), DataChecksum: le.Uint64(b[24:]), Checksum: sum}
	d := indexDecoder{b: body[indexHeadSize:], dataLength: x.DataLength}
	x.Partitions = d.partitions(int(le.Uint32(b[12:])))
	if d.bad || len(d.b) > 0 || x.DataLength < 0 {
		return nil, fmt.Errorf("%w: invalid index entry at offset %d", storage.ErrCorrupt, len(body)-len(d.b))
	}
	return x, nil
}

// indexDecoder reads from the front of b. The first error sets bad and makes all further
// numbers 0, so that callers check it once.
type indexDecoder struct {
	b          []byte // bytes that are not decoded yet
	dataLength int64  // length of the data file; no run reaches beyond it
	bad        bool   // b is not an index
}

// partitions decodes n partitions. The numbers of partitions and runs are compared with the
// bytes that remain before memory is allocated for them.
func (d *indexDecoder) partitions(n int) [][]Run {
	if n > len(d.b) { // each takes at least one byte
		d.bad = true
		return nil
	}
	parts := make([][]Run, n)
	for p := range parts {
		runs := d.number()
		if d.bad || runs > int64(len(d.b)/minIndexRunSize) {
			d.bad = true
			return nil
		}
		for range runs {
			parts[p] = append(parts[p], d.run())
		}
	}
	return parts
}

// run decodes one run, which must lie in the data file.
func (d *indexDecoder) run() Run {
	var r Run
	if d.bad || len(d.b) == 0 || d.b[0]&^indexTagged != 0 {
		d.bad = true
		return r
	}
	r.Tagged = d.b[0] == indexTagged
	d.b = d.b[1:]
	r.Offset, r.Length, r.RawLength, r.Records = d.number(), d.number(), d.number(), d.number()
	if d.bad || len(d.b) < 4 || r.Offset > d.dataLength || r.Length > d.dataLength-r.Offset {
		d.bad = true
		return r
	}
	r.Checksum = binary.LittleEndian.Uint32(d.b)
	d.b = d.b[4:]
	return r
}

// number decodes a uvarint that fits an int64.
func (d *indexDecoder) number() int64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || int64(v) < 0 {
		d.bad = true
		return 0
	}
	d.b = d.b[n:]
	return int64(v)
}

// PartitionBytes returns the stored size of each partition.
func (x *Index) PartitionBytes() []int64 {
	sizes := make([]int64, len(x.Partitions))
	for p, runs := range x.Partitions {
		for _, r := range runs {
			sizes[p] += r.Length
		}
	}
	return sizes
}

// Sources returns the runs of one partition for a merge.
func (x *Index) Sources(fsys storage.FS, partition int, ordinal Ordinal) []Source {
	var sources []Source
	for _, r := range x.Partitions[partition] {
		sources = append(sources, Source{FS: fsys, Path: x.Path, Run: r, Ordinal: ordinal})
	}
	return sources
}
