package shuffle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/internal/data/poison"
	"github.com/hammr/hammr/internal/kit/validate"
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
	// FoldTable calls it once for each key of a spill, when it adds the key. A SortBuffer and
	// a FoldTable that is bypassed call it once for each record.
	Partition func(key []byte) int

	// Memory is how many bytes the collector may use for records, entries and sorting.
	// Default 100 MiB, at least 64 KiB.
	Memory int64

	// Budget has further memory for a FoldTable. Default nil: Memory is the limit.
	Budget *Budget

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

	// Poison overwrites memory that views refer to as soon as it is no longer valid (package
	// poison).
	Poison bool

	// Combine combines each group of equal keys before it is written, and again if three or
	// more spills are merged. Default none. A FoldTable does not use it.
	Combine Combiner
}

// Combiner turns the values of one key into fewer. It emits records of the same key only.
// The arguments key and values are valid until it returns; emit copies its arguments.
type Combiner func(key []byte, values *Values, emit func(key, value []byte)) error

// Stats describes what a collector has done so far.
type Stats struct {
	Records           int64 // records added
	Bytes             int64 // bytes of keys and values added
	Spills            int64 // number of spills
	SpilledRecords    int64 // records written in spills and in merges
	CombineIn         int64 // records given to the combiner or fold
	CombineOut        int64 // records that the combiner or fold returned
	MaterializedBytes int64 // bytes of the published data file
	Sums              Sums  // of all records; zero before Finish
}

// Collector is the common part of SortBuffer and FoldTable. One goroutine may use it.
type Collector interface {
	// Err returns the first error; records added after it are dropped.
	Err() error
	// Finish writes what is in memory, merges the spills if there are many, and returns the
	// index of the data file.
	Finish(ctx context.Context) (*Index, error)
	// Abort stops and removes every file. After Finish has returned nil it does nothing.
	Abort() error
	Stats() Stats
	// Buffered returns approximately the number of bytes in memory that Finish would write.
	Buffered() int64
}

// Limits and defaults of the options.
const (
	defaultMemory  = 100 << 20
	minMemory      = 64 << 10       // bytes; a smaller memory can hardly hold a record and its entry
	maxMemory      = 4<<30 - 64<<10 // offsets into the arena are 32 bits
	defaultFactor  = 64
	defaultMaxRuns = 4
)

// validate sets defaults and returns all errors joined.
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

// fillDefaults sets options that are 0 to their defaults, and moves options that are out of
// range to the nearest limit.
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
	o.Poison = poison.On(o.Poison)
}

// HashPartition distributes keys over n partitions by their xxhash64. The partition of a key
// is the same in every release, because maps and reduces of one job may run different
// releases. A multiplication scales the hash: it is faster than a division, and distributes
// as evenly.
func HashPartition(key []byte, n int) int {
	if n == 1 {
		return 0
	}
	p, _ := bits.Mul64(xxhash.Sum64(key), uint64(n))
	return int(p)
}

// partitionError says that a partitioner returned a number that is no partition.
func (o *Options) partitionError(partition int) error {
	return fmt.Errorf("partition %d: the partitioner must return 0 to less than %d", partition, o.Partitions)
}
