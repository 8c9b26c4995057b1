package shuffle

import (
	"context"

	"github.com/hammr/hammr/storage"
)

// Index lists the runs of a data file by partition.
type Index struct {
	Path         string  // data file; not stored
	Partitions   [][]Run // runs of each partition, in the order of equal keys
	DataLength   int64   // bytes in the data file
	DataChecksum uint64  // xxhash64 over the data file
	Checksum     uint64  // xxhash64 over the index before its own checksum
}

// IndexPath names the index of a data file.
func IndexPath(dataPath string) string { return dataPath + ".index" }

// ReadIndex reads and verifies the index of a data file.
func ReadIndex(ctx context.Context, fsys storage.FS, dataPath string) (*Index, error) {
	return nil, errSkeleton
}

// DecodeIndex verifies and decodes an index.
func DecodeIndex(b []byte) (*Index, error) { return nil, errSkeleton }

// Encode is the index as it is stored.
func (x *Index) Encode() []byte { return nil }

// PartitionBytes is the stored size of each partition.
func (x *Index) PartitionBytes() []int64 {
	sizes := make([]int64, len(x.Partitions))
	for p, runs := range x.Partitions {
		for _, r := range runs {
			sizes[p] += r.Length
		}
	}
	return sizes
}

// Sources is the runs of one partition, ready to be merged.
func (x *Index) Sources(fsys storage.FS, partition int, ordinal int32) []Source {
	var sources []Source
	for _, r := range x.Partitions[partition] {
		sources = append(sources, Source{FS: fsys, Path: x.Path, Run: r, Ordinal: ordinal})
	}
	return sources
}
