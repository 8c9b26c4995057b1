package shuffle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/internal/validate"
	"github.com/hammr/hammr/storage"
)

// Options configure a collector.
type Options struct {
	// FS and Path name the data file to create; the index is created next to it.
	FS   storage.FS
	Path string

	// Partitions is the number of partitions, at least 1.
	Partitions int

	// Partition returns the partition of a key, in [0, Partitions). Default HashPartition. A
	// FoldTable calls it once for each key of a spill, a SortBuffer once for each record.
	Partition func(key []byte) int

	// Memory is how many bytes the collector may use for records, entries and sorting.
	// Default 100 MiB, at least 64 KiB.
	Memory int64

	// SpillPercent is the share of Memory, in (0, 1], at which a spill begins in the
	// background while the rest takes further records. Default 0.8, at least 0.5. At 1
	// nothing happens in the background.
	SpillPercent float64

	// BeforeSpill is called before a run is written. If it returns an error, the spill
	// fails. Default none.
	BeforeSpill func() error

	// Factor is how many runs are merged at once. Default 64, at least 2.
	Factor int

	// MaxRuns is how many runs of a partition are published unmerged. Default 4.
	MaxRuns int

	// Codec compresses the data file.
	Codec Codec

	// Combine combines each group of equal keys before it is written, and again if three or
	// more spills are merged. Default none. A FoldTable does not use it.
	Combine Combiner
}

// Combiner turns the values of one key into fewer. It emits records of the same key only.
// key and the values are valid until it returns; what it emits is copied.
type Combiner func(key []byte, values *Values, emit func(key, value []byte)) error

// Stats describes what a collector has done so far.
type Stats struct {
	Records           int64 // added
	Bytes             int64 // of keys and values added
	Spills            int64 // spills of its memory
	SpilledRecords    int64 // written in spills and in merges
	CombineIn         int64 // records given to the combiner or fold
	CombineOut        int64 // records that came out of it
	MaterializedBytes int64 // bytes of the published data file
}

// Collector is the common part of SortBuffer and FoldTable. One goroutine may use it.
type Collector interface {
	// Err is the first error; what is added after it is dropped.
	Err() error
	// Finish writes what is in memory, merges the spills if there are many, and returns the
	// index of the data file.
	Finish(ctx context.Context) (*Index, error)
	// Abort stops and removes every file. After Finish has returned nil it does nothing.
	Abort() error
	Stats() Stats
	// Buffered is approximately the number of bytes in memory that Finish would write.
	Buffered() int64
}

// Limits and defaults of the options.
const (
	defaultMemory  = 100 << 20
	minMemory      = 64 << 10       // bytes; below it hardly a record and its entry fit
	maxMemory      = 4<<30 - 64<<10 // offsets into the arena are 32 bits
	defaultFactor  = 64
	defaultMaxRuns = 4
)

// validate sets defaults and reports every error at once.
func (o *Options) validate() error {
	err := errors.Join(
		validate.That(o.FS != nil && o.Path != "", "no data file named"),
		validate.That(o.Partitions >= 1, "%d partitions: at least 1 is needed", o.Partitions),
		validate.That(o.SpillPercent >= 0 && o.SpillPercent <= 1, "spill percent %v: not within 0 to 1", o.SpillPercent),
		validate.That(o.Codec < codecCount, "codec %d: unknown", o.Codec),
	)
	o.fillDefaults()
	if err != nil {
		return fmt.Errorf("shuffle options: %w", err)
	}
	return nil
}

// fillDefaults sets what is not set, and moves what is out of range to its limit.
func (o *Options) fillDefaults() {
	o.Memory = min(max(cmp.Or(o.Memory, defaultMemory), minMemory), maxMemory)
	o.SpillPercent = cmp.Or(o.SpillPercent, 0.8)
	o.Factor = max(cmp.Or(o.Factor, defaultFactor), 2)
	if o.MaxRuns <= 0 {
		o.MaxRuns = defaultMaxRuns
	}
	if o.Partition == nil {
		n := o.Partitions
		o.Partition = func(key []byte) int { return HashPartition(key, n) }
	}
}

// HashPartition distributes keys over n partitions by their xxhash64. The partition of a key
// is the same in every release, since the maps and reduces of a job may run different ones.
// The hash is scaled by a multiplication, which is faster than a division and as even.
func HashPartition(key []byte, n int) int {
	if n == 1 {
		return 0
	}
	p, _ := bits.Mul64(xxhash.Sum64(key), uint64(n))
	return int(p)
}
