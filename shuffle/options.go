package shuffle

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/storage"
)

// Options say how a collector works.
type Options struct {
	// FS and Path name the data file to be made; the index is made beside it.
	FS   storage.FS
	Path string

	// Partitions is how many partitions there are; at least 1.
	Partitions int

	// Partition tells the partition of a key, in [0, Partitions). nil stands
	// for HashPartition. A FoldTable calls it once for each key of a spill, a
	// SortBuffer once for each record.
	Partition func(key []byte) int

	// Memory is how many bytes the collector may use for records, entries and
	// sorting. 0 stands for 100 MiB; less than 64 KiB counts as 64 KiB.
	Memory int64

	// SpillPercent is the share of Memory, in (0, 1], at which a spill begins
	// in the background while records go on into the rest. 0 stands for 0.8;
	// less than 0.5 counts as 0.5; at 1 nothing happens in the background.
	SpillPercent float64

	// BeforeSpill is called before a run is written; its error is that of the spill.
	// Default nobody asks.
	BeforeSpill func() error

	// Factor is how many runs are merged at once; 0 stands for 64. Less than 2
	// counts as 2.
	Factor int

	// MaxRuns is how many runs of a partition are published unmerged; 0 stands
	// for 4.
	MaxRuns int

	// Codec compresses the data file.
	Codec Codec

	// Combine is run over each group of equal keys before it is written, and
	// again when three or more spills are merged. nil: none. FoldTable has no
	// use for it.
	Combine Combiner
}

// Combiner turns the values of one key into fewer. It emits records of the same
// key only. key and the values hold until it returns; what it emits is copied.
type Combiner func(key []byte, values *Values, emit func(key, value []byte)) error

// Stats is what a collector has done so far.
type Stats struct {
	Records           int64 // added
	Bytes             int64 // of keys and values added
	Spills            int64 // times that memory was written out
	SpilledRecords    int64 // written in spills and in merges
	CombineIn         int64 // records given to the combiner or fold
	CombineOut        int64 // records that came out of it
	MaterializedBytes int64 // size of the published data file
}

// Collector is what SortBuffer and FoldTable have in common. It is used by one
// goroutine.
type Collector interface {
	// Err is the first error; after it, nothing that is added counts.
	Err() error
	// Finish writes what is in memory, merges where that pays and returns the
	// index of the finished data file.
	Finish(ctx context.Context) (*Index, error)
	// Abort stops and removes every file. After Finish has returned nil it
	// does nothing.
	Abort() error
	Stats() Stats
	// Buffered is roughly how many bytes are in memory that Finish would write.
	Buffered() int64
}

const (
	defaultMemory  = 100 << 20
	minMemory      = 64 << 10
	maxMemory      = 4<<30 - 64<<10 // offsets into the arena are 32 bits
	defaultFactor  = 64
	defaultMaxRuns = 4
)

// validate fills in defaults and reports every fault at once.
func (o *Options) validate() error {
	var faults []error
	if o.FS == nil || o.Path == "" {
		faults = append(faults, errors.New("no data file named"))
	}
	if o.Partitions < 1 {
		faults = append(faults, fmt.Errorf("%d partitions: at least 1 is needed", o.Partitions))
	}
	if o.SpillPercent < 0 || o.SpillPercent > 1 {
		faults = append(faults, fmt.Errorf("spill percent %v: not within 0 to 1", o.SpillPercent))
	}
	if o.Codec >= codecCount {
		faults = append(faults, fmt.Errorf("codec %d: unknown", o.Codec))
	}
	o.fillDefaults()
	if len(faults) > 0 {
		return fmt.Errorf("shuffle options: %w", errors.Join(faults...))
	}
	return nil
}

func (o *Options) fillDefaults() {
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	o.Memory = min(max(o.Memory, minMemory), maxMemory)
	if o.SpillPercent == 0 {
		o.SpillPercent = 0.8
	}
	if o.Factor == 0 {
		o.Factor = defaultFactor
	}
	o.Factor = max(o.Factor, 2)
	if o.MaxRuns <= 0 {
		o.MaxRuns = defaultMaxRuns
	}
	if o.Partition == nil {
		n := o.Partitions
		o.Partition = func(key []byte) int { return HashPartition(key, n) }
	}
}

// HashPartition spreads keys over n partitions by their xxhash64. The partition
// of a key is the same in every release.
func HashPartition(key []byte, n int) int {
	if n == 1 {
		return 0
	}
	p, _ := bits.Mul64(xxhash.Sum64(key), uint64(n))
	return int(p)
}
