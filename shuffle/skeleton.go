package shuffle

import (
	"context"
	"errors"
	"io"

	"github.com/hammr/hammr/storage"
)

var errSkeleton = errors.New("shuffle: not there yet")

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
