package shuffle

import (
	"context"
	"errors"
	"io"

	"github.com/hammr/hammr/storage"
)

var errSkeleton = errors.New("shuffle: not there yet")

// SortBuffer collects records and sorts them.
type SortBuffer struct{ Collector }

// NewSortBuffer makes a SortBuffer.
func NewSortBuffer(ctx context.Context, o Options) (*SortBuffer, error) { return nil, errSkeleton }

// Add copies one record.
func (b *SortBuffer) Add(key, value []byte) {}

// Fold combines values of type V.
type Fold[V any] struct {
	Fold   func(acc, v V) V
	Append func(dst []byte, v V) []byte
	Decode func(src []byte) (V, error)
}

// FoldTable combines records as they come in.
type FoldTable[V any] struct{ Collector }

// NewFoldTable makes a FoldTable.
func NewFoldTable[V any](ctx context.Context, o Options, f Fold[V]) (*FoldTable[V], error) {
	return nil, errSkeleton
}

// Add folds v into the value of key.
func (t *FoldTable[V]) Add(key []byte, v V) {}

// MergeOptions say how runs are merged.
type MergeOptions struct {
	GroupPrefix func(key []byte) int // length of the part of a key that makes its group; nil: all of it
}

// Merge is the merged stream of several runs.
type Merge struct{}

// NewMerge opens sources.
func NewMerge(ctx context.Context, sources []Source, o MergeOptions) (*Merge, error) {
	return nil, errSkeleton
}
func (m *Merge) Next() bool               { return false }
func (m *Merge) Key() []byte              { return nil }
func (m *Merge) Value() []byte            { return nil }
func (m *Merge) Err() error               { return errSkeleton }
func (m *Merge) Close() error             { return nil }
func (m *Merge) Positions() []RunPosition { return nil } // beside the sources given
func (m *Merge) Groups() *Groups          { return nil }

// Groups steps through a Merge by groups.
type Groups struct{}

func (g *Groups) NextGroup() bool { return false } // skips values not read
func (g *Groups) NextValue() bool { return false }
func (g *Groups) Key() []byte     { return nil } // first full key of the group; holds for the whole group
func (g *Groups) FullKey() []byte { return nil } // key of the current value
func (g *Groups) Value() []byte   { return nil }
func (g *Groups) Err() error      { return errSkeleton }
func (g *Groups) Close() error    { return nil }

// Boundary skips what is left of the group and tells where each source stands.
func (g *Groups) Boundary() []RunPosition { return nil }

// IntakeOptions say how segments are gathered.
type IntakeOptions struct {
	FS                 storage.FS
	Dir                string
	Memory             int64
	InputBufferPercent float64
	MergePercent       float64
	MemoryLimitPercent float64
	InMemThreshold     int
	Factor             int
	Codec              Codec
	GroupPrefix        func(key []byte) int
}

// IntakeStats is what an Intake has done so far.
type IntakeStats struct {
	Segments       int64 // runs taken in
	Bytes          int64 // their stored bytes
	InMemory       int64 // of them kept in memory at first
	SpilledRecords int64 // written by merges
	Merges         int64 // intermediate merges
}

// Intake gathers runs.
type Intake struct{}

// MergeInputState is one run of an intake in a checkpoint.
type MergeInputState struct {
	Path    string
	Run     Run
	Ordinal int32
	From    RunPosition
}

func NewIntake(o IntakeOptions) (*Intake, error) { return nil, errSkeleton }
func NewIntakeFromState(o IntakeOptions, state []MergeInputState) (*Intake, error) {
	return nil, errSkeleton
}
func (in *Intake) AddLocal(s Source) error { return errSkeleton }

// AddStream takes run.Length bytes from r; blocks name their codec themselves.
func (in *Intake) AddStream(ctx context.Context, r io.Reader, run Run, ordinal int32) error {
	return errSkeleton
}
func (in *Intake) Merge(ctx context.Context) (*Merge, error) { return nil, errSkeleton }

// State writes what is in memory to disk and tells what is left to be merged.
func (in *Intake) State(ctx context.Context) ([]MergeInputState, error) { return nil, errSkeleton }
func (in *Intake) Stats() IntakeStats                                   { return IntakeStats{} }
func (in *Intake) Close() error                                         { return nil } // removes its files; Detach keeps them
func (in *Intake) Detach() error                                        { return nil }

// RangePartitioner sends each key to the partition of its range.
type RangePartitioner struct{}

// CutPoints picks at most partitions-1 ascending keys that cut the samples into equal shares.
func CutPoints(samples [][]byte, partitions int) [][]byte { return nil }

func NewRangePartitioner(cuts [][]byte) *RangePartitioner        { return nil }
func (p *RangePartitioner) Partition(key []byte) int             { return 0 }
func (p *RangePartitioner) Encode() []byte                       { return nil }
func DecodeRangePartitioner(b []byte) (*RangePartitioner, error) { return nil, errSkeleton }
